"""Whether hypotheses contradict each other, or are merely met by no instance that was tried.

A search over the parameters themselves, by differential evolution (Storn and Price, J. Global Optimization 11, 1997),
for numbers at which the largest relative excess of a left side over its right side is not positive. It knows no
problem: what it finds may belong to none, but what it finds shows that the conditions do not exclude each other.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations

import numpy as np

from suffice.bounds import Theorem

from .evidence import sides

NEARLY = 1e-6
"""Relative excess at which conditions count as met: two that leave one value meet there, and nowhere exactly."""
DECADES = 4.0
"""How far beyond the typical range of a parameter is searched."""
_MOST = 6
"""Conditions among which contradictory pairs are looked for."""


def explained(theorem: Theorem, unmet: str) -> tuple[bool, str]:
    """Whether some numbers meet all conditions, and which; if none do, the smallest contradiction."""
    names = tuple(sides(theorem, {each.name: np.array([each.typical[0]]) for each in theorem.parameters}))
    found = _search(theorem, names) if names else None
    if found is not None:
        at = ", ".join(f"{name} = {value:.7g}" for name, value in found.items())
        return True, f"numbers do ({at}); give a family with such instances"
    for name in names:
        if len(names) > 1 and _search(theorem, (name,)) is None:
            return False, unmet
    for pair in combinations(names, 2) if 2 < len(names) <= _MOST else ():
        if _search(theorem, pair) is None:
            return False, f"{pair[0]} contradicts {pair[1]}; {unmet}"
    return False, unmet if len(names) < 2 else f"{' and '.join(names)} contradict each other; {unmet}"


def _search(theorem: Theorem, wanted: Collection[str]) -> dict[str, float] | None:
    """Values of the parameters that the conditions `wanted` take, where these hold; None where none was found."""
    from scipy.optimize import differential_evolution

    needed = [each for each in theorem.parameters if each.name in theorem.condition_keywords]
    ranges = []
    for each in needed:
        low, high = np.log(each.typical)
        ranges.append((low - DECADES * np.log(10), high + DECADES * np.log(10)))

    def values(at: np.ndarray) -> dict[str, np.ndarray]:
        found = {}
        for each, row, (low, high) in zip(needed, at, ranges):
            x = np.exp(row)
            if each.lower < 0:  # half of the range for each sign
                x = np.sign(row - (low + high) / 2) * np.exp(2 * np.abs(row - (low + high) / 2) + low)
            elif not each.open_lower:
                x = np.where(row < low + 1, each.lower, x)
            x = np.floor(x) if each.integer else x
            found[each.name] = np.clip(x, each.lower, each.upper)
        return found

    def excess(at: np.ndarray) -> np.ndarray:
        columns = at.reshape(len(needed), -1)
        given = values(columns)
        pairs = [pair for name, pair in sides(theorem, given).items() if name in wanted]
        if {"mu", "beta"} <= set(given):
            pairs.append((given["mu"], given["beta"]))
        worst = np.full(columns.shape[1], -np.inf)
        for left, right in pairs:
            with np.errstate(all="ignore"):
                far = (left - right) / np.maximum(np.maximum(np.abs(left), np.abs(right)), 1e-300)
            worst = np.maximum(worst, np.nan_to_num(far, nan=2.0))
        return worst if at.ndim > 1 else worst[0]

    best = differential_evolution(
        excess, ranges, popsize=20, maxiter=200, tol=1e-4, polish=False, rng=0, vectorized=True, updating="deferred",
        callback=lambda intermediate_result: bool(intermediate_result.fun <= 0),
    )  # fmt: skip
    if best.fun > NEARLY:
        return None
    return {name: float(value[0]) for name, value in values(best.x[:, None]).items()}
