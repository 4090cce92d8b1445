"""Instances at which a bound seems to fail, looked at again: where rounding decides, they are left out.

A formula such as 1 - (1 - x)^n loses all digits of a small x in float64, and is right. So at a suspect instance the
bound is evaluated at 50 digits. A function that takes only floats is evaluated at nearby arguments: its values there
differ from a straight line by what rounding does to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from suffice.bounds import Theorem, digits

from .evidence import AGREEMENT, Evidence

DIGITS = 50
FLOAT_DIGITS = 15
"""Digits reported of what comes from float64."""
_WORKING = 400
"""Digits asked for: differences of large numbers that leave 1e-300 keep `DIGITS` of them."""
_SAME_SLOPE = 0.05
_MOST = 64
"""Suspects of one batch that are looked at: where rounding decides the worst of so many, it decides the rest."""
_MOST_MEASURED = 8
_CLEAR, _FAR = 1e-3, 1e6
"""Above 1, and times its estimated rounding: control variates of 1/eta lose that much more at T = 10,000."""
_NUDGES = 2.0 ** -np.array([50, 42, 34, 27, 20, 14])
"""1 - x is a multiple of 2^-53: moving a small x by less than that changes nothing, by more it shows the error."""
_WHOLE = frozenset(("T", "N", "d"))


def settled(theorem: Theorem, evidence: Evidence, again: Callable[[int], float] | None = None) -> Evidence:
    """The evidence without those instances that speak against the bound by rounding alone.

    The worst come first, until one is confirmed: that one decides, whatever the others are. `again(row)` measures an
    instance at more digits; it is asked where the violation is not `_CLEAR`, or the measured number not `_FAR` above
    its rounding.
    """
    bound = evidence.bound(theorem)
    ratio = np.where(evidence.counted(theorem), evidence.against(bound, theorem.direction), -np.inf)
    suspect = ratio > 1 + AGREEMENT
    if not suspect.any():
        return evidence
    kept = np.ones(len(ratio), dtype=bool)
    undefined = np.isnan(bound)
    clear = (ratio > 1 + _CLEAR) & (np.abs(evidence.measured) >= _FAR * evidence.rounding)
    for group in (suspect & ~undefined, suspect & undefined):  # a NaN by rounding says nothing of the others
        rows = np.flatnonzero(group)
        rows = rows[np.argsort(-ratio[rows], kind="stable")]
        measured = 0
        for count, row in enumerate(rows):
            kept[row] = count < _MOST and _confirmed(theorem, evidence, row, float(bound[row]))
            if kept[row] and again is not None and not clear[row]:
                measured += 1
                precise = replace(evidence.rows(np.array([row])), measured=np.array([again(row)]))
                kept[row] = measured <= _MOST_MEASURED and _confirmed(theorem, precise, 0, float(bound[row]))
            if kept[row]:
                break
    hypothesis = kept if evidence.hypothesis is None else evidence.hypothesis & kept
    return replace(evidence, hypothesis=hypothesis)


def _confirmed(theorem: Theorem, evidence: Evidence, row: int, bound: float) -> bool:
    """Whether an instance speaks against the bound by more than rounding."""
    arguments = {name: float(evidence.arguments[name][row]) for name in theorem.bound_keywords}
    one = evidence.rows(np.array([row]))

    def violated(value: Any) -> bool:
        return bool(one.against(np.array([float(value)]), theorem.direction)[0] > 1 + AGREEMENT)

    exact = _exact(theorem, arguments)
    if exact is not None and (not violated(exact) or _in_digits(theorem, arguments, exact)):
        return violated(exact)
    error = 0.0 if np.isnan(bound) else _float_error(theorem, arguments, bound)
    return violated(bound + (error if theorem.direction == "upper" else -error))


def at_digits(theorem: Theorem, arguments: Mapping[str, float]) -> tuple[Any, int]:
    """The bound as an mpmath number and how many of its digits are good: few for a function that takes only floats."""
    import mpmath

    exact = _exact(theorem, arguments)
    if exact is not None and _in_digits(theorem, arguments, exact):
        return exact, DIGITS
    return mpmath.mpf(mpmath.nstr(mpmath.mpf(_floats(theorem, arguments)), FLOAT_DIGITS)), FLOAT_DIGITS


def _exact(theorem: Theorem, arguments: Mapping[str, Any]) -> Any:
    """The bound as an mpmath number, whatever cancels in it; None where the function does not take such numbers."""
    import mpmath

    try:
        given = {parameter.name: arguments.get(parameter.name, 1.0) for parameter in theorem.parameters}
        value: Any = digits(theorem, _WORKING, **given)
        return value if isinstance(value, mpmath.mpf) else mpmath.mpf(value) if isinstance(value, int) else None
    except Exception:  # whatever a function raises that was not written for mpmath
        return None


def _in_digits(theorem: Theorem, arguments: Mapping[str, float], value: Any) -> bool:
    """Whether a function keeps mpmath numbers to the end: one that makes floats of some does not see them change by
    2^-90."""
    import mpmath

    def slope(nudge: Any) -> Any:
        moved = {
            name: each * (1 + (1 + at / 8) * nudge) if name not in _WHOLE else each
            for at, (name, each) in enumerate(arguments.items())
        }
        there = _exact(theorem, moved)
        return mpmath.nan if there is None else (there - value) / nudge

    with mpmath.workdps(_WORKING):
        near, far = slope(mpmath.mpf(2) ** -90), slope(mpmath.mpf(2) ** -20)
        return bool(abs(near - far) <= _SAME_SLOPE * max(abs(near), abs(far)))


def _floats(theorem: Theorem, arguments: Mapping[str, float]) -> float:
    assert theorem.bound is not None
    # NumPy's floats: a root of a negative number is NaN with them, complex with Python's
    with np.errstate(all="ignore"):
        return float(theorem.bound(**{name: np.float64(arguments[name]) for name in theorem.bound_keywords}))


def _float_error(theorem: Theorem, arguments: Mapping[str, float], value: float) -> float:
    """How far float64 may lead a bound b at x: |b(x) - 2 b(x + h) + b(x + 2h)| without its smooth part, of order h^2.

    Of h and -h the smaller one: a function may jump or bend at a limit, where instances are. The largest over nudges of
    each argument and of all, times 4: any one of them may miss the error by chance.
    """
    real = [name for name in theorem.bound_keywords if name not in _WHOLE and arguments[name]]

    def nudged(names: list[str], by: float) -> float:
        return _floats(theorem, {**arguments, **{name: arguments[name] * (1 + by) for name in names}})

    bent = [
        min(abs(value - 2 * nudged(names, side * nudge) + nudged(names, 2 * side * nudge)) for side in (1, -1))
        for names in (*([name] for name in real), real)
        for nudge in _NUDGES
    ]
    return 4 * float(np.nan_to_num(bent, nan=0.0, posinf=0.0).max(initial=0.0))
