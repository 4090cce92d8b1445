"""A comparison of the formulas that a proof is about with the functions themselves, in floats.

A formula is read by calling a function with symbols and is put into other variables. What goes wrong there, a root of a
square or a limit that symbols do not see, shows where both are numbers: at short and long steps, at the ends of mu/beta
and of T, with a start alone and noise alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import sympy

from suffice.bounds import Theorem

from .domain import Domain
from .expression import NotOfThisKind
from .normalised_bound import BIAS, Symbolic, symbols

_TIMES = (0, 1, 2, 5, 40, 1001)
_SHARES = (Fraction(1, 50), Fraction(1, 2), Fraction(1))
_SAME, _TINY = 1e-6, 1e-12
"""Relative to the larger of two numbers, and of a bound of a start of 1."""


def scalars_at(part: str, at: Mapping[str, Any], T: int, numbers: Mapping[str, Fraction]) -> dict[str, Any]:
    """The arguments of a function where a part of the bound alone counts, at beta = 1."""
    moving = part in ("start", "stay")
    found = {"eta": at["s"], "mu": at["k"], "beta": 1, "e0": at["h"] / 2 if moving else 0, "distance2": int(moving)}
    found |= {"sigma2": int(part == "noise"), "T": T, "N": 1 / at["w"], "d": 1 / at["v"], **numbers}
    b = {"stay": at["h"], "bias": Fraction(1)}.get(part, Fraction(0))
    return found | {name: b ** (2 // power) for name, power in BIAS.items()}


def check_agreement(theorem: Theorem, symbolic: Symbolic, domain: Domain, numbers: Mapping[str, Fraction]) -> None:
    """`NotOfThisKind` unless bound and conditions are what was read, at three steps for each of three mu/beta, the
    curvature one of the ends or between."""
    flat, steep = domain.sides["k"]
    dimensions = domain.dimensions((2, 5))
    for place, (k, share) in enumerate(product((flat, (flat + steep) / 2, steep), _SHARES)):
        at = domain.at(share, k, Fraction(place % 3, 2), 1 + place % 4, dimensions[-(place % 2)])
        for part, T in product(("start", "noise", *(["bias"] if symbolic.bias != 0 else [])), _TIMES):
            check_place(theorem, symbolic, part, at, T, numbers)


def check_place(
    theorem: Theorem, symbolic: Symbolic, part: str, at: Mapping[str, Fraction], T: int, numbers: Mapping[str, Fraction]
) -> None:
    """`NotOfThisKind` unless the conditions and, where they are met, the bound are what was read."""
    given = scalars_at(part, at, T, numbers)
    known = {symbols()[name]: sympy.Rational(value) for name, value in at.items()}
    known |= {symbols()[name]: sympy.Rational(given[name]) for name in ("T", "e0", "distance2", "sigma2")}
    met = True
    if theorem.conditions is not None:
        found = _asked(theorem.conditions, "the conditions", given)
        if found.keys() != symbolic.conditions.keys():
            raise NotOfThisKind("the conditions are not those read from them")
        for name, sides in symbolic.conditions.items():
            for own, read in zip(found[name], sides):
                value = sympy.sympify(read).subs(known)
                if value.is_Rational:
                    _compare(f"condition {name}", float(own), value, given)
            left, right = map(float, found[name])
            met &= left <= right + _TINY + 1e-9 * abs(right)
    terms = (symbolic.start, symbolic.noise, symbolic.bias)
    start, noise, bias = (
        sympy.sympify(each).subs(known | {symbolic.z: symbolic.after(T).subs(known)}) for each in terms
    )
    if met and start.is_Rational and noise.is_Rational and bias.is_Rational:  # at a pole there is nothing to compare
        read = {"noise": noise, "bias": bias}.get(part, start + sympy.Rational(given["bias2"]) * bias)
        own = float(_asked(theorem.bound, "the bound", given))
        with suppress(NotOfThisKind), mpmath.workdps(50):  # floats may cancel: where they differ 50 digits are asked
            own = own if _alike(own, float(read)) else float(_asked(theorem.bound, "the bound", given, mpmath.mpf))
        _compare("the bound", own, read, given)


def _asked(function: Any, what: str, given: Mapping[str, Any], kind: Any = float) -> Any:
    numbers = {name: Fraction(given[name]) for name in inspect.signature(function).parameters}
    try:
        return function(**{name: kind(each.numerator) / each.denominator for name, each in numbers.items()})
    except Exception as error:  # whatever a function raises
        raise NotOfThisKind(f"{what} cannot be compared with the formula read from it ({error})") from error


def _alike(own: float, read: float) -> bool:
    return own == read or abs(own - read) <= _SAME * max(abs(own), abs(read)) + _TINY


def _compare(what: str, own: float, read: Any, given: Mapping[str, Any]) -> None:
    if not _alike(own, float(read)):
        at = ", ".join(f"{name} = {float(each):.6g}" for name, each in given.items() if name not in BIAS or each)
        raise NotOfThisKind(f"the formula read from {what} is {float(read):.6g} where it is itself {own:.6g}: {at}")
