"""The best length of a single rate: of a client alone, which has no weights to choose.

ln E e_T is about a parabola in the logarithm of the rate: where one through the best rate tried and its neighbours is
lowest, factors are tried, about the best of these again if it is at an end; then finer ones, once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.simulate.moments.batched import MomentMaps
from suffice.simulate.moments.reduced import ReducedMaps

from .arrivals import arrivals
from .descent import Found

SINGLE_RATES = np.geomspace(0.02, 0.95, 10)
"""Of single rates."""
CLOSER = np.geomspace(0.86, 1 / 0.86, 5)
"""Times where a parabola through the best of these and its neighbours is lowest: tried too, again about an end."""
CLOSEST = np.geomspace(0.965, 1 / 0.965, 5)
"""Times the best of those: tried once, or peers would seem to help by what is lost here."""
AGAIN = 16
"""Times that this is done at most."""
SAFE = 0.97
"""Of the limit: no length beyond is tried."""


@dataclass(frozen=True, kw_only=True)
class SingleRates:
    """Of G groups, each a client in one choice of coordinates.

    limits     (G,) steps beyond which there is no contraction
    expansion  of `maps` at the limits
    epsilon    by client; single_precision  times are known to about one in a million: no finer factors
    """

    maps: MomentMaps | ReducedMaps
    expansion: tuple[np.ndarray, np.ndarray]
    limits: np.ndarray
    epsilon: np.ndarray
    single_precision: bool

    def improve(self, found: dict[int, Found], V: np.ndarray, times: np.ndarray, ahead: np.ndarray) -> None:
        """`found` improved, from rates V that were tried, their times and excesses just before arrival (G, S)."""
        centre = {}
        for c, one in found.items():
            if np.isfinite(one.time) and one.v is not None:
                at = int(np.argmin(times[one.group]))
                near = slice(max(at - 1, 0), at + 2)
                centre[c] = lowest(V[one.group, near], ahead[one.group, near]) or V[one.group, at]
        for _ in range(AGAIN):
            if not centre:
                break
            centre = self._nearby(found, centre, CLOSEST if self.single_precision else CLOSER)
        if self.single_precision:
            return
        alone = {c: float(one.v[0]) for c, one in found.items() if np.isfinite(one.time) and one.v is not None}
        if alone:
            self._nearby(found, alone, CLOSEST)

    def _nearby(self, found: dict[int, Found], centre: dict[int, float], factors: np.ndarray) -> dict[int, float]:
        """`found` improved by factors times single rates; those whose best is at an end, with it."""
        best = list(centre)
        groups, who, v = np.array([found[c].group for c in best]), np.arange(len(best)), np.array([*centre.values()])
        share = (v / self.limits[groups])[:, None, None, None]
        M1, M2 = (M[groups] for M in self.expansion)
        most, maps = [int(np.ceil(found[c].time)) for c in best], self.maps[groups]
        expansion = share.astype(M1.dtype) * M1, (share**2).astype(M1.dtype) * M2
        lengths, _ = arrivals(maps, v[:, None, None], factors, self.epsilon[best], who, most, expansion)
        lengths = np.where(share[..., 0] * factors < SAFE, lengths, np.inf)[:, 0]
        ends = {}
        for j, c in enumerate(best):
            at = int(np.argmin(lengths[j]))
            if lengths[j, at] < found[c].time:
                found[c] = Found(time=float(lengths[j, at]), group=found[c].group, v=factors[at] * v[j, None])
                if at in (0, len(factors) - 1):
                    ends[c] = factors[at] * v[j]
        return ends


def lowest(v: np.ndarray, e: np.ndarray) -> float | None:
    """Where the parabola ln e over ln v through three points is lowest; None where it is not between their ends."""
    if len(v) < 3 or not np.isfinite(e).all():
        return None
    x, y = np.log(v), np.log(np.maximum(e, 1e-300))
    bend, slope, _ = np.polyfit(x - x[1], y, 2)
    at = float("inf") if bend <= 0 else -slope / (2 * bend) + x[1]
    return float(np.exp(at)) if x.min() < at < x.max() else None
