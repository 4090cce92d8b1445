"""Instances of a family of one's own at the ends of its intervals, and where a bound's conditions turn.

`build` says nothing of how a scalar depends on the domains, so that random instances meet "no noise", "equal
minimisers" or "eta = 1/(2 mu)" by luck alone. Two domains at a time are set to an end, to 0, or all their entries
alike. Where few of all these meet the conditions, single numbers are moved to where the two sides of a condition are
equal, by the Illinois method (Dowell and Jarratt, BIT 11, 1971): one number after the other, so that several conditions
are met with equality; from there the other domains are set to their ends in turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from suffice.bounds import Theorem

from .evidence import Evidence, sides
from .family import Domain, Family, Values

_MOVED = 6
"""Instances that are moved at a time."""
_ROUNDS = 3
_GRID = 9
_STEPS = 14
"""Steps of the Illinois method, whose error falls like a power 1.44: from 1/8 of an interval to rounding."""
_MOST = 96
"""Instances of those that were moved."""


def turned(theorem: Theorem, family: Family, *, seed: int) -> Values:
    """Instances at which conditions turn, and those with other numbers at their ends, where few meet the hypotheses."""
    tried = family.numbers(pairs_of_ends(family, seed))
    if not theorem.condition_keywords:
        return family.split(tried[:0])
    met, count = _met(theorem, family, tried)
    if 4 * met.sum() >= len(met):
        return family.split(tried[:0])
    rows = tried[_best(met, count)]
    for _ in range(_ROUNDS):
        rows = np.concatenate((rows, *_turned(theorem, family, rows)))
        met, count = _met(theorem, family, rows)
        if met.sum() >= _MOVED:
            break
        rows = rows[_best(met, count)]
    inside = rows[_met(theorem, family, rows)[0]]
    again = np.concatenate((inside[:0], *_with_ends(family, _spread(inside, _MOVED))))
    again = again[_met(theorem, family, again)[0]]
    return family.split(np.concatenate((_spread(inside, _MOST), _spread(again, _MOST))))


def _simple(domain: Domain) -> list[float]:
    """Quantiles of both ends of an interval, and of 0 where it lies inside."""
    inside = not domain.log and not domain.zero and domain.low < 0 < domain.high
    return [0.0, 1.0, *([-domain.low / (domain.high - domain.low)] if inside else [])]


def _groups(family: Family) -> dict[str, tuple[Domain, np.ndarray]]:
    """Every domain with its places in the unit cube, (m, n) of an array of m entries each of n numbers; and domains
    that are the same, such as one minimiser for each client, as one array."""
    found, same = {}, dict[Domain, list[np.ndarray]]()
    for name, (domain, columns) in family.places.items():
        places = np.arange(columns.start, columns.stop)
        found[name] = domain, places.reshape(domain.shape[0] if domain.shape else 1, -1)
        same.setdefault(domain, []).append(places)
    together = {f"{at} alike": (domain, np.stack(each)) for at, (domain, each) in enumerate(same.items()) if each[1:]}
    return found | together


def pairs_of_ends(family: Family, seed: int) -> np.ndarray:
    """Points of the unit cube: of each two domains every two ends, the rest random; the entries of an array are alike,
    at both ends, at 0 and at any number, and those of several axes are alike along the first axis too."""
    groups = _groups(family)
    options: dict[str, list[float | str]] = {}
    for name, (domain, places) in groups.items():
        options[name] = [*_simple(domain), *(["entries"] if places.size > 1 else [])]
        options[name] += ["rows"] if min(places.shape) > 1 else []
    pairs = list(combinations(groups, 2)) or [(name, name) for name in groups]
    moves = [((one, a), (other, b)) for one, other in pairs for a in options[one] for b in options[other]]
    u = family.quantiles(len(moves), seed=seed + 0x30000).copy()
    for row, move in zip(u, moves):
        for name, option in move:
            places = groups[name][1]
            row[places] = row[places[:1]] if option == "rows" else row[places[0, 0]] if option == "entries" else option
    return u


def _with_ends(family: Family, rows: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the instances with one domain at each of its ends, or with its entries alike."""
    for domain, columns in family.places.values():
        alike = [rows[:, columns.start :][:, :1]] if domain.shape else []
        for value in (*(domain.at(np.array(quantile)) for quantile in _simple(domain)), *alike):
            moved = rows.copy()
            moved[:, columns] = value
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


def _best(met: np.ndarray, count: np.ndarray) -> np.ndarray:
    return np.argsort(-(count + met), kind="stable")[:_MOVED]


def _turned(theorem: Theorem, family: Family, rows: np.ndarray) -> Iterator[np.ndarray]:
    """The instances with one number moved to where a condition turns, on both sides of it."""
    for domain, columns in family.places.values():
        if domain.shape or domain.integer:
            continue

        def moved(at: np.ndarray, values: np.ndarray, column: int = columns.start) -> np.ndarray:
            found = rows[at]
            found[:, column] = values
            return found

        def margins(at: np.ndarray, values: np.ndarray) -> np.ndarray:
            return _margins(theorem, family, moved(at, values))[0]

        grid, every = domain.at(np.linspace(0, 1, _GRID)), np.arange(len(rows))
        found = margins(np.repeat(every, _GRID), np.tile(grid, len(rows))).reshape(-1, len(rows), _GRID)
        change = (found[..., :-1] < 0) != (found[..., 1:] < 0)
        which, row = np.nonzero(change.any(2))
        if not len(row):
            continue
        place = change.argmax(2)[which, row]
        low, high = grid[place], grid[place + 1]
        f_low, f_high = found[which, row, place], found[which, row, place + 1]
        for _ in range(_STEPS):
            with np.errstate(all="ignore"):
                middle = high - f_high * (high - low) / (f_high - f_low)
            middle = np.where(np.isfinite(middle), middle, (low + high) / 2)
            f = margins(row, middle)[which, np.arange(len(row))]
            across = (f < 0) != (f_high < 0)
            # the end that stays counts half, so that it moves next time
            low, f_low = np.where(across, high, low), np.where(across, f_high, f_low / 2)
            high, f_high = middle, f
        yield from (moved(row, low), moved(row, high))
