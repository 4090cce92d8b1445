"""Which sites are alike, and what tells a group of them apart; whether an outcome's spread grows with its size.

Of sites i with enough rows, slopes b_i by least squares have the variance v_i G_i, G_i the inverse of the centred
second moments. With v_i = (rss_i + 4 v)/(f_i + 4), f_i degrees of freedom and v the median of rss_i/f_i, the distance
    D_ij = (b_i - b_j)'(v_i G_i + v_j G_j)^-1 (b_i - b_j)/d
is one of F(d, f_i + f_j) where sites are alike; it is divided by the quantile that the largest of all pairs exceeds in
one table of a thousand (Bonferroni). Levels are free, as they are in the models. Groups are what average linkage joins
below 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.simulate.data.folds import Messages, Units

from .gain import PER_COEFFICIENT

CHANCE, PRIOR = 0.001, 4.0
STEEP, SURE, LEAST_SITES = 0.3, 4.0, 5
"""The spread grows where its power is steep and this many standard errors from 0, over so many sites at least."""


def groups_of(
    messages: Messages, units: Units, names: Sequence[str], columns: Sequence[str], group: np.ndarray
) -> dict[str, Any]:
    """`distances` of the sites that are `compared`, in units of what chance explains; `groups`, where there is more than
    one, perhaps of a single site, the largest first, each with the column that tells it most apart from the other rows
    of `group` and both coefficients; `power` of the target's mean that its spread grows with, or None."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform
    from scipy.special import fdtri

    S, c, q, n = (part.sum(0) for part in (messages.second, messages.cross, messages.square, messages.rows))
    varies = ~units.constant[:-1]
    size = int(varies.sum())
    centred, cross, square = _about_means(S, c, q, n, varies)
    values = np.linalg.eigvalsh(centred) if size else np.zeros((len(n), 1))
    at = np.flatnonzero((n >= PER_COEFFICIENT * messages.size) & (values[:, 0] > 1e-9 * values[:, -1]))
    compared = [names[k] for k in at]
    found: dict[str, Any] = {"compared": compared, "distances": [], "groups": [], "power": None}
    if len(at) < 2:
        return found
    inverse = np.linalg.inv(centred[at])
    slopes = (inverse @ cross[at][..., None])[..., 0]
    free = n[at] - size - 1
    noise = np.maximum(square[at] - (cross[at] * slopes).sum(1), 1e-12 * q.sum())
    noise = (noise + PRIOR * np.median(noise / free)) / (free + PRIOR)
    spread = noise[:, None, None] * inverse
    apart = slopes[:, None] - slopes
    far = (apart * np.linalg.solve(spread[:, None] + spread, apart[..., None])[..., 0]).sum(-1) / size
    pairs = len(at) * (len(at) - 1) / 2
    far /= fdtri(size, free[:, None] + free, 1 - CHANCE / pairs)
    found["distances"] = far.tolist()
    found["power"] = _power(units.mean[-1] + units.scale[-1] * c[at, 0] / n[at], noise)
    label = fcluster(linkage(squareform(far, checks=False), "average"), 1.0, "distance")
    clusters = [at[label == value] for value in range(1, label.max() + 1)]
    for each in sorted(clusters, key=lambda each: (-len(each), each[0])):
        others = np.setdiff1d(np.intersect1d(at, group), each)
        if len(others):
            both = [_fitted(*(part[k].sum(0) for part in (centred, cross, square, n))) for k in (each, others)]
            scaled = [slopes * (units.scale[-1] / units.scale[:-1])[varies] for slopes, _ in both]
            most = int((np.abs(both[0][0] - both[1][0]) / np.sqrt(both[0][1] + both[1][1])).argmax())
            found["groups"].append({
                "sites": [names[k] for k in each], "column": np.array(columns)[varies][most].item(),
                "own": float(scaled[0][most]), "others": float(scaled[1][most]),
            })  # fmt: skip
    return found


def _about_means(
    S: np.ndarray, c: np.ndarray, q: np.ndarray, n: np.ndarray, varies: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Moments of the columns that vary and of the target about the means of each site."""
    rows = np.maximum(n, 1e-300)[:, None]
    x = S[:, 0, 1:][:, varies]
    second = S[:, 1:, 1:][:, varies][:, :, varies] - x[:, :, None] * x[:, None] / rows[..., None]
    return second, c[:, 1:][:, varies] - x * c[:, :1] / rows, q - c[:, 0] ** 2 / rows[:, 0]


def _fitted(S: np.ndarray, c: np.ndarray, q: float, n: float) -> tuple[np.ndarray, np.ndarray]:
    """Least squares with a level for each site: slopes and their variances."""
    inverse = np.linalg.inv(S)
    slopes = inverse @ c
    return slopes, max(q - c @ slopes, 1e-12 * q) / max(n - len(c), 1.0) * np.diag(inverse) + 1e-300


def _power(mean: np.ndarray, noise: np.ndarray) -> float | None:
    """Of positive means (N,) the power of them that the deviations of rows about their models are proportional to."""
    if len(mean) < LEAST_SITES or (mean <= 0).any():
        return None
    x, y = np.log(mean) - np.log(mean).mean(), np.log(noise) / 2 - np.log(noise).mean() / 2
    power = (x @ y) / max(x @ x, 1e-300)
    error = np.sqrt(((y - power * x) ** 2).sum() / (len(x) - 2) / max(x @ x, 1e-300))
    return float(power) if power > max(STEEP, SURE * error) else None
