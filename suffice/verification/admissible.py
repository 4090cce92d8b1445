"""Instances moved to where a bound's conditions hold: the step as a share of each instance's own largest one.

Wrong limits are seen only near the limit, which depends on the instance (2/(mu + beta), say). So the step is drawn as a
share of the largest that the conditions allow there. An instance where no step is allowed is moved first: T, sigma2,
e0 or mu is set to the nearest value at which some step is allowed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.bounds import Theorem

from .boundary_instances import turns
from .evidence import met, sides, within
from .families import LARGEST_STEP, MovableInstances
from .family import Values

_GRID = LARGEST_STEP * 2.0 ** (-np.arange(105) / 4)
_COARSE = _GRID[::4]
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
        shifted = movable.moved(part, name, _nearest(theorem, movable.scalars(part), name, grid, reach))
        values = {key: np.array(value) for key, value in values.items()}
        for key, value in shifted.items():
            values[key][stuck] = value
        scalars = movable.scalars(values)
        steps = allowed_steps(theorem, scalars, reach)
    # a family's domain "step" is logarithmic from 1e-4 to 1
    eta = steps.at(1 + np.log10(np.maximum(values["step"], 1e-4)) / 4)
    return values, np.where(np.isnan(eta), values["step"] / scalars["beta"], eta)


def allowed_steps(theorem: Theorem, scalars: dict[str, np.ndarray], reach: float = 1.0) -> Steps:
    """The ends of the allowed steps up to `reach` times 4/beta: on a grid of ratio 2^(1/4), and where conditions turn
    between two of its steps. That is also how a theorem with one step size, such as eta = 1/beta, reads as conditions.
    """
    steps = reach * _GRID / scalars["beta"][:, None]
    inside = _allowed(theorem, scalars, steps)
    low, high = np.where(inside, steps, np.inf).min(1), np.where(inside, steps, -np.inf).max(1)
    rows, ends = _turns(theorem, scalars, "eta", steps)
    own = {name: value[rows] for name, value in scalars.items()}
    short = np.array([float(f"{each:.6g}") for each in ends * own["beta"]]) / own["beta"]
    tried = np.where((np.abs(short - ends) <= 1e-12 * ends)[:, None], np.stack((short, ends), 1), ends[:, None])
    good = _allowed(theorem, own, tried)
    ends, some = np.where(good[:, 0], tried[:, 0], ends), good.any(1)
    np.minimum.at(low, rows[some], ends[some])
    np.maximum.at(high, rows[some], ends[some])
    none = high < low
    return Steps(low=np.where(none, np.nan, np.where(inside[:, -1], 0.0, low)), high=np.where(none, np.nan, high))


def _allowed(theorem: Theorem, scalars: dict[str, np.ndarray], steps: np.ndarray) -> np.ndarray:
    """Which of `steps` (n, m) the domains and conditions allow."""
    count, width = steps.shape
    own = [parameter for parameter in theorem.parameters if parameter.name == "eta"]
    rest = [parameter for parameter in theorem.parameters if parameter.name != "eta"]
    # only what the conditions take is repeated
    flat = {name: np.repeat(scalars[name], width) for name in theorem.condition_keywords if name != "eta"}
    flat["eta"] = steps.ravel()
    inside = np.repeat(within(rest, scalars, (count,)), width) & within(own, flat, flat["eta"].shape)
    return (inside & met(theorem, flat, inside.shape)).reshape(steps.shape)


def _turns(
    theorem: Theorem, scalars: dict[str, np.ndarray], name: str, grid: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The instances and the values of `name`, (k,) each, at which a condition just holds along the `grid` (n, m)."""
    if name not in theorem.condition_keywords:
        return np.zeros(0, dtype=int), np.zeros(0)

    def margins(rows: np.ndarray, values: np.ndarray) -> np.ndarray:
        given = {key: scalars[key][rows] for key in theorem.condition_keywords if key != name} | {name: values}
        with np.errstate(all="ignore"):
            return np.array([np.asarray(rhs) - lhs + 0 * values for lhs, rhs in sides(theorem, given).values()])

    rows, (ends, _) = turns(margins, grid)
    return rows, ends


def _nearest(theorem: Theorem, scalars: dict[str, np.ndarray], name: str, grid: np.ndarray, reach: float) -> np.ndarray:
    """For each instance the value nearest to its own at which some step is allowed; its own where there is none."""
    now, count = scalars[name], len(scalars[name])
    tried = np.tile(grid, (count, 1))
    if name == "mu":
        tried = np.minimum(tried, scalars["beta"][:, None])
    rows, values = np.repeat(np.arange(count), len(grid)), tried.ravel()
    if name != "T":  # a condition may leave a band between two of the grid
        more = _turns(theorem, scalars | {"eta": 0.5 / scalars["beta"]}, name, np.sort(tried))
        rows, values = np.append(rows, more[0]), np.append(values, more[1])
    many = {key: value[rows] for key, value in scalars.items()} | {name: values}
    good = _allowed(theorem, many, reach * _COARSE / many["beta"][:, None]).any(1)
    away = np.abs(np.log(np.maximum(values, 1e-12) / np.maximum(now[rows], 1e-12)))
    distance = np.where(good, away, np.inf)
    order = np.lexsort((distance, rows))
    best = order[np.unique(rows[order], return_index=True)[1]]
    return np.where(np.isfinite(distance[best]), values[best], now)
