"""Which sites are alike, and what tells a group of them apart; whether an outcome's spread grows with its size.

Of sites i with enough rows, slopes b_i by least squares have the variance v_i G_i, G_i the inverse of the centred
second moments. With v_i = (rss_i + 4 v)/(f_i + 4), f_i degrees of freedom and v the median of rss_i/f_i, the distance
    D_ij = (b_i - b_j)'(v_i G_i + v_j G_j)^-1 (b_i - b_j)/d
is one of F(d, f_i + f_j) where sites are alike; it is divided by the quantile that the largest of all pairs exceeds in
one table of a thousand (Bonferroni). Levels are free, as they are in the models. Groups are what average linkage joins
below 1. A column that does not vary at a site says nothing of it: it would only move the site's level.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.simulate.data.folds import LEAST_VARIANCE, Messages, Units

from .gain import PER_COEFFICIENT

CHANCE, PRIOR = 0.001, 4.0
MOST_COMPARED = 200
"""So many sites, those of most rows, are compared in pairs."""
STEEP, SURE, LEAST_SITES = 0.3, 4.0, 5
"""The spread grows where its power is steep and this many standard errors from 0, over so many sites at least."""


def groups_of(
    messages: Messages, units: Units, names: Sequence[str], columns: Sequence[str], group: np.ndarray
) -> dict[str, Any]:
    """`distances` of the sites that are `compared`, in units of what chance explains; `groups`, where there are
    several, perhaps of a single site, the largest first, each with the column that tells it most apart from the other
    rows of `group` and both coefficients; `power` of the target's mean that its spread grows with, or None."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform
    from scipy.special import fdtri

    S, c, q, n = (part.sum(0) for part in (messages.second, messages.cross, messages.square, messages.rows))
    moments = _about_means(S, c, q, n)
    enough = (n >= PER_COEFFICIENT * messages.size) & _solvable(moments[0], n)
    at = np.sort(np.argsort(-n * enough, kind="stable")[: min(int(enough.sum()), MOST_COMPARED)])
    compared = [names[k] for k in at]
    found: dict[str, Any] = {"compared": compared, "distances": [], "groups": [], "power": None}
    if len(at) < 2 or not columns:
        return found
    slopes, inverse, varies = _fitted(moments[0][at], moments[1][at], n[at])
    free = n[at] - varies.sum(1) - 1
    noise = np.maximum(moments[2][at] - (moments[1][at] * slopes).sum(1), 1e-12 * q.sum())
    noise = (noise + PRIOR * np.median(noise / free)) / (free + PRIOR)
    far, spread = np.zeros((len(at), len(at))), noise[:, None, None] * inverse
    for i in range(len(at) - 1):
        both = varies[i] & varies[i + 1 :]  # a column that one of them does not have says nothing
        apart = np.where(both, slopes[i + 1 :] - slopes[i], 0.0)
        sums = np.where(both[:, :, None] & both[:, None], spread[i + 1 :] + spread[i], np.eye(both.shape[1]))
        squares, size = (apart * np.linalg.solve(sums, apart[..., None])[..., 0]).sum(1), np.maximum(both.sum(1), 1)
        chance = 2 * CHANCE / len(at) / (len(at) - 1)
        far[i, i + 1 :] = squares / size / fdtri(size, free[i + 1 :] + free[i], 1 - chance)
    far += far.T
    found["distances"] = far.tolist()
    found["power"] = _power(units.mean[-1] + units.scale[-1] * c[at, 0] / n[at], noise)
    label = fcluster(linkage(squareform(far, checks=False), "average"), 1.0, "distance")
    clusters = [at[label == value] for value in range(1, label.max() + 1)]
    for each in sorted(clusters, key=lambda each: (-len(each), each[0])):
        others = np.setdiff1d(np.intersect1d(at, group), each)
        if len(others):
            most, own, rest = _told_apart(
                *(np.array([part[k].sum(0) for k in (each, others)]) for part in (*moments, n))
            )
            unit = float(units.scale[-1] / units.scale[most])
            entry = {"sites": [names[k] for k in each], "column": columns[most]}
            found["groups"].append(entry | {"own": unit * own, "others": unit * rest})
    return found


def _about_means(S: np.ndarray, c: np.ndarray, q: np.ndarray, n: np.ndarray) -> list[np.ndarray]:
    """Moments of columns and target about the means of each site."""
    rows, x = np.maximum(n, 1e-300)[:, None], S[:, 0, 1:]
    second = S[:, 1:, 1:] - x[:, :, None] * x[:, None] / rows[..., None]
    return [second, c[:, 1:] - x * c[:, :1] / rows, q - c[:, 0] ** 2 / rows[:, 0]]


def _without_constants(S: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Second moments (N, d, d) in which columns that do not vary have those of 1, and which vary (N, d)."""
    varies = np.diagonal(S, axis1=1, axis2=2) > LEAST_VARIANCE * n[:, None]
    return np.where(varies[:, :, None] & varies[:, None], S, n[:, None, None] * np.eye(S.shape[1])), varies


def _solvable(S: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Which sites' (N,) columns do not depend on each other, but for those that do not vary."""
    values = np.linalg.eigvalsh(_without_constants(S, n)[0]) if S.shape[1] else np.zeros((len(n), 1))
    return values[:, 0] > 1e-9 * values[:, -1]


def _fitted(S: np.ndarray, c: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Least squares: slopes (N, d), inverse second moments (N, d, d), and which columns vary (N, d)."""
    S, varies = _without_constants(S, n)
    inverse = np.linalg.inv(S)
    return (inverse @ np.where(varies, c, 0.0)[..., None])[..., 0], inverse, varies


def _told_apart(S: np.ndarray, c: np.ndarray, q: np.ndarray, n: np.ndarray) -> tuple[int, float, float]:
    """The column whose slopes of two sets of sites are the most standard errors apart; each site has its own level."""
    slopes, inverse, varies = _fitted(S, c, n)
    noise = np.maximum(q - (c * slopes).sum(1), 1e-12 * q) / np.maximum(n - varies.sum(1), 1.0)
    error = np.sqrt((noise[:, None] * np.diagonal(inverse, axis1=1, axis2=2)).sum(0)) + 1e-300
    most = int(np.where(varies.all(0), np.abs(slopes[0] - slopes[1]) / error, -1.0).argmax())
    return most, float(slopes[0, most]), float(slopes[1, most])


def _power(mean: np.ndarray, noise: np.ndarray) -> float | None:
    """Of positive means (N,) the power of them that the deviations of rows about their models are proportional to."""
    if len(mean) < LEAST_SITES or (mean <= 0).any():
        return None
    x, y = np.log(mean) - np.log(mean).mean(), np.log(noise) / 2 - np.log(noise).mean() / 2
    power = (x @ y) / max(x @ x, 1e-300)
    error = np.sqrt(((y - power * x) ** 2).sum() / (len(x) - 2) / max(x @ x, 1e-300))
    return float(power) if power > max(STEEP, SURE * error) else None
