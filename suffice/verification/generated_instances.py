"""Instances that random ones miss: where conditions turn, at eigenvalues where a quantity is extreme, and at a large T.

How a scalar depends on a user's domains nobody says, so that random instances meet "eta = 1/(2 mu)" by luck
alone, and a limit of the step hardly. Single numbers of corners are moved to where the two sides of a condition are
equal, by the Illinois method (Dowell and Jarratt, BIT 11, 1971). Where few corners meet the conditions that is done to
one number after the other, so that several conditions are met with equality; from there the other domains are set to
their ends in turn.

Instances of the library's families are moved to where the conditions hold. Wrong limits are seen only near the limit,
which depends on the instance (2/(mu + beta), say). So the step is a share of the largest that the conditions allow
there. An instance where no step is allowed is moved first: T, sigma2, e0 or mu is set to the nearest value at which
some step is allowed.

Of a linear algorithm on quadratics each eigenvalue has a recursion of its own. What is extreme over [mu, beta] is
seldom at an end: a step forgets the start at once where eta lambda = 1, T steps with momentum at up to T places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from suffice.bounds import Theorem

from .evidence import Evidence, met, sides, within
from .families import LARGEST_STEP, MovableInstances, of_rows
from .family import Domain, Family, Values

_TRIED = 128
"""Corners from which those are chosen that are moved."""
_MOVED = 6
"""Instances that are moved at a time."""
_ROUNDS = 3
_PLACES = 9
"""Values of a number between which a condition is seen to turn."""
_HALVINGS = 160
"""The most steps to where a condition turns: few, unless it jumps."""
_MOST = 40
"""Instances of those that were moved."""

_GRID = LARGEST_STEP * 2.0 ** (-np.arange(105) / 4)
_COARSE = _GRID[::4]
_MOVES = {
    "T": np.unique(np.round(np.geomspace(1, 10_000, 60))),
    "sigma2": np.append(0.0, np.geomspace(1e-6, 1e6, 37)),
    "e0": np.append(0.0, np.geomspace(1e-6, 1e6, 37)),
    "mu": 4 * 2.0 ** -np.arange(21),
}

_MODES = [
    (ratio, noise, start, share, T)
    for ratio in (0.25, 2.0**-8)
    for noise, start in ((0.0, 1.0), (1.0, 0.0))
    for share, T in ((1.0, 1), (1.0, 2), (1.0, 30), (0.1, 3), (0.01, 10))
]
"""mu/beta, sigma2, the start's distance, the step's share of its largest (see `moved_inside`) and T."""
_STEPS_OF_MODES = np.array([0.5, 1.0, 1.5])
"""The values of eta lambda at which an inner eigenvalue lambda is tried first."""
_BETWEEN = np.array([0.02, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97])
_NEAR = np.array([0.25, 0.5, 0.75])
_CLOSER = 6
"""How many times the best place is looked at four times as closely."""
LATE = tuple(63 * 4**k + k for k in range(10))
"""Values of T, up to 1.65e7: the next is four times as late, and no cycle of steps ends at them all."""


# --- where conditions turn -------------------------------------------------------------------------------------------


def turns(
    theorem: Theorem, arguments: Callable[[np.ndarray, np.ndarray], Mapping[str, np.ndarray]], grid: np.ndarray
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Every change of a condition along the rows of `grid` (n, m): its row, and the two floats next to each other
    between which it changes, (k,) each, the one first at which it holds.

    arguments(rows, values), both (k,), are those of the instances `rows` with one number at `values`. By the Illinois
    method and, every third time, by halves: a condition may jump.
    """

    def margins(rows: np.ndarray, values: np.ndarray) -> np.ndarray:
        return _margins(theorem, arguments(rows, values), len(rows))

    found = margins(np.repeat(np.arange(len(grid)), grid.shape[1]), grid.ravel())
    found = found.reshape(len(found), *grid.shape)
    which, row, place = np.nonzero((found[..., 1:] >= 0) != (found[..., :-1] >= 0))
    low, high = grid[row, place], grid[row, place + 1]
    f_low, f_high = found[which, row, place], found[which, row, place + 1]
    for turn in range(_HALVINGS):
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


