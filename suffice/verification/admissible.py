"""Instances moved to where a bound's conditions hold: the step as a share of each instance's own largest one.

Wrong limits are seen only near the limit, which depends on the instance (2/(mu + beta), say). So the step is drawn as a
share of the largest that the conditions allow there. An instance where no step is allowed is moved first: T, sigma2,
e0 or mu is set to the nearest value at which some step is allowed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from suffice.bounds import Theorem

from .evidence import met, within
from .families import LARGEST_STEP, MovableInstances
from .family import Values

_GRID = LARGEST_STEP * 2.0 ** (-np.arange(105) / 4)
_COARSE = _GRID[::4]
_ROUNDS = 21
_FEW = 64
"""Instances of which more numbers are asked at once, in fewer calls."""
_MOVES = {
    "T": np.unique(np.round(np.geomspace(1, 10_000, 60))),
    "sigma2": np.append(0.0, np.geomspace(1e-6, 1e6, 37)),
    "e0": np.append(0.0, np.geomspace(1e-6, 1e6, 37)),
    "mu": 4 * 2.0 ** -np.arange(21),
}


@dataclass(frozen=True, kw_only=True)
class Steps:
    """The smallest and largest step allowed at each instance (n,): NaN where none is."""

    low: np.ndarray
    high: np.ndarray

    def at(self, share: np.ndarray) -> np.ndarray:
        """Uniform in the interval from 1/10 of it on, logarithmic below; the last tenth of shares is its end, or
        as near to it as makes a difference."""
        share = np.clip(share, 0, 1)
        inner = np.where(share < 0.3, 10 ** (-4 + 10 * np.minimum(share, 0.3)), 0.1 + 1.8 * (share - 0.3))
        part = np.where(share < 0.8, inner, np.where(share < 0.85, 1 - 1e-6, 1.0))
        return self.low + part * (self.high - self.low)


def quantile(value: np.ndarray) -> np.ndarray:
    """The share in [0, 1] of a family's domain "step", which is logarithmic from 1e-4 to 1."""
    return 1 + np.log10(np.maximum(value, 1e-4)) / 4


def moved_inside(
    theorem: Theorem, movable: MovableInstances, values: Values, reach: float = 1.0
) -> tuple[Values, np.ndarray]:
    """The values, moved where necessary, and the step of each instance, (n,), up to `reach` times 4/beta."""
    scalars = movable.scalars(values)
    steps = allowed_steps(theorem, scalars, reach)
    for name, grid in _MOVES.items():
        stuck = np.flatnonzero(np.isnan(steps.high))
        if not len(stuck):
            break
        part = {key: value[stuck] for key, value in values.items()}
        target = _nearest(theorem, movable.scalars(part), name, grid, reach)
        if target is None:
            continue
        shifted = movable.moved(part, name, target)
        values = {key: _with(value, stuck, shifted[key]) for key, value in values.items()}
        scalars = movable.scalars(values)
        steps = allowed_steps(theorem, scalars, reach)
    eta = steps.at(quantile(values["step"]))
    return values, np.where(np.isnan(eta), values["step"] / scalars["beta"], eta)


def _with(value: np.ndarray, rows: np.ndarray, new: np.ndarray) -> np.ndarray:
    value = value.copy()
    value[rows] = new
    return value


def allowed_steps(theorem: Theorem, scalars: dict[str, np.ndarray], reach: float = 1.0) -> Steps:
    """The ends of the allowed steps up to `reach` times 4/beta, by bisection within a grid of ratio 2^(1/4)."""
    beta = scalars["beta"]
    steps = reach * _GRID / beta[:, None]
    inside = _allowed(theorem, scalars, steps)
    steps, inside = _with_roots(theorem, scalars, steps, inside)
    order = np.argsort(-steps, axis=1)
    steps, inside = np.take_along_axis(steps, order, 1), np.take_along_axis(inside, order, 1)
    some, rows = inside.any(1), np.arange(len(beta))
    top = inside.argmax(1)
    bottom = inside.shape[1] - 1 - inside[:, ::-1].argmax(1)
    last = np.stack((top, bottom), 1), np.stack((np.maximum(top - 1, 0), np.minimum(bottom + 1, steps.shape[1] - 1)), 1)
    high, low = _ends(theorem, scalars, *(steps[rows[:, None], at] for at in last)).T
    low = np.where(bottom == steps.shape[1] - 1, 0.0, low)
    return Steps(low=np.where(some, low, np.nan), high=np.where(some, high, np.nan))


def _allowed(theorem: Theorem, scalars: dict[str, np.ndarray], steps: np.ndarray) -> np.ndarray:
    """Which of `steps` (n, m) the domains and conditions allow."""
    count, width = steps.shape
    own = [parameter for parameter in theorem.parameters if parameter.name == "eta"]
    rest = [parameter for parameter in theorem.parameters if parameter.name != "eta"]
    # the search for the ends asks this dozens of times a batch: only what the conditions take is repeated
    flat = {name: np.repeat(scalars[name], width) for name in theorem.condition_keywords if name != "eta"}
    flat["eta"] = steps.ravel()
    inside = np.repeat(within(rest, scalars, (count,)), width) & within(own, flat, flat["eta"].shape)
    return (inside & met(theorem, flat, inside.shape)).reshape(steps.shape)


