"""Instances at which a bound seems to fail, looked at again: where rounding decides, they are left out.

A formula such as 1 - (1 - x)^n loses all digits of a small x in float64, and is right. So at a suspect instance the
bound is evaluated at 50 digits. A function that takes only floats is evaluated at nearby arguments: its values there
differ from a straight line by what rounding does to it. Where that may be as much as the violation, the instance is
left out and counted as `dropped`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from suffice.bounds import Theorem, digits

from .evidence import AGREEMENT, CLEAR, Evidence

DIGITS = 50
FLOAT_DIGITS = 15
"""Digits reported of what comes from float64."""
_WORKING = 400
"""Digits of the calculation: differences of large numbers that leave 1e-300 keep `DIGITS` of these."""
_SAME_SLOPE = 0.05
_MOST = 64
"""The most suspects of one batch that are looked at: where rounding decides all of these, it decides the rest."""
_MOST_MEASURED = 8
_CLEAR = 1e-3
_NUDGES = 0.009 * 8.0 ** -np.arange(15)
"""1 - x is a multiple of 2^-53: moving a small x by less than that changes nothing, by more it shows the error. A power
of 2 may round as x itself does."""
_LAST_PLACES = 1e-12
"""The share of a number that rounding changes where no digits are lost, a thousandth of `AGREEMENT`."""
_REAL = frozenset(("mu", "beta", "sigma2", "e0", "distance2", "zeta2", "eta", "eps", "gradient"))
"""Scalars of the library's families that are not whole numbers, whatever values they have."""


def movable(arguments: Mapping[str, Any]) -> list[str]:
    """The keywords whose values (n,) rounding may have changed.

    None is a number of the algorithm, which is the same at all instances, or one that only has whole values: a bound of
    `period` at 4 (1 + 1e-15) is another function.
    """

    def moves(value: np.ndarray) -> bool:
        return bool((value % 1 != 0).any() and (value != value.flat[0]).any())

    return [name for name, value in arguments.items() if name in _REAL or moves(np.asarray(value))]


def enlarged(arguments: Mapping[str, Any], names: Sequence[str], by: Any) -> dict[str, Any]:
    """The arguments, those of these names enlarged by about the share `by`, no two of them alike."""
    return {**arguments, **{name: arguments[name] * (1 + (1 + at / 8) * by) for at, name in enumerate(names)}}


def without_rounding(
    theorem: Theorem, evidence: Evidence, again: Callable[[int, bool], float] | None = None
) -> Evidence:
    """The evidence without those instances that speak against the bound by rounding alone.

    The worst come first, until one is confirmed as a violation; the others then do not matter. `again(row, clear)`
    measures an instance at more digits, few where the violation is `_CLEAR`.
    """
    bound = evidence.bound(theorem)
    ratio = np.where(evidence.counted(theorem), evidence.against(bound, theorem.direction), -np.inf)
    suspect = ratio > 1 + AGREEMENT
    if not suspect.any():
        return evidence
    kept, dropped = np.ones(len(ratio), dtype=bool), np.zeros(len(ratio), dtype=bool)
    undefined = np.isnan(bound)
    for group in (suspect & ~undefined, suspect & undefined):  # a NaN by rounding says nothing of the others
        rows = np.flatnonzero(group)
        rows = rows[np.argsort(-ratio[rows], kind="stable")]
        measured = 0
        for count, row in enumerate(rows):
            found = _violates(theorem, evidence, row, float(bound[row])) if count < _MOST else None
            if found and again is not None:
                measured += 1
                value = again(row, bool(ratio[row] > 1 + _CLEAR))
                precise = replace(evidence.rows(np.array([row])), measured=np.array([value]))
                found = _violates(theorem, precise, 0, float(bound[row])) if measured <= _MOST_MEASURED else None
            kept[row], dropped[row] = bool(found), found is None
            if found:
                break
    return replace(evidence, hypothesis=kept & evidence.hypothesis, dropped=dropped)


