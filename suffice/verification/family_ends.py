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
"""Of the Illinois method, whose error falls like a power 1.44: from 1/8 of an interval to rounding."""
_MOST = 96
"""Instances of those that were moved."""


def turned(theorem: Theorem, family: Family, *, seed: int) -> Values:
    """Instances at which conditions turn, and those with other numbers at their ends, where few meet the hypotheses."""
    tried = family.at(pairs_of_ends(family, seed))
    if not theorem.condition_keywords:
        return _rows(tried, [])
    met, count = _met(theorem, family, tried)
    if 4 * met.sum() >= len(met):
        return _rows(tried, [])
    rows = _rows(tried, _best(met, count))
    for _ in range(_ROUNDS):
        rows = _joined([rows, *_turned(theorem, family, rows)])
        met, count = _met(theorem, family, rows)
        if met.sum() >= _MOVED:
            break
        rows = _rows(rows, _best(met, count))
    inside = np.flatnonzero(_met(theorem, family, rows)[0])
    found = _rows(rows, _spread(inside, _MOST))
    if not len(inside):
        return found
    again = _joined(list(_with_ends(family, _rows(rows, _spread(inside, _MOVED)))))
    return _joined([found, _rows(again, _spread(np.flatnonzero(_met(theorem, family, again)[0]), _MOST))])


def _simple(domain: Domain) -> list[float]:
    """Quantiles of both ends of an interval, and of 0 where it lies inside."""
    inside = not domain.log and not domain.zero and domain.low < 0 < domain.high
    return [0.0, 1.0, *([-domain.low / (domain.high - domain.low)] if inside else [])]


def _groups(family: Family) -> dict[str, tuple[Domain, np.ndarray]]:
    """Every domain with its places in the unit cube, (m, n) of an array of m entries each of n numbers; and domains
    that are the same, such as one minimiser for each client, as one array."""
    found, same, offset = {}, dict[Domain, list[np.ndarray]](), 0
    for name, domain in family.domains.items():
        size = int(np.prod(domain.shape, dtype=int))
        places = np.arange(offset, offset + size)
        found[name] = domain, places.reshape(domain.shape[0] if domain.shape else 1, -1)
        same.setdefault(domain, []).append(places)
        offset += size
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


def _with_ends(family: Family, rows: Values) -> Iterator[Values]:
    """The same instances with one domain at each of its ends, or its entries alike."""
    for name, domain in family.domains.items():
        for quantile in _simple(domain):
            yield {**rows, name: np.full(rows[name].shape, domain.at(np.array(quantile)))}
        if domain.shape:
            first = rows[name].reshape(len(rows[name]), *(1,) * (len(domain.shape) - 1), -1)[..., :1]
            yield {**rows, name: np.broadcast_to(first, rows[name].shape)}


def _margins(theorem: Theorem, arguments: Any, count: int) -> np.ndarray:
    """rhs - lhs of every condition, (c, n)."""
    with np.errstate(all="ignore"):
        pairs = sides(theorem, arguments).values()
        return np.array([np.broadcast_to(np.asarray(rhs, dtype=float) - lhs, (count,)) for lhs, rhs in pairs])


def _met(theorem: Theorem, family: Family, values: Values) -> tuple[np.ndarray, np.ndarray]:
    """Which instances meet the hypotheses, and how many conditions each meets but for rounding."""
    assert family.arguments is not None
    count = len(next(iter(values.values())))
    arguments = family.arguments(values)
    met = Evidence(engine="", measured=np.zeros(count), arguments=arguments).counted(theorem)
    margins = _margins(theorem, arguments, count)
    size = np.abs(margins).max(initial=1e-300)
    return met, (margins >= -1e-12 * size).sum(0) if len(margins) else np.zeros(count)


def _spread(chosen: np.ndarray, most: int) -> np.ndarray:
    """At most so many of them, evenly spread."""
    return chosen[np.unique(np.linspace(0, len(chosen) - 1, min(len(chosen), most)).astype(int))]


def _best(met: np.ndarray, count: np.ndarray) -> np.ndarray:
    return np.argsort(-(count + met), kind="stable")[:_MOVED]


def _turned(theorem: Theorem, family: Family, rows: Values) -> Iterator[Values]:
    """The instances with one number moved to where a condition turns, on both sides of it."""
    assert family.arguments is not None
    arguments = family.arguments
    for name, domain in family.domains.items():
        if domain.shape or domain.integer:
            continue
        count = len(rows[name])

        def margins(values: np.ndarray, at: np.ndarray, name: str = name) -> np.ndarray:
            given = {key: value[at] for key, value in rows.items()} | {name: values}
            return _margins(theorem, arguments(given), len(values))

        grid = domain.at(np.linspace(0, 1, _GRID))
        at = np.repeat(np.arange(count), _GRID)
        found = margins(np.tile(grid, count), at).reshape(-1, count, _GRID)
        change = (found[..., :-1] < 0) != (found[..., 1:] < 0)
        which, row = np.nonzero(change.any(2))
        if not len(row):
            continue
        place = change.argmax(2)[which, row]
        low, high = grid[place], grid[place + 1]
        f_low, f_high = found[which, row, place], found[which, row, place + 1]
        pick = np.arange(len(row))
        for _ in range(_STEPS):
            with np.errstate(all="ignore"):
                middle = high - f_high * (high - low) / (f_high - f_low)
            middle = np.where(np.isfinite(middle), middle, (low + high) / 2)
            f = margins(middle, row)[which, pick]
            across = (f < 0) != (f_high < 0)
            # the end that stays counts half, so that it moves next time
            low, f_low = np.where(across, high, low), np.where(across, f_high, f_low / 2)
            high, f_high = middle, f
        for end in (low, high):
            yield {key: value[row] for key, value in rows.items()} | {name: end}


def _rows(values: Values, chosen: Any) -> Values:
    return {name: value[np.asarray(chosen, dtype=int)] for name, value in values.items()}


def _joined(parts: list[Values]) -> Values:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
