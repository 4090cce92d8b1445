"""Numbers from theorems: a float rounded outward, or any number of digits."""

from __future__ import annotations

import inspect
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any

import numpy as np

from .arrays import as_number, as_whole
from .errors import ConditionError, InputError
from .theorem import Theorem
from .vocabulary import PARAMETERS

ULPS = 2048
"""Outward rounding of every reported bound, in units in the last place (relative 4.5e-13).

Why this many: `survive` computes exp(y), y = T log1p(-x). Its y carries 1.5 ulp of relative
error (1 from log1p, 0.5 from the product), hence exp(y) about 1.5 |y| ulp, and |y| < 745 before
the result underflows: at most 1118 ulp. Products, quotients and a sum over N clients
(similarities near zero: 2 sqrt(N) ulp) take a few hundred more at N = 10^4. The contract tests
compare with 50 digits. In the subnormal range one step of the smallest number is added.
"""
_FORGIVEN = 8 * 2.0**-52  # both sides of a condition are rounded: equality within 8 ulp is not a violation


def evaluate(theorem: Theorem | str, *, enforce: bool = True, **values: Any) -> Any:
    """The bound of `theorem` in float64, rounded outward (up for upper bounds, down for lower).

    `theorem` is a record or the key of a corrected one: `find(key, "printed")` is the other edition.
    `values` are scalars or arrays that broadcast. With `enforce` (the default) values outside a
    parameter's domain raise `InputError` and values outside the hypotheses `ConditionError`;
    without it the formula is evaluated as it stands, which is how the printed editions are
    compared with the truth.
    """
    theorem = as_record(theorem)
    if enforce:
        check(theorem, **values)
    arguments = {name: _number(name, value) for name, value in _arguments(theorem, values).items()}
    assert theorem.bound is not None
    with np.errstate(all="ignore"):
        raw = theorem.bound(**_for(theorem.bound, arguments))
    return outward(raw, theorem.direction)


def outward(value: Any, direction: str) -> Any:
    """`value` moved by `ULPS` away from the truth it bounds: up for "upper", down for "lower"."""
    value = np.asarray(value, dtype=float)
    sign = 1.0 if direction == "upper" else -1.0
    with np.errstate(all="ignore"):
        moved = np.nextafter(value + sign * np.abs(value) * (ULPS * 2.0**-52), sign * np.inf)
        return (moved if direction == "upper" else np.where(value == 0, value, moved))[()]


def digits(theorem: Theorem | str, count: int = 50, **values: Any) -> Any:
    """The bound of a record or key at `count` significant digits (an mpmath number); the values are taken as exact.

    Neither domains nor hypotheses are checked (`check` does). Raises `InputError` for missing and unknown names.
    """
    import mpmath

    theorem = as_record(theorem)
    arguments = _arguments(theorem, values)
    as_whole("count", count)
    assert theorem.bound is not None
    with mpmath.workdps(count + 15):
        try:
            exact = {name: mpmath.mpf(value) for name, value in _for(theorem.bound, arguments).items()}
        except (TypeError, ValueError):
            for name, value in arguments.items():
                as_number(name, value)
            raise
        return theorem.bound(**exact)


def check(theorem: Theorem | str, **values: Any) -> None:
    """Raise `InputError` or `ConditionError` unless the domains and hypotheses of a record or key hold."""
    theorem = as_record(theorem)
    arguments = {name: _number(name, value) for name, value in _arguments(theorem, values).items()}
    for name, value in arguments.items():
        PARAMETERS[name].check(value)
    with np.errstate(all="ignore"):
        conditions = theorem.conditions(**_for(theorem.conditions, arguments))
    for condition, (lhs, rhs) in conditions.items():
        left, right = np.broadcast_arrays(np.asarray(lhs, float), np.asarray(rhs, float))
        failing = ~(left <= right + _FORGIVEN * np.abs(right))
        if failing.any():
            at = np.unravel_index(int(np.argmax(failing)), failing.shape)
            x, y = float(left[at]), float(right[at])
            raise ConditionError(str(theorem), condition, x, y, _remedy(condition, arguments, lhs, rhs, x, y))


def _remedy(condition: str, arguments: dict[str, Any], lhs: Any, rhs: Any, x: float, y: float) -> str:
    """From a condition that ends in "name <= ..." or "... <= name": the change of that one number that mends it."""
    before, _, after = condition.rpartition(" <= ")
    left, right = before.split()[-1], after.split()[0]
    if left in arguments and np.array_equal(arguments[left], lhs):
        return f"use {left} <= {_six_digits(y, above=False)}"
    if right in arguments and np.array_equal(arguments[right], rhs):
        return f"use {right} >= {_six_digits(x, above=True)}"
    return f"the left side must be at most {_six_digits(y, above=False)}"


def _six_digits(limit: float, *, above: bool) -> str:
    """`limit` in six digits, of which the rounding does not miss it: whoever copies them meets the condition."""
    near, slack = float(f"{limit:.6g}"), _FORGIVEN * abs(limit)
    if not (near >= limit - slack if above else near <= limit + slack):
        context = Context(prec=6, rounding=ROUND_CEILING if above else ROUND_FLOOR)
        near = float(context.create_decimal_from_float(limit))
    return f"{near:.6g}"


def _arguments(theorem: Theorem, values: dict[str, Any]) -> dict[str, Any]:
    if theorem.bound is None:
        raise InputError("theorem", theorem.key, f"cannot be evaluated: {theorem.order_only}")
    names = [parameter.name for parameter in theorem.parameters]
    for name in values:
        if name not in names:
            raise InputError(name, values[name], f"{theorem.key} takes {', '.join(names)}")
    missing = [name for name in names if name not in values]
    if missing:
        raise InputError(missing[0], "missing", f"{theorem.key} needs {missing[0]}: {PARAMETERS[missing[0]].meaning}")
    return values


def as_record(theorem: Theorem | str) -> Theorem:
    """A record as it is, the corrected one of a key, or `InputError`."""
    if isinstance(theorem, Theorem):
        return theorem
    if not isinstance(theorem, str):
        raise InputError("theorem", theorem, "give a key, or a record as find(key) returns it")
    from .theorems import find  # the library is built on the records, not they on it

    return find(theorem)


def _number(name: str, value: Any) -> Any:
    if isinstance(value, (bool, str, bytes)):
        raise InputError(name, value, "give a number")
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InputError(name, value, "give a number or an array of numbers") from None
    return array[()]


def _for(function: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: arguments[name] for name in inspect.signature(function).parameters}
