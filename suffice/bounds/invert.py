"""A bound solved for one of its parameters, on the safe side: the answer itself satisfies the target.

A sample complexity, or the rounds to a precision, is a bound solved for T where no record states it by itself, as
`theorems.sample_optimal.theorem_2_rounds` and `theorem_3_rounds` do.

An upper bound is asked to be at most the target, a lower bound at least; both within the theorem's conditions.
For T the answer is the smallest number of iterations (the largest in a lower bound that falls with T), for a step size
the largest, and for any other parameter the boundary of the admissible set: the smallest value when larger ones are
admissible too, else the largest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from suffice.support.errors import ConditionError, InputError
from suffice.support.numbers import as_numbers, real_array

from .evaluate import as_record, check_conditions, evaluate
from .parameters import PARAMETERS
from .theorem import Theorem

_GRID = 2001
_EACH = 2048
"""So many whole numbers from the lowest on are all tried: a bound or a condition may hold for a few of them alone."""
_LARGEST = 2.0**61


@dataclass(frozen=True, kw_only=True)
class Inversion:
    """`value` of the parameter `name` meets the target; `side` says which end of the feasible values it is.

    "smallest": the target is missed (or a condition fails) just below `value`; "largest": just above it. Of whole
    numbers all up to 2,048 were tried. `bound` is the theorem's bound at `value`.
    end      `value` is the last that was tried, and no limit: the target may be met beyond it
    """

    name: str
    value: float
    side: Literal["smallest", "largest"]
    bound: float
    end: bool = False


def solve(theorem: Theorem | str, name: str, *, target: float, **values: Any) -> Inversion:
    """Solve for the extreme value of `name` at which `theorem` (a record or its key) guarantees `target`.

    name     the parameter to solve for, such as T, eta or eps
    target   what the bound must not exceed, in the unit of the theorem's quantity
    values   the other parameters by name

    Raises `InputError` when the theorem does not take `name`, when
    the target is not a number, or when no value reaches it (the message gives the best possible), and
    `ConditionError` when the conditions hold for no value of `name`.
    """
    theorem = as_record(theorem)
    names = [parameter.name for parameter in theorem.parameters]
    if name not in names:
        raise InputError("solve", name, f"{theorem.key} takes {', '.join(names)}")
    if name in values:
        raise InputError(name, values[name], "it is solved for; do not give it")
    wanted = as_numbers("target", target, ()).item()
    for other, value in values.items():
        if real_array(other, value).ndim != 0:
            raise InputError(other, value, "give one number")
    if PARAMETERS[name].integer:
        return _whole(theorem, name, wanted, values)
    return _continuous(theorem, name, wanted, values)


def _meets(theorem: Theorem, name: str, target: float, values: dict[str, Any], at: Any) -> np.ndarray:
    """Whether the conditions hold and the bound reaches the target, for every entry of `at`."""
    bound = np.asarray(evaluate(theorem, enforce=False, **values, **{name: at}), dtype=float)
    reached = bound <= target if theorem.direction == "upper" else bound >= target
    return np.broadcast_to(reached & _allowed(theorem, values | {name: at}), np.shape(at))


def _allowed(theorem: Theorem, values: dict[str, Any]) -> np.ndarray:
    """Whether every condition holds, entry by entry; strictly, where `check_conditions` forgives a few roundings."""
    needed = theorem.condition_keywords
    good = np.ones((), dtype=bool)
    with np.errstate(all="ignore"):
        for lhs, rhs in theorem.conditions(**{n: np.asarray(values[n], dtype=float) for n in needed}).values():
            good = good & (np.asarray(lhs) <= np.asarray(rhs))
    return good


def _whole(theorem: Theorem, name: str, target: float, values: dict[str, Any]) -> Inversion:
    """The smallest whole number that meets the target, or the largest where smaller ones are easier.

    By bisection between the points tried. For the smallest the bound may rise before it falls along `name`.
    """
    lowest = int(PARAMETERS[name].lower)
    beyond = np.unique(np.floor(np.geomspace(_EACH, _LARGEST, _GRID)))
    tried = lowest + np.concatenate((np.arange(float(_EACH)), beyond))
    points = tried.astype(np.int64).tolist()
    _screen(theorem, name, values, tried)
    met = _meets(theorem, name, target, values, tried)
    if not met.any():
        raise _unreachable(theorem, name, target, values, tried)
    unclaimed = name == "T" and name not in theorem.monotone
    upward = unclaimed or _larger_is_easier(theorem, name, values, tried)
    inside = np.flatnonzero(met).tolist()
    edge, outside = (inside[0], inside[0] - 1) if upward else (inside[-1], inside[-1] + 1)
    good = points[edge]
    bad = points[outside] if 0 <= outside < len(points) else good
    while abs(good - bad) > 1:
        middle = (good + bad) // 2
        if _meets(theorem, name, target, values, np.array([float(middle)]))[0]:
            good = middle
        else:
            bad = middle
    end = edge == len(points) - 1 and not upward
    return _solution(theorem, name, float(good), "smallest" if upward else "largest", values, end)


def _continuous(theorem: Theorem, name: str, target: float, values: dict[str, Any]) -> Inversion:
    """The boundary of the admissible set on a logarithmic grid over the whole domain, sharpened by bisection."""
    grid = _domain(name)
    _screen(theorem, name, values, grid)
    met = _meets(theorem, name, target, values, grid)
    if not met.any():
        grid = _refined(theorem, name, values, grid)
        met = _meets(theorem, name, target, values, grid)
    if not met.any():
        raise _unreachable(theorem, name, target, values, grid)
    inside = np.flatnonzero(met)
    upward = name != "eta" and _larger_is_easier(theorem, name, values, grid)
    side: Literal["smallest", "largest"] = "smallest" if upward else "largest"
    edge = inside[0] if upward else inside[-1]
    outside = edge - 1 if upward else edge + 1
    good = float(grid[edge])
    if 0 <= outside < len(grid):
        bad = float(grid[outside])
        for _ in range(200):
            middle = np.sqrt(good * bad) if good * bad > 0 else (good + bad) / 2
            if middle in (good, bad) or not min(good, bad) < middle < max(good, bad):
                break
            if _meets(theorem, name, target, values, np.array([middle]))[0]:
                good = float(middle)
            else:
                bad = float(middle)
    good = _admissible(theorem, name, target, values, good, 1.0 if upward else -1.0)
    natural = (PARAMETERS[name].lower, PARAMETERS[name].upper)
    return _solution(theorem, name, good, side, values, not 0 <= outside < len(grid) and good not in natural)


def _admissible(
    theorem: Theorem, name: str, target: float, values: dict[str, Any], good: float, inwards: float
) -> float:
    """`good`, or as few roundings further inwards as the conditions need to hold exactly: a difference that cancels has
    lost digits. Where other arguments miss a condition by a rounding, it is met as well as `name` can."""
    import mpmath

    def missed(value: float) -> int:
        given = {one: mpmath.mpf(float(({**values, name: value})[one])) for one in theorem.condition_keywords}
        return sum(lhs > rhs for lhs, rhs in theorem.conditions(**given).values())

    with mpmath.workdps(50):
        if not missed(good):
            return good
        tried = good + inwards * abs(good) * 2.0 ** np.arange(-53, -20)
        kept = tried[_meets(theorem, name, target, values, tried)].tolist()
        return min([good, *kept], key=missed)


def _domain(name: str) -> np.ndarray:
    parameter = PARAMETERS[name]
    low = parameter.lower if parameter.lower > 0 else 1e-30
    high = parameter.upper if np.isfinite(parameter.upper) else 1e30
    grid = np.geomspace(low, high, _GRID)
    if parameter.open_lower and parameter.lower > 0:
        grid = parameter.lower + np.geomspace(1e-12, high - parameter.lower, _GRID)
    grid[-1] = high
    return np.concatenate(([parameter.lower], grid)) if parameter.lower == 0 and not parameter.open_lower else grid


def _refined(theorem: Theorem, name: str, values: dict[str, Any], grid: np.ndarray) -> np.ndarray:
    """Points packed around the best value on the grid, for a target that only a short interval reaches."""
    bound = np.where(_allowed(theorem, values | {name: grid}), _at(theorem, name, values, grid), np.inf)
    for _ in range(3):
        best = int(np.argmin(bound))
        grid = np.linspace(grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)], _GRID)
        bound = np.where(_allowed(theorem, values | {name: grid}), _at(theorem, name, values, grid), np.inf)
    return grid


def _at(theorem: Theorem, name: str, values: dict[str, Any], at: np.ndarray) -> np.ndarray:
    """The bound with its sign turned so that less is better, NaN as the worst."""
    bound = np.asarray(evaluate(theorem, enforce=False, **values, **{name: at}), dtype=float)
    worse = np.nan_to_num(bound if theorem.direction == "upper" else -bound, nan=np.inf)
    return np.broadcast_to(worse, at.shape)  # `name` may occur in conditions alone


def _larger_is_easier(theorem: Theorem, name: str, values: dict[str, Any], grid: np.ndarray) -> bool:
    """Whether the bound improves along `name`, as the record claims or by its values at the ends of what is allowed."""
    if name in theorem.monotone:
        return theorem.monotone[name] == (-1 if theorem.direction == "upper" else 1)
    allowed = grid[np.broadcast_to(_allowed(theorem, values | {name: grid}), grid.shape)]
    first, last = _at(theorem, name, values, allowed[[0, -1]])
    return bool(last < first)


def _screen(theorem: Theorem, name: str, values: dict[str, Any], array: np.ndarray) -> None:
    """Refuse wrong names and domains, and conditions that fail for every point, as `check_conditions` does."""
    for other, value in values.items():
        if other in {parameter.name for parameter in theorem.parameters}:
            PARAMETERS[other].check(value)
    allowed = np.broadcast_to(_allowed_or_missing(theorem, values | {name: array}), array.shape)
    if not allowed.any():
        with np.errstate(all="ignore"):
            check_conditions(theorem, **values, **{name: float(array[len(array) // 2])})
        raise ConditionError(str(theorem), "its conditions", np.nan, np.nan, f"no {name} meets them")


def _allowed_or_missing(theorem: Theorem, values: dict[str, Any]) -> np.ndarray:
    missing = [parameter.name for parameter in theorem.parameters if parameter.name not in values]
    unknown = [name for name in values if name not in {parameter.name for parameter in theorem.parameters}]
    if missing or unknown:
        evaluate(theorem, enforce=False, **values)  # tells which
    return _allowed(theorem, values)


def _unreachable(theorem: Theorem, name: str, target: float, values: dict[str, Any], points: np.ndarray) -> InputError:
    sign = 1 if theorem.direction == "upper" else -1
    reached = np.where(_allowed(theorem, values | {name: points}), _at(theorem, name, values, points), np.inf)
    best = float(sign * reached.min())
    return InputError("target", target, f"no {name} reaches it; the best bound within the conditions is {best:.6g}")


def _solution(
    theorem: Theorem, name: str, value: float, side: Literal["smallest", "largest"], values: dict[str, Any], end: bool
) -> Inversion:
    arguments: dict[str, Any] = values | {name: value}
    return Inversion(name=name, value=value, side=side, bound=float(evaluate(theorem, **arguments)), end=end)