def _violates(theorem: Theorem, evidence: Evidence, row: int, bound: float) -> bool | None:
    """Return True if an instance speaks against the bound, None where rounding of the bound decides."""
    arguments = {name: float(evidence.arguments[name][row]) for name in theorem.bound_keywords}
    names = movable({name: evidence.arguments[name] for name in theorem.bound_keywords})
    one = evidence.rows(np.array([row]))

    def violated(value: Any) -> bool:
        return bool(one.against(np.array([float(value)]), theorem.direction)[0] > 1 + AGREEMENT)

    exact = _exact(theorem, arguments)
    if exact is not None and (not violated(exact) or _in_digits(theorem, arguments)):
        return violated(exact)
    # (1 - x)^2 without x^2, which is below the last place, is wrong by x/2 of 1 - (1 - x)^2 = 2 x - x^2 wherever asked
    error = 0.0 if np.isnan(bound) else max(_float_error(theorem, arguments, names), CLEAR * abs(bound))
    if violated(bound + (error if theorem.direction == "upper" else -error)):
        return True
    return None if violated(bound) else False


def at_digits(theorem: Theorem, arguments: Mapping[str, float]) -> tuple[Any, int]:
    """The bound as an mpmath number and how many of its digits are good: few for a function that takes only floats."""
    import mpmath

    exact = _exact(theorem, arguments)
    if exact is not None and _in_digits(theorem, arguments):
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


def _in_digits(theorem: Theorem, arguments: Mapping[str, float]) -> bool:
    """Whether the bound keeps mpmath numbers to the end: a function that makes floats of some does not see a change by
    2^-90. The slope at the instance itself is not used: the function may jump there."""
    import mpmath

    names = [name for name, value in arguments.items() if name in _REAL or value % 1]

    def slope(nudge: Any) -> Any:
        near, far = (_exact(theorem, enlarged(arguments, names, by * nudge)) for by in (1, 2))
        return mpmath.nan if near is None or far is None else (far - near) / nudge

    with mpmath.workdps(_WORKING):
        near, far = slope(mpmath.mpf(2) ** -90), slope(mpmath.mpf(2) ** -20)
        return bool(abs(near - far) <= _SAME_SLOPE * max(abs(near), abs(far)))


def _floats(theorem: Theorem, arguments: Mapping[str, float]) -> float:
    assert theorem.bound is not None
    # NumPy's floats: a root of a negative number is NaN with them, complex with Python's
    with np.errstate(all="ignore"):
        return float(theorem.bound(**{name: np.float64(arguments[name]) for name in theorem.bound_keywords}))


def _float_error(theorem: Theorem, arguments: Mapping[str, float], names: Sequence[str]) -> float:
    """Float64 may lead a bound b at x as far as |b(x+h) - 4 b(x+2h) + 6 b(x+3h) - 4 b(x+4h) + b(x+5h)|, whose smooth
    part is of order h^4.

    A function may jump at a limit, where instances are, and that is no rounding: so x itself is left out; of h and -h
    the smaller one counts; and of all h the second largest, as the five points lie on both sides of one jump for one h
    at most. The last places of what is there are none of those at x, where the bound may be far smaller. The largest
    over the arguments, times 4: any one of them may miss the error by chance.
    """

    def bent(name: str, by: float) -> float:
        near = [_floats(theorem, {**arguments, name: arguments[name] * (1 + k * by)}) for k in range(1, 6)]
        with np.errstate(all="ignore"):
            lost = abs(np.dot((1, -4, 6, -4, 1), near)) - _LAST_PLACES * np.abs(near).max()
            return float(max(np.nan_to_num(lost, nan=0.0, posinf=0.0), 0.0))

    found = [sorted(min(bent(name, h), bent(name, -h)) for h in _NUDGES)[-2] for name in names if arguments[name]]
    return 4 * max(found, default=0.0)
