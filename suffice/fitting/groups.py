"""Groups of sites that are alike, what tells a group apart, and whether an outcome's spread grows with its size.

Of sites i with enough rows, slopes b_i by least squares have the variance v_i G_i, G_i the inverse of the centred
second moments. With v_i = (rss_i + 4 v)/(f_i + 4), f_i degrees of freedom and v the median of rss_i/f_i, the distance
    D_ij = (b_i - b_j)'(v_i G_i + v_j G_j)^-1 (b_i - b_j)/d
is one of F(d, f_i + f_j) where sites are alike; it is divided by the quantile that the largest of all pairs exceeds in
one table of a thousand (Bonferroni). Levels are free, as they are in the models. Groups are what average linkage joins
below 1. With A = G^-1/v the middle is A_i (A_i + A_j)^-1 A_j, in which a column that does not vary at a site counts
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.simulate.data.folds import Sums

from .gain import PER_COEFFICIENT
from .suspects import judging, residual, typically_scaled

CHANCE, PRIOR = 0.001, 4.0
STEEP, SURE, LEAST_SITES = 0.3, 4.0, 5
"""The spread grows where its power is steep and this many standard errors from 0, over so many sites at least."""


def groups_of(sums: Sums, names: Sequence[str], columns: Sequence[str], group: np.ndarray) -> dict[str, Any]:
    """`distances` of the sites that are `compared`, in units of what chance explains; `groups`, where there are
    several, perhaps of a single site, the largest first, each with the column that tells it most apart from the other
    rows of `group` and both coefficients."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform
    from scipy.special import fdtri

    found: dict[str, Any] = {"compared": [], "distances": [], "groups": []}
    scaled = typically_scaled(sums)
    if scaled is None or not columns:
        return found
    (n, mean, second), units = scaled[0].sites, scaled[1]
    at = judging(n, n >= PER_COEFFICIENT * mean.shape[1])
    found["compared"] = [names[k] for k in at]
    if len(at) < 2:
        return found
    n, second, beta = n[at], second[at], residual(second[at], n[at])
    rss, free, size = np.einsum("kp,kpq,kq->k", beta, second, beta), n - mean.shape[1], len(columns)
    noise = np.maximum(rss, 1e-12 * second[:, -1, -1].max())
    noise = (noise + PRIOR * np.median(noise / free)) / (free + PRIOR)
    A, far = second[:, :-1, :-1] / noise[:, None, None], np.zeros((len(at),) * 2)
    for i in range(len(at) - 1):
        off, both = beta[i + 1 :, :-1] - beta[i, :-1], A[i] + A[i + 1 :]
        both = both + (1e-9 * np.diagonal(both, axis1=1, axis2=2) + 1e-300)[:, :, None] * np.eye(size)
        half = np.linalg.solve(both, (A[i + 1 :] @ off[..., None]))[..., 0]
        chance = fdtri(size, free[i + 1 :] + free[i], 1 - 2 * CHANCE / len(at) / (len(at) - 1))
        far[i, i + 1 :] = np.maximum(((off @ A[i]) * half).sum(1), 0.0) / size / chance
    far += far.T
    found["distances"] = far.tolist()
    label = fcluster(linkage(squareform(far, checks=False), "average"), 1.0, "distance")
    clusters = [np.flatnonzero(label == value) for value in range(1, label.max() + 1)]
    for each in sorted(clusters, key=lambda each: (-len(each), each[0])):
        others = np.setdiff1d(np.flatnonzero(np.isin(at, group)), each)
        if len(others):
            most, own, rest = _told_apart([(second[k].sum(0), n[k].sum()) for k in (each, others)])
            unit = float(units[-1] / units[most])
            entry = {"sites": [names[k] for k in at[each]], "column": columns[most]}
            found["groups"].append(entry | {"own": unit * own, "others": unit * rest})
    return found


def _told_apart(parts: Sequence[tuple[np.ndarray, float]]) -> tuple[int, float, float]:
    """The column whose slopes, of the products and rows of two sets of sites, are the most standard errors apart; each
    site has its own level."""
    slopes, variance = [], 0.0
    for second, n in parts:
        varies = np.diagonal(second)[:-1] > 1e-9 * n
        inverse = np.linalg.pinv(second[:-1, :-1], hermitian=True, rcond=1e-12)
        slopes.append(inverse @ second[:-1, -1])
        noise = max(second[-1, -1] - second[:-1, -1] @ slopes[-1], 1e-12 * second[-1, -1]) / max(n - varies.sum(), 1.0)
        variance = variance + np.where(varies, noise * np.diagonal(inverse) + 1e-300, np.inf)
    most = int((np.abs(slopes[0] - slopes[1]) / np.sqrt(variance)).argmax())
    return most, float(slopes[0][most]), float(slopes[1][most])


def spread_power(mean: np.ndarray, noise: np.ndarray) -> float | None:
    """The power of the means (N,), none negative, that the deviations of rows about models, of variance `noise`
    (N,), are proportional to; None where none is sure."""
    chosen = (noise > 0) & (mean != 0)  # of no held-out row, or all 0
    mean, noise = mean[chosen], noise[chosen]
    if len(mean) < LEAST_SITES or (mean < 0).any():
        return None
    x, y = np.log(mean) - np.log(mean).mean(), np.log(noise) / 2 - np.log(noise).mean() / 2
    power = (x @ y) / max(x @ x, 1e-300)
    error = np.sqrt(((y - power * x) ** 2).sum() / (len(x) - 2) / max(x @ x, 1e-300))
    return float(power) if power > max(STEEP, SURE * error) else None
