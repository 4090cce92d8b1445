"""Instances that random ones miss: where conditions turn, at eigenvalues where a quantity is extreme, and at a large T.

`build` says nothing of how a scalar depends on a user's domains, so that random instances meet "eta = 1/(2 mu)" by luck
alone, and a limit of the step hardly. Single numbers of corners are moved to where the two sides of a condition are
equal, by the Illinois method (Dowell and Jarratt, BIT 11, 1971). Where few corners meet the conditions that is done to
one number after the other, so that several conditions are met with equality; from there the other domains are set to
their ends in turn.

Of a linear algorithm on quadratics each eigenvalue has a recursion of its own. What is extreme over [mu, beta] is
seldom at an end: a step forgets the start at once where eta lambda = 1, T steps with momentum at up to T places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from suffice.bounds import Theorem

from .evidence import Evidence, sides
from .families import of_rows
from .family import Domain, Family, Values

_TRIED = 128
"""Corners from which those are chosen that are moved."""
_MOVED = 6
"""Instances that are moved at a time."""
_ROUNDS = 3
_GRID = 9
_STEPS = 160
"""The most steps to where a condition turns: few, unless it jumps."""
_MOST = 40
"""Instances of those that were moved."""

_MODES = [
    (ratio, noise, start, share, T)
    for ratio in (0.25, 2.0**-8)
    for noise, start in ((0.0, 1.0), (1.0, 0.0))
    for share, T in ((1.0, 1), (1.0, 2), (1.0, 30), (0.1, 3), (0.01, 10))
]
"""mu/beta, sigma2, the start's distance, the step's share of its largest (see `Steps.at`) and T."""
_STEPS_OF_MODES = np.array([0.5, 1.0, 1.5])
"""eta lambda."""
_BETWEEN = np.array([0.02, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97])
_NEAR = np.array([0.25, 0.5, 0.75])
_CLOSER = 6
"""How many times the best place is looked at four times as closely."""
LATE = tuple(63 * 4**k + k for k in range(10))
"""Values of T, up to 1.65e7: the next is four times as late, and no cycle of steps ends at them all."""


def on_boundaries(theorem: Theorem, family: Family, *, seed: int) -> Values:
    """Instances at which conditions turn, on the side that the theorem covers, several at once where it covers few; and
    the same with other numbers at their ends."""
    rows = family.numbers(family.corners(_TRIED, seed=seed))
    for _ in range(_ROUNDS):
        met, count = _met(theorem, family, rows)
        rows = rows[np.argsort(-(count + met), kind="stable")[:_MOVED]]
        rows = np.concatenate((rows, *_turned(theorem, family, rows)))
        inside = rows[_met(theorem, family, rows)[0]]
        if len(inside) >= _MOVED:
            break
    some = _spread(inside, _MOVED)
    again = np.concatenate((inside[:0], *_with_ends(family, np.concatenate((some, *_in_the_middle(family, some))))))
    again = again[_met(theorem, family, again)[0]]
    return family.split(np.concatenate((_spread(inside, _MOST), _spread(again, _MOST))))


def _with_ends(family: Family, rows: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the instances with one domain at each of its ends, or at 0 inside, or with its entries alike."""
    for domain, columns in family.places.values():
        ends = [domain.at(np.array(quantile)) for quantile in (0.0, 1.0)]
        ends += [np.zeros(1)] if not domain.log and domain.low < 0 < domain.high else []  # 0 inside
        alike = [rows[:, columns.start :][:, :1]] if domain.shape else []
        for value in (*ends, *alike):
            moved = rows.copy()
            moved[:, columns] = value
            yield moved


def _in_the_middle(family: Family, rows: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the instances with one number of a domain of several in its middle: eigenvalues of corners are alike, or as
    far apart as can be."""
    for domain, columns in family.places.values():
        if domain.shape:
            moved = rows.copy()
            moved[:, columns.start] = domain.at(np.array(0.5)).item()
            yield moved


def _margins(theorem: Theorem, family: Family, rows: np.ndarray) -> tuple[np.ndarray, Any]:
    """rhs - lhs of every condition, (c, n), and the arguments."""
    assert family.arguments is not None
    arguments = family.arguments(family.split(rows))
    with np.errstate(all="ignore"):
        pairs = sides(theorem, arguments).values()
        found = [np.broadcast_to(np.asarray(rhs, dtype=float) - lhs, (len(rows),)) for lhs, rhs in pairs]
    return np.array(found).reshape(-1, len(rows)), arguments


def _met(theorem: Theorem, family: Family, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which instances meet the hypotheses, and how many conditions each meets but for rounding."""
    if not len(rows):
        return np.zeros(0, dtype=bool), np.zeros(0)
    margins, arguments = _margins(theorem, family, rows)
    met = Evidence(engine="", measured=np.zeros(len(rows)), arguments=arguments).counted(theorem)
    return met, (margins >= -1e-12 * np.abs(margins).max(initial=1e-300)).sum(0)


def _spread(rows: np.ndarray, most: int) -> np.ndarray:
    """Choose at most `most` of the rows, evenly spread."""
    return rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), most)).astype(int))]