def _margins(theorem: Theorem, arguments: Mapping[str, np.ndarray], count: int) -> np.ndarray:
    """rhs - lhs of every condition, (c, count)."""
    with np.errstate(all="ignore"):
        pairs = sides(theorem, arguments).values()
        found = [np.broadcast_to(np.asarray(rhs, dtype=float) - lhs, (count,)) for lhs, rhs in pairs]
    return np.array(found).reshape(-1, count)


def on_boundaries(theorem: Theorem, family: Family, *, seed: int) -> Values:
    """Instances at which conditions turn, on the side that the theorem covers, several at once where it covers few; and
    the same with other numbers at their ends, eigenvalues of corners (alike, or as far apart as can be) in the middle.
    """
    assert family.arguments is not None
    given, places = family.arguments, family.places.values()

    def asked(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which instances meet the hypotheses, and how many conditions each meets but for rounding."""
        arguments = given(family.split(rows))
        margins = _margins(theorem, arguments, len(rows))
        inside = Evidence(engine="", measured=np.zeros(len(rows)), arguments=arguments).counted(theorem)
        return inside, (margins >= -1e-12 * np.abs(margins).max(initial=1e-300)).sum(0)

    rows = family.numbers(family.corners(_TRIED, seed=seed))
    for _ in range(_ROUNDS):
        rows = rows[np.argsort(-np.sum(asked(rows), axis=0), kind="stable")[:_MOVED]]
        rows = np.concatenate((rows, *_turned(theorem, family, rows)))
        inside = rows[asked(rows)[0]]
        if len(inside) >= _MOVED:
            break
    if not len(inside):
        return family.split(inside)
    some = _spread(inside, _MOVED)
    middle = [_with(some, at.start, domain.at(np.array(0.5))) for domain, at in places if domain.shape]
    some = np.concatenate((some, *middle))
    again = []
    for domain, columns in places:
        ends = [*domain.at(np.array([0.0, 1.0])), *([0.0] if not domain.log and domain.low < 0 < domain.high else [])]
        alike = [some[:, columns.start : columns.start + 1]] if domain.shape else []
        again += [_with(some, columns, value) for value in (*ends, *alike)]
    again = np.concatenate(again)
    again = again[asked(again)[0]]
    return family.split(np.concatenate((_spread(inside, _MOST), _spread(again, _MOST))))


def _turned(theorem: Theorem, family: Family, rows: np.ndarray) -> Iterator[np.ndarray]:
    """The instances with one number moved to where a condition turns, on both sides of it."""
    assert family.arguments is not None
    given = family.arguments
    for domain, columns in family.places.values():
        if domain.shape or domain.integer:
            continue

        def moved(at: np.ndarray, values: np.ndarray, column: int = columns.start) -> np.ndarray:
            return _with(rows[at], column, values)

        grid = np.tile(domain.at(np.linspace(0, 1, _PLACES)), (len(rows), 1))
        row, ends = turns(theorem, lambda at, values, moved=moved: given(family.split(moved(at, values))), grid)
        yield from (moved(row, end) for end in ends)


def _with(rows: np.ndarray, columns: int | slice, value: Any) -> np.ndarray:
    """The rows with some of their numbers replaced."""
    moved = rows.copy()
    moved[:, columns] = value
    return moved


def _spread(rows: np.ndarray, most: int) -> np.ndarray:
    """Choose at most `most` of the rows, evenly spread."""
    return rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), most)).astype(int))]


# --- where conditions hold -------------------------------------------------------------------------------------------


def moved_inside(
    theorem: Theorem, movable: MovableInstances, values: Values, reach: float = 1.0
) -> tuple[Values, np.ndarray]:
    """The values, moved where necessary, and the step of each instance, (n,), up to `reach` times 4/beta.

    Shares of a step are uniform from 1/10 of the largest one on, logarithmic below; the last tenth of them is its end,
    or as near to it as makes a difference.
    """
    scalars = movable.scalars(values)
    low, high = allowed_steps(theorem, scalars, reach)
    for name, grid in _MOVES.items():
        stuck = np.flatnonzero(np.isnan(high))
        if not len(stuck):
            break
        part = {key: value[stuck] for key, value in values.items()}
        target = _nearest(theorem, movable.scalars(part), name, grid, reach)
        shifted = movable.moved(part, name, np.minimum(target, movable.longest) if name == "T" else target)
        values = {key: np.array(value) for key, value in values.items()}
        for key, value in shifted.items():
            values[key][stuck] = value
        scalars = movable.scalars(values)
        low, high = allowed_steps(theorem, scalars, reach)
    share = 1 + np.log10(np.maximum(values["step"], 1e-4)) / 4  # a family's domain "step" is logarithmic from 1e-4 to 1
    share = np.clip(share, 0, 1)
    inner = np.where(share < 0.3, 10 ** (-4 + 10 * np.minimum(share, 0.3)), 0.1 + 1.8 * (share - 0.3))
    part_of_it = np.where(share < 0.8, inner, np.where(share < 0.85, 1 - 1e-6, 1.0))
    eta = low + part_of_it * (high - low)
    return values, np.where(np.isnan(eta), values["step"] / scalars["beta"], eta)


def allowed_steps(
    theorem: Theorem, scalars: dict[str, np.ndarray], reach: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """The smallest and the largest step allowed at each instance (n,) up to `reach` times 4/beta, NaN where none is: on
    a grid of ratio 2^(1/4), and where conditions turn between two of its steps. That is also how a theorem with one
    step size, such as eta = 1/beta, reads as conditions.
    """
    steps = reach * _GRID / scalars["beta"][:, None]
    inside = _allowed(theorem, scalars, steps)
    low, high = np.where(inside, steps, np.inf).min(1), np.where(inside, steps, -np.inf).max(1)
    rows, ends = _turns_along(theorem, scalars, "eta", steps)
    own = {name: value[rows] for name, value in scalars.items()}
    short = np.array([float(f"{each:.6g}") for each in ends * own["beta"]]) / own["beta"]
    tried = np.where((np.abs(short - ends) <= 1e-12 * ends)[:, None], np.stack((short, ends), 1), ends[:, None])
    good = _allowed(theorem, own, tried)
    ends, some = np.where(good[:, 0], tried[:, 0], ends), good.any(1)
    np.minimum.at(low, rows[some], ends[some])
    np.maximum.at(high, rows[some], ends[some])
    none = high < low
    return np.where(none, np.nan, np.where(inside[:, -1], 0.0, low)), np.where(none, np.nan, high)


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


def _turns_along(
    theorem: Theorem, scalars: dict[str, np.ndarray], name: str, grid: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The instances and the values of `name`, (k,) each, at which a condition just holds along the `grid` (n, m)."""
    if name not in theorem.condition_keywords:
        return np.zeros(0, dtype=int), np.zeros(0)
    taken = [key for key in theorem.condition_keywords if key != name]
    rows, (ends, _) = turns(theorem, lambda at, values: {key: scalars[key][at] for key in taken} | {name: values}, grid)
    return rows, ends


def _nearest(theorem: Theorem, scalars: dict[str, np.ndarray], name: str, grid: np.ndarray, reach: float) -> np.ndarray:
    """For each instance the value nearest to its own at which some step is allowed; its own where there is none."""
    now, count = scalars[name], len(scalars[name])
    tried = np.tile(grid, (count, 1))
    if name == "mu":
        tried = np.minimum(tried, scalars["beta"][:, None])
    rows, values = np.repeat(np.arange(count), len(grid)), tried.ravel()
    if name != "T":  # a condition may leave a band between two of the grid
        more = _turns_along(theorem, scalars | {"eta": 0.5 / scalars["beta"]}, name, np.sort(tried))
        rows, values = np.append(rows, more[0]), np.append(values, more[1])
    many = {key: value[rows] for key, value in scalars.items()} | {name: values}
    good = _allowed(theorem, many, reach * _COARSE / many["beta"][:, None]).any(1)
    away = np.abs(np.log(np.maximum(values, 1e-12) / np.maximum(now[rows], 1e-12)))
    distance = np.where(good, away, np.inf)
    order = np.lexsort((distance, rows))
    best = order[np.unique(rows[order], return_index=True)[1]]
    return np.where(np.isfinite(distance[best]), values[best], now)


# --- quadratics --------------------------------------------------------------------------------------------------


def scans(domains: Mapping[str, Domain]) -> bool:
    """Whether instances have eigenvalues to move, as those of `families.quadratics` in two or more dimensions have."""
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
    """Some instances at each T of `LATE` up to `longest`: equal or far eigenvalues, start along both, noise or none."""
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
