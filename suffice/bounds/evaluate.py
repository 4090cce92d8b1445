"""Numbers from theorems, whose formulas are in `theorems`: a float rounded outward, or any number of digits."""

from __future__ import annotations

from contextvars import ContextVar
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any

import numpy as np

from suffice.support.errors import ConditionError, InputError
from suffice.support.numbers import LARGEST, LEAST, as_number, as_whole, real_array

from .parameters import PARAMETERS, Parameter
from .theorem import Theorem
from .theorems import find

ULPS = 2048
"""Outward rounding of every reported bound, in units in the last place (relative 4.5e-13).

Why this many: `survive` computes exp(y), y = T log1p(-x). Its y carries 1.5 ulp of relative
error (1 from log1p, 0.5 from the product), hence exp(y) about 1.5 |y| ulp, and |y| < 745 before
the result underflows: at most 1118 ulp. Products, quotients and a sum over N clients
(similarities near zero: 2 sqrt(N) ulp) take a few hundred more at N = 10^4. The contract tests
compare with 50 digits. In the subnormal range one step of the smallest number is added.
"""
MOST_DIGITS = 10_000
_FORGIVEN = 8 * 2.0**-52  # both sides of a condition are rounded: equality within 8 ulp is not a violation

EVALUATED: ContextVar[list[tuple[Theorem, dict[str, Any], Any]] | None] = ContextVar("evaluated", default=None)
"""Where a list is set, `evaluate` adds what it was asked and what it answered."""


def evaluate(theorem: Theorem | str, *, enforce: bool = True, **values: Any) -> Any:
    """The bound of `theorem` in float64, rounded outward (up for upper bounds, down for lower).

    `theorem` is a record or the key of a corrected one: `find(key, "printed")` is the other edition.
    `values` are scalars or arrays that broadcast. With `enforce` (the default) values outside a
    parameter's domain raise `InputError` and values outside the hypotheses `ConditionError`;
    without it the formula is evaluated as written, which is how printed editions are
    compared with the true value. With `enforce` a bound that is not a number, such as 0/0, raises `InputError` too.
    """
    theorem = as_record(theorem)
    if enforce:
        check_conditions(theorem, **values)
    arguments = _floats(theorem, values)
    assert theorem.bound is not None
    with np.errstate(all="ignore"):
        raw = _returned(theorem.key, theorem.bound(**_some(arguments, theorem.bound_keywords)))
    if enforce and np.isnan(raw).any():
        raise InputError(theorem.key, float("nan"), "0/0 or the like at these values; change one of those that are 0")
    bound = outward(raw, theorem.direction)
    if (log := EVALUATED.get()) is not None:
        log.append((theorem, values, bound))
    return bound


def outward(value: Any, direction: str) -> Any:
    """`value` moved by `ULPS` away from the truth it bounds: up for "upper", down for "lower"."""
    value = np.asarray(value, dtype=float)
    sign = 1.0 if direction == "upper" else -1.0
    with np.errstate(all="ignore"):
        moved = np.nextafter(value + sign * np.abs(value) * (ULPS * 2.0**-52), sign * np.inf)
        moved = np.where(np.isinf(value), value, moved)  # inf - inf is no number
        return (moved if direction == "upper" else np.where(value == 0, value, moved))[()]


def digits(theorem: Theorem | str, count: int = 50, **values: Any) -> Any:
    """Compute the bound of a record at `count` significant digits, as an mpmath number.

    theorem  a record, or its key
    values   the record's parameters by name, taken as exact

    Neither domains nor hypotheses are checked (`check_conditions` does). Raises `InputError` for wrong names, and for
    numbers of a size that `evaluate` refuses, whose digits would take minutes.
    """
    import mpmath

    theorem = as_record(theorem)
    arguments = _arguments(theorem, values)
    if as_whole("count", count) > MOST_DIGITS:
        raise InputError("count", count, f"give at most {MOST_DIGITS}")
    assert theorem.bound is not None
    bound = theorem.bound
    with mpmath.workdps(2 * count + 1000):  # whole numbers beyond 2^53 stay what they are
        every = {name: _exact(theorem.parameter(name), value) for name, value in arguments.items()}
    exact = _some(every, theorem.bound_keywords)
    # The readable form may cancel, 1 - (1 - x)^n by all digits of x = p^2: there is room for products of two arguments
    # from the start, and more until two precisions agree.
    working = count + 15 + 2 * max((_places(value) for value in exact.values()), default=0)
    value = _at(theorem.key, bound, exact, working)
    while True:
        working, before = 3 * working // 2, value
        value = _at(theorem.key, bound, exact, working)
        with mpmath.workdps(working):
            agree = abs(value - before) <= mpmath.mpf(10) ** -count * abs(value)
        if agree or not mpmath.isfinite(value) or working > 4 * MOST_DIGITS:
            break
    if isinstance(value, mpmath.mpc):  # the root of a negative number
        raise InputError(theorem.key, "no real number", "at these values; give some that meet the conditions")
    return value