def _turned(theorem: Theorem, family: Family, rows: np.ndarray) -> Iterator[np.ndarray]:
    """The instances with one number moved to where a condition turns, on both sides of it."""
    for domain, columns in family.places.values():
        if domain.shape or domain.integer:
            continue

        def moved(at: np.ndarray, values: np.ndarray, column: int = columns.start) -> np.ndarray:
            found = rows[at]
            found[:, column] = values
            return found

        grid = np.tile(domain.at(np.linspace(0, 1, _GRID)), (len(rows), 1))
        row, ends = turns(lambda at, values, moved=moved: _margins(theorem, family, moved(at, values))[0], grid)
        yield from (moved(row, end) for end in ends)


def turns(
    margins: Callable[[np.ndarray, np.ndarray], np.ndarray], grid: np.ndarray
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Every change of a condition along the rows of `grid` (n, m): its row, and the two floats next to each other
    between which it changes, (k,) each, the one first at which it holds.

    margins(rows, values), both (k,), are rhs - lhs of every condition, (c, k), of the instances `rows` with one number
    at `values`. By the Illinois method and, every third time, by halves: a condition may jump.
    """
    every = np.arange(len(grid))
    found = margins(np.repeat(every, grid.shape[1]), grid.ravel()).reshape(-1, *grid.shape)
    which, row, place = np.nonzero((found[..., 1:] >= 0) != (found[..., :-1] >= 0))
    low, high = grid[row, place], grid[row, place + 1]
    f_low, f_high = found[which, row, place], found[which, row, place + 1]
    for turn in range(_STEPS):
        with np.errstate(all="ignore"):
            middle = high - f_high * (high - low) / (f_high - f_low)
        middle = np.where(middle == high, np.nextafter(high, low), middle)
        between = (np.minimum(low, high) < middle) & (middle < np.maximum(low, high))
        middle = np.where(between & (turn % 3 < 2), middle, low + (high - low) / 2)
        if ((middle == low) | (middle == high)).all():
            break
        f = margins(row, middle)[which, np.arange(len(row))]
        across = (f >= 0) != (f_high >= 0)
        # the end that stays counts half, so that it moves next time
        low, f_low = np.where(across, high, low), np.where(across, f_high, f_low / 2)
        high, f_high = middle, f
    holds = f_high >= 0
    return row, (np.where(holds, high, low), np.where(holds, low, high))


# --- quadratics --------------------------------------------------------------------------------------------------


def scans(domains: Mapping[str, Domain]) -> bool:
    """Whether instances have eigenvalues to move: those of `families.quadratics` in two dimensions or more."""
    return {"curvature", "direction"} <= domains.keys() and domains["direction"].shape[0] > 1


def inner_modes(
    domains: Mapping[str, Domain],
    moved: Callable[[Values], tuple[Values, Values]],
    ratio: Callable[[Values], np.ndarray],
    *,
    noise: bool,
) -> Values:
    """Each row of `_MODES` with its inner eigenvalues (the last one where there are two) from mu to beta, through
    1/eta, and then around where they are worst; the start along one of them, as large a loss away as at beta.

    Without `noise` only rows that have none. `moved` moves values to where the theorem's conditions hold and gives them
    with their "eta" besides; `ratio` is measured/bound.
    """
    base, given = moved(_values(domains, [row for row in _MODES if noise or not row[1]]))
    eta, features = given["eta"], domains["direction"].shape[0]
    low, high = (end(base["curvature"].reshape(len(eta), -1), 1)[:, None] for end in (np.min, np.max))
    at_steps = np.clip(_STEPS_OF_MODES / np.maximum(eta, 1e-300)[:, None], low, high)
    grid = np.sort(np.concatenate((at_steps, low + _BETWEEN * (high - low), low * (high / low) ** _BETWEEN), 1), 1)

    def at(grid: np.ndarray) -> Values:
        values = {name: np.repeat(value, grid.shape[1], axis=0) for name, value in base.items()}
        values["curvature"][..., slice(1, max(features - 1, 2))] = grid.ravel()[:, None, None]
        values["direction"] = np.zeros_like(values["direction"])
        values["direction"][:, 1] = 1.0
        return values | {"far": values["far"] * np.sqrt(4.0 / grid.ravel())}

    for _ in range(_CLOSER):
        best = ratio(at(grid)).reshape(grid.shape).argmax(1)[:, None] + np.arange(-1, 2)
        left, top, right = np.take_along_axis(grid, best.clip(0, grid.shape[1] - 1), 1).T[..., None]
        grid = np.concatenate((left + _NEAR * (top - left), top, top + _NEAR * (right - top)), 1)
    return at(grid)


def late(domains: Mapping[str, Domain], longest: int) -> Values:
    """A few instances at each T of `LATE` up to `longest`: equal eigenvalues and far ones, the start along both, noise
    or none."""
    return _values(
        domains,
        [
            (ratio, noise, start, share, T)
            for ratio in (1.0, 2.0**-4, 2.0**-10)
            for noise, start in ((0.0, 1e3), (1e6, 0.0), (1e5, 1e3))
            for share in (1.0, 0.1, 1e-4)
            for T in LATE
            if longest >= T
        ],
    )


def _values(domains: Mapping[str, Domain], rows: Sequence[tuple[float, ...]]) -> Values:
    """Values of a family of quadratics: eigenvalues 4 and 4 `ratio`, the start along both."""
    features = domains["direction"].shape[0]
    ends = np.arange(features) % max(features - 1, 1) == 0
    spectrum = lambda ratio: np.append(np.full(features - 1, 4.0), 4 * ratio)  # noqa: E731
    return of_rows(domains, [(spectrum(ratio), *middle, ends, share, T, 0.0) for ratio, *middle, share, T in rows])
