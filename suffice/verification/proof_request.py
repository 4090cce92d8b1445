"""The request for a proof, CPU seconds and the box, is checked before anything is tried."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from suffice.support.errors import InputError
from suffice.support.numbers import as_number

SECONDS = 30.0
"""CPU seconds of a search unless more are asked for."""
SIDES = ("eta beta", "mu/beta")
Box = Mapping[str, tuple[Fraction, Fraction]]

_REMEDY = 'give intervals of fractions or decimals: {"eta beta": (0, 1), "mu/beta": (0.1, 1)}'


def search_of(prove: Any, box: Any) -> tuple[float, Box]:
    """CPU seconds (0: nothing is to be proved) and the box in fractions, or `InputError`."""
    seconds = SECONDS if prove is True else 0.0 if prove is False else as_number("prove", prove, least=0)
    if box is not None and not seconds:
        raise InputError("box", box, "it is where a bound is proved: give prove=True too")
    if not isinstance(box, Mapping | None):
        raise InputError("box", box, _REMEDY)
    return seconds, {name: _interval(name, ends) for name, ends in (box or {}).items()}


def _interval(name: Any, ends: Any) -> tuple[Fraction, Fraction]:
    if name not in SIDES:
        raise InputError("box", name, f"its sides are {' and '.join(SIDES)}")
    field = f"box[{name!r}]"
    try:
        low, high = (Fraction(str(each)) for each in ends)
    except (TypeError, ValueError, ZeroDivisionError):
        raise InputError(field, str(ends), f"it is unbounded or no interval; {_REMEDY}") from None
    if max(low.denominator, high.denominator) > 10**12:
        raise InputError(field, str(ends), "an end is irrational or has more than 12 digits: round it outwards")
    if low > high:
        raise InputError(field, str(ends), "it is empty: give the lower end first")
    if low < 0 or (name == "mu/beta" and high > 1):
        raise InputError(field, str(ends), "it leaves eta beta >= 0 or 0 < mu/beta <= 1")
    if name == "mu/beta" and low == 0:
        raise InputError(field, str(ends), "mu = 0 is a pole of noise floors: begin above it")
    return low, high
