"""A bound solved for one of its parameters, on the safe side: the answer itself satisfies the target.

A sample complexity, or the rounds to a precision, is a bound solved for T where no record states it by itself, as
`theorems.sample_optimal.theorem_2_rounds` and `theorem_3_rounds` do.

An upper bound is asked to be at most the target, a lower bound at least; both within the theorem's conditions.
For T the answer is the smallest number of iterations (the largest in a lower bound that falls with T), for a step size
the largest, and for any other parameter the boundary of the admissible set: the smallest value when larger ones are
admissible too, else the largest.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from suffice.support.errors import ConditionError, InputError
from suffice.support.numbers import as_numbers, real_array

from .evaluate import as_record, check_conditions, evaluate
from .parameters import PARAMETERS, Parameter
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
    along, parameter = _Along(theorem, name, values), PARAMETERS[name]
    points = _points(parameter)
    along.check(points)
    sign = 1.0 if theorem.direction == "upper" else -1.0
    met = along.cost(points) <= sign * wanted
    if not met.any() and not parameter.integer:
        points = _refined(along, points)
        met = along.cost(points) <= sign * wanted
    if not met.any():
        best = f"{sign * along.cost(points).min():.6g}"
        raise InputError("target", wanted, f"no {name} reaches it; the best bound within the conditions is {best}")
    if parameter.integer:  # a bound may rise with T before it falls
        upward = (name == "T" and name not in theorem.monotone) or along.larger_is_easier(points)
    else:
        upward = name != "eta" and along.larger_is_easier(points)
    inside = np.flatnonzero(met).tolist()
    edge, outside = (inside[0], inside[0] - 1) if upward else (inside[-1], inside[-1] + 1)
    found, last = float(points[edge]), not 0 <= outside < len(points)
    if not last:
        found = along.boundary(found, float(points[outside]), sign * wanted)
    if not parameter.integer:
        found = along.admissible(found, sign * wanted, 1.0 if upward else -1.0)
    return Inversion(
        name=name,
        value=found,
        side="smallest" if upward else "largest",
        bound=float(evaluate(theorem, **along.at(found))),
        end=last and found not in (parameter.lower, parameter.upper),
    )


@dataclass(frozen=True)
class _Along:
    """A theorem along one of its parameters, at fixed values of the others."""

    theorem: Theorem
    name: str
    values: dict[str, Any]

    def at(self, value: Any) -> dict[str, Any]:
        return self.values | {self.name: value}

    def allowed(self, points: np.ndarray) -> np.ndarray:
        """True where every condition holds, strictly, where `check_conditions` forgives a few roundings."""
        given = self.at(points)
        good = np.ones(points.shape, dtype=bool)
        with np.errstate(all="ignore"):
            numbers = {one: np.asarray(given[one], dtype=float) for one in self.theorem.condition_keywords}
            for lhs, rhs in self.theorem.conditions(**numbers).values():
                good = good & (np.asarray(lhs) <= np.asarray(rhs))
        return good

    def cost(self, points: np.ndarray) -> np.ndarray:
        """The bound with its sign turned so that less is better; infinite where it is NaN or a condition fails."""
        bound = np.asarray(evaluate(self.theorem, enforce=False, **self.at(points)), dtype=float)
        bound = bound if self.theorem.direction == "upper" else -bound
        return np.where(self.allowed(points) & ~np.isnan(bound), bound, np.inf)

    def check(self, points: np.ndarray) -> None:
        """Refuse wrong names and domains, and conditions that fail at every point, as `check_conditions` does."""
        evaluate(self.theorem, enforce=False, **self.at(points))  # names
        for other, value in self.values.items():
            PARAMETERS[other].check(value)
        if not self.allowed(points).any():
            with np.errstate(all="ignore"):
                check_conditions(self.theorem, **self.at(float(points[len(points) // 2])))
            raise ConditionError(str(self.theorem), "its conditions", np.nan, np.nan, f"no {self.name} meets them")

    def larger_is_easier(self, points: np.ndarray) -> bool:
        """True where the bound improves along the parameter: as the record claims, or by its values at the ends."""
        if self.name in self.theorem.monotone:
            return self.theorem.monotone[self.name] == (-1 if self.theorem.direction == "upper" else 1)
        first, last = self.cost(points[self.allowed(points)][[0, -1]])
        return bool(last < first)

    def boundary(self, good: float, bad: float, wanted: float) -> float:
        """The last number on the way from `good` to `bad` that is wanted: all floats between are bisected, or all whole
        numbers, by their ranks; nonnegative floats are ordered as their bits."""
        whole = PARAMETERS[self.name].integer

        def number(rank: int) -> float:
            return float(rank) if whole else np.int64(rank).view(np.float64).item()

        first, beyond = (int(end) if whole else np.float64(end).view(np.int64).item() for end in (good, bad))
        way = 1 if beyond > first else -1
        missed = lambda k: not self.cost(np.array([number(first + way * k)]))[0] <= wanted  # noqa: E731
        return number(first + way * bisect_left(range(1, abs(beyond - first)), True, key=missed))

    def admissible(self, good: float, wanted: float, inwards: float) -> float:
        """`good`, or as few roundings further inwards as the conditions need to hold exactly: a difference that cancels
        has lost digits. Where other arguments miss a condition by a rounding, it is met as well as this one can."""
        import mpmath

        def missed(value: float) -> int:
            given = {one: mpmath.mpf(float(self.at(value)[one])) for one in self.theorem.condition_keywords}
            return sum(lhs > rhs for lhs, rhs in self.theorem.conditions(**given).values())

        with mpmath.workdps(50):
            if not missed(good):
                return good
            tried = good + inwards * abs(good) * 2.0 ** np.arange(-53, -20)
            return min([good, *tried[self.cost(tried) <= wanted].tolist()], key=missed)


def _points(parameter: Parameter) -> np.ndarray:
    """Whole numbers, all of the first; or a logarithmic grid over the whole domain."""
    if parameter.integer:
        beyond = np.unique(np.floor(np.geomspace(_EACH, _LARGEST, _GRID)))
        return int(parameter.lower) + np.concatenate((np.arange(float(_EACH)), beyond))
    low = parameter.lower if parameter.lower > 0 else 1e-30
    high = parameter.upper if np.isfinite(parameter.upper) else 1e30
    grid = np.geomspace(low, high, _GRID)
    if parameter.open_lower and parameter.lower > 0:
        grid = parameter.lower + np.geomspace(1e-12, high - parameter.lower, _GRID)
    grid[-1] = high
    return np.concatenate(([parameter.lower], grid)) if parameter.lower == 0 and not parameter.open_lower else grid


def _refined(along: _Along, grid: np.ndarray) -> np.ndarray:
    """Points packed around the best value on the grid, for a target that only a short interval reaches."""
    for _ in range(3):
        best = int(np.argmin(along.cost(grid)))
        grid = np.linspace(grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)], _GRID)
    return grid