def _at(key: str, bound: Any, exact: dict[str, Any], working: int) -> Any:
    """The bound of exact arguments at a working precision; `InputError` where it is no number."""
    import mpmath

    with mpmath.workdps(working):
        try:
            return bound(**exact)
        except (ZeroDivisionError, OverflowError, TypeError, ValueError) as error:
            raise InputError(key, "no number", f"at these values ({error})") from None


def _places(value) -> int:
    """How many decimal places a number is away from 1, on either side."""
    import mpmath

    return int(0.302 * abs(mpmath.mag(value))) if value and mpmath.isfinite(value) else 0  # 0.302 > log10(2)


def check_conditions(theorem: Theorem | str, **values: Any) -> None:
    """Raise `InputError` or `ConditionError` unless the domains and hypotheses of a record or key hold."""
    theorem = as_record(theorem)
    arguments = _floats(theorem, values)
    for name, value in arguments.items():
        PARAMETERS[name].check(value)
    with np.errstate(all="ignore"):
        conditions = theorem.conditions(**_some(arguments, theorem.condition_keywords))
    for condition, (lhs, rhs) in conditions.items():
        left, right = np.broadcast_arrays(_returned(condition, lhs), _returned(condition, rhs))
        failing = ~(left <= right + _FORGIVEN * np.abs(right))
        if failing.any():
            at = np.unravel_index(int(np.argmax(failing)), failing.shape)
            x, y = float(left[at]), float(right[at])
            raise ConditionError(str(theorem), condition, x, y, _remedy(condition, arguments, lhs, rhs, x, y))


def _remedy(condition: str, arguments: dict[str, Any], lhs: Any, rhs: Any, x: float, y: float) -> str:
    """The change that mends a condition: of a number that alone is a side of it, else of its left side."""
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
        needs = "; ".join(f"{name}: {theorem.parameter(name).meaning}" for name in missing)
        raise InputError(", ".join(missing), "missing", f"{theorem.key} needs {needs}")
    return values


def as_record(theorem: Theorem | str) -> Theorem:
    """A record as it is, the corrected one of a key, or `InputError`."""
    if isinstance(theorem, Theorem):
        return theorem
    if not isinstance(theorem, str):
        raise InputError("theorem", theorem, "give a key, or a record as find(key) returns it")
    return find(theorem)


def _floats(theorem: Theorem, values: dict[str, Any]) -> dict[str, Any]:
    """The values as float64 scalars or arrays that broadcast, or `InputError`."""
    arguments = {name: real_array(name, value)[()] for name, value in _arguments(theorem, values).items()}
    try:
        np.broadcast_shapes(*map(np.shape, arguments.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {np.shape(value)}" for name, value in arguments.items() if np.ndim(value))
        raise InputError("shapes", shapes, "give numbers, or arrays that broadcast") from None
    return arguments


def _returned(name: str, value: Any) -> np.ndarray:
    """The number that a bound or a condition returned: a text would pass for the number that it spells."""
    if isinstance(value, bool | np.bool_):
        return np.asarray(value, dtype=float)
    return real_array(name, value)


def _exact(parameter: Parameter, value: Any) -> Any:
    """A number as mpmath's, without rounding; `InputError` where `evaluate` refuses its size or takes it for 0."""
    import mpmath

    if not (type(value) is float and LEAST <= value <= LARGEST):  # nearly all are, a hundred times as fast
        size = real_array(parameter.name, value)
        if parameter.extreme(size).any():
            raise parameter.refusal(value)
        if size.ndim == 0 and size == 0 != value:
            raise InputError(parameter.name, value, "give 0, or a number of at least 1e-308")
    try:
        return mpmath.mpf(value.item() if isinstance(value, np.generic) else value)
    except (TypeError, ValueError, OverflowError):
        return mpmath.mpf(as_number(parameter.name, value))


def _some(arguments: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: arguments[name] for name in names}