def _ends(theorem: Theorem, scalars: dict[str, np.ndarray], inside: np.ndarray, outside: np.ndarray) -> np.ndarray:
    """The last allowed steps between allowed ones and others, all (n, m), short in units of 1/beta where that is it."""
    ends, found = inside != outside, inside.copy()
    if not ends.any():
        return found
    own = {name: value[np.nonzero(ends)[0]] for name, value in scalars.items()}
    inside, outside = _turn(lambda steps: _allowed(theorem, own, steps), inside[ends], outside[ends])
    beta = own["beta"]
    short = np.array([float(f"{each:.6g}") for each in inside * beta]) / beta
    near = np.abs(short - inside) <= 1e-12 * np.abs(inside)
    # the search ends within the rounding that conditions forgive: 16 ulp back from the end, where no number is short
    back = np.where(inside > outside, 1 + 2.0**-48, 1 - 2.0**-48)
    found[ends] = np.where(near & _allowed(theorem, own, short[:, None])[:, 0], short, inside * back)
    return found


def _turn(
    holds: Callable[[np.ndarray], np.ndarray], inside: np.ndarray, outside: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The last numbers (n,) towards `outside` until which `holds`, asked (n, m) of them, is true as it is at `inside`,
    and the next ones at which it is not."""
    every = np.arange(len(inside))
    # of a call most is overhead: many parts at once take far less than halves take
    share = np.linspace(0, 1, 65 if len(inside) <= _FEW else 9)
    for _ in range(_ROUNDS):
        points = inside[:, None] + (outside - inside)[:, None] * share
        points[:, -1] = outside
        last = np.logical_and.accumulate(holds(points[:, 1:-1]), axis=1).sum(1)
        if (points[every, last] == inside).all() and (points[every, last + 1] == outside).all():
            break
        inside, outside = points[every, last], points[every, last + 1]
    return inside, outside


def _with_roots(
    theorem: Theorem, scalars: dict[str, np.ndarray], steps: np.ndarray, inside: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """More steps for instances that no step of the grid suits: where a condition holds with equality.

    That is how a theorem with one step size, such as eta = 1/beta or ln(T)/(mu T), reads as conditions.
    """
    stuck = np.flatnonzero(~inside.any(1))
    needed = theorem.condition_keywords
    if not len(stuck) or "eta" not in needed:
        return steps, inside
    part = {name: value[stuck] for name, value in scalars.items()}
    roots = _roots(theorem, part, "eta", steps[stuck])
    if not roots:
        return steps, inside
    more = np.repeat(steps[:, :1], len(roots), axis=1)
    more[stuck] = np.concatenate(roots, axis=1)
    found = np.zeros(more.shape, dtype=bool)
    found[stuck] = _allowed(theorem, part, more[stuck])
    return np.concatenate((steps, more), axis=1), np.concatenate((inside, found), axis=1)


def _roots(theorem: Theorem, scalars: dict[str, np.ndarray], name: str, grid: np.ndarray) -> list[np.ndarray]:
    """Both sides (n, 1) of where each condition turns, the first time along the `grid` (n, m) of values of `name`."""

    def margins(tried: np.ndarray, at: np.ndarray) -> np.ndarray:
        """rhs - lhs of each condition at values (n, m) of the instances `at` (n,): (c, n, m)."""
        flat = {key: np.repeat(scalars[key][at], tried.shape[1]) for key in theorem.condition_keywords if key != name}
        flat[name] = tried.ravel()
        with np.errstate(all="ignore"):
            sides = theorem.conditions(**flat).values()
            return np.array([
                (np.asarray(rhs, dtype=float) - lhs + 0 * flat[name]).reshape(tried.shape) for lhs, rhs in sides
            ])  # fmt: skip

    roots: list[np.ndarray] = []
    for index, margin in enumerate(margins(grid, np.arange(len(grid)))):
        change = (margin[:, :-1] < 0) != (margin[:, 1:] < 0)
        turns = np.flatnonzero(change.any(1))
        if not len(turns):
            continue
        place = change.argmax(1)
        ends = np.take_along_axis(grid, place[:, None] + 1, 1).repeat(2, axis=1)
        sign = margin[turns, place[turns], None] < 0
        same = lambda tried, at=turns, which=index, sign=sign: (margins(tried, at)[which] < 0) == sign  # noqa: E731
        ends[turns] = np.stack(_turn(same, grid[turns, place[turns]], ends[turns, 1]), 1)
        roots += [ends[:, :1], ends[:, 1:]]
    return roots


def _nearest(
    theorem: Theorem, scalars: dict[str, np.ndarray], name: str, grid: np.ndarray, reach: float
) -> np.ndarray | None:
    """For each instance the value nearest to its own at which some step is allowed; None where there is none."""
    now, count = scalars[name], len(scalars[name])
    tried = np.broadcast_to(grid, (count, len(grid)))
    if name == "mu":
        tried = np.minimum(tried, scalars["beta"][:, None])
    if name in theorem.condition_keywords and name != "T":  # a condition may leave a band between two of the grid
        tried = np.concatenate(
            (tried, *_roots(theorem, scalars | {"eta": 0.5 / scalars["beta"]}, name, np.sort(tried))), 1
        )
    many = {key: np.repeat(value, tried.shape[1]) for key, value in scalars.items()} | {name: tried.ravel()}
    good = np.any(_allowed(theorem, many, reach * _COARSE / many["beta"][:, None]), axis=-1).reshape(tried.shape)
    if not good.any():
        return None
    distance = np.where(good, np.abs(np.log(np.maximum(tried, 1e-12) / np.maximum(now, 1e-12)[:, None])), np.inf)
    chosen = np.take_along_axis(tried, distance.argmin(1)[:, None], 1)[:, 0]
    return np.where(good.any(1), chosen, now)
