"""Who is like whom: groups of sites, and suspects, which are rows and sites that no other explains.

Sites are compared by their messages, in units of the median over sites of the deviation of a site's rows, and by slopes
b_j, least squares with half a row of ridge. Levels are free, as any rule must leave them that takes levels far apart.
The loss of a site is the median of its folds', so that one wild row moves neither this nor, as another judge is nearer,
the losses of others.
- A *fold* is suspected that loses, by the slopes by which its site loses least, where own losses count four times, 30
  times the median of its site's, two rows of usual loss added to each. What follows is without it.
- *Groups* are what average linkage joins below 1 of the distances, F(d, f_i + f_j) where sites are alike,
      D_ij = (b_i - b_j)'(v_i G_i + v_j G_j)^-1 (b_i - b_j)/d,   v_i = (rss_i + 4 v)/(f_i + 4),
  in units of the quantile that the largest of all pairs exceeds in one table of a thousand (Bonferroni); G_i is the
  inverse of the centred second moments, f_i degrees of freedom, v the median of rss_i/f_i. With A = G^-1/v the middle
  is A_i (A_i + A_j)^-1 A_j, in which a column that does not vary at a site counts nothing.
- A *site* is as far as its loss by the nearest other one, beside the median of this over sites, or of two beside v_i at
  either. It is suspected from 30 on, since sites and their noise differ, or from 900 where all have few rows; if it is
  in no group, but over half of the sites are, from 4 (1 + 10/n) on, n its rows. One of few rows is in no group, judges
  nobody and has no level of its own: the median is then that of all pairs of judges, levels included.
- A *level*, in the target or a column, is suspected a thousand deviations from the sites' median, and a thousand times
  as far as half of them: such numbers leave the others no digits. Of two sites both are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.simulate.data.folds import CONSTANT, FOLDS, Sums

from .gain import PER_COEFFICIENT

ANY, SITE, FEW = 30.0, 4.0, 10.0
ALIKE = 0.001
FAR = 1e3
HALF_A_ROW, PRIOR = 0.5, 4.0
JUDGES = 200
"""So many sites, those of most rows, judge the others, and are compared in pairs."""
LEAST = 1e-8
"""A target of deviation 1 has at least this noise: what is below is rounding."""
LEAST_SQUARE = 1e-10
"""A column of deviation 1 at half of the sites varies at one whose mean square is above this."""


@dataclass(frozen=True, kw_only=True)
class Likeness:
    """Distances `far` (J, J) of the sites `at` (J,), none where fewer than two have rows enough, and the number of each
    one's `group`. By which factor the root mean square residuals of suspected `folds` (N, F) and `sites` (N,) are
    larger than those of the rest, 0 where nothing is suspected, and by which `units` (N,) the deviation of a site's
    rows differs in the column in which it is most unusual, or how many deviations away its level is."""

    at: np.ndarray
    far: np.ndarray
    group: np.ndarray
    folds: np.ndarray
    sites: np.ndarray
    units: np.ndarray

    @classmethod
    def of(cls, sums: Sums, counts: np.ndarray, kept: np.ndarray | bool = False) -> Likeness:
        """The likeness of sites by messages in any units; those `kept` (N,) are no suspects; `counts` (N,) are rows."""
        from scipy.cluster.hierarchy import fcluster, linkage
        from scipy.spatial.distance import squareform

        scaled, _ = typically_scaled(sums)
        n, _, second = scaled.sites
        enough, several = n >= PER_COEFFICIENT * second.shape[1], (counts >= 2 * FOLDS)[:, None]
        many = enough.sum() > 1
        at = np.flatnonzero(enough if many else n > min(1.0, n.max() - 1.0))  # of sites of one row all
        at = np.sort(at[np.argsort(-n[at], kind="stable")][:JUDGES])
        loss, each, _ = _losses(scaled, _residual(second[at], n[at]), several)
        each[at, np.arange(len(at))] *= SITE  # own slopes may have learnt a wild row
        least, typical = each.argmin(1)[:, None, None], max(np.median(each[at].min(1)), LEAST)
        many = many and typical > LEAST
        loss = (np.take_along_axis(loss, least, 2)[..., 0] + 2 * typical) / (scaled.rows + 2)
        ratio = loss / _median(loss, scaled.rows > 0)[:, None] * (typical > LEAST) * several
        folds = np.where((ratio > ANY) & ~np.reshape(kept, (-1, 1)) & (scaled.rows > 0), np.sqrt(ratio), 0.0)[:, :FOLDS]
        scaled = scaled.without(folds > 0)
        n, mean, second = scaled.sites
        slopes = _residual(second[at], n[at])
        far, noise = _distances(slopes, n[at], second[at])
        group, far = np.arange(len(at)), far if many else far[:0, :0]
        if many:
            group = fcluster(linkage(squareform(far, checks=False), "average"), 1.0, "distance") - 1
        lone = np.ones(len(n), bool)
        lone[at] = np.bincount(group)[group] == 1
        limit = np.where(
            lone & (lone[at].mean() < 0.5 or (many and len(n) == 2)), SITE * (1 + FEW / n), ANY if many else ANY**2
        )
        ratio = _ratios(*_losses(scaled, slopes, several)[1:], at, enough, noise)
        off = np.abs(mean - np.median(mean, axis=0))
        wide = FAR * np.maximum(1.0, np.median(off, axis=0) * (len(n) > 2))  # of two, both are as far
        sites = np.maximum(np.where(ratio > limit, np.sqrt(ratio), 0.0), (off / wide * (off > wide)).max(1))
        squares = np.diagonal(second, axis1=1, axis2=2) / n[:, None]
        units = np.exp(np.abs(np.log(squares, where=several & (squares > LEAST**2), out=0 * squares)) / 2)
        units = np.maximum(units, off * (off > wide)).max(1)
        return cls(at=at, far=far, group=group, folds=folds, sites=np.where(kept, 0.0, sites), units=units)


def typically_scaled(sums: Sums) -> tuple[Sums, np.ndarray]:
    """The sums about the median of the sites' means, in units (p,) of the median of their deviations; all 0 where half
    of the sites have one value of the target."""
    n = sums.sites[0]
    n, mean, second = (part[n > min(1.0, n.max() - 1.0)] for part in sums.sites)
    squares = np.maximum(np.diagonal(second, axis1=1, axis2=2), 0.0) / n[:, None]
    squares = np.where(squares > (CONSTANT * mean) ** 2, squares, 0.0)  # .3 as a mean of .3
    typical = np.sort(squares, axis=0)[(len(n) - 1) // 2]  # of two sites the one of smaller deviations
    varies = typical[-1] > 0
    typical = np.where(typical > 0, typical, squares.mean(0) + mean.var(0))
    unit = np.sqrt(np.where(typical > 0, typical, 1.0))
    mean, products = (sums.mean - np.median(mean, axis=0)) / unit, sums.products / unit / unit[:, None]
    return Sums(rows=sums.rows, mean=varies * mean, products=varies * products), unit


def _residual(second: np.ndarray, n: np.ndarray) -> np.ndarray:
    """(J, p): minus least-squares slopes, then 1, so that products of n (J,) rows about their mean have the residuals
    of rows @ these. The ridge is half a row of the site, or of the others where its own hardly vary."""
    own = np.diagonal(second, axis1=1, axis2=2)[:, :-1] / n[:, None]
    ridge = HALF_A_ROW * np.where(own > LEAST_SQUARE, np.minimum(own, 1.0), 1.0)
    whole = second[:, :-1, :-1] + ridge[..., None] * np.eye(ridge.shape[1])
    slopes = np.linalg.solve(whole, second[:, :-1, -1:])[..., 0]
    return np.column_stack((-slopes, np.ones(len(n))))


def _losses(sums: Sums, slopes: np.ndarray, several: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Losses of each fold (N, F + 1, J) by the judges' `slopes` (J, p), those of a site per row (N, J), and its level
    (N, J): medians over folds, or means where rows are not `several`."""
    rows = sums.rows[..., None]
    level = sums.mean @ slopes.T
    middle = _median(level, rows > 0)
    outer = (slopes[:, :, None] * slopes[:, None]).reshape(len(slopes), -1)
    loss = np.maximum(sums.products.reshape(*sums.rows.shape, -1) @ outer.T, 0.0)  # below 0 only by rounding
    loss += rows * (level - middle[:, None]) ** 2
    mean = loss.sum(1) / np.maximum(rows.sum(1), 1.0)
    return loss, np.where(several, _median(loss / np.maximum(rows, 1.0), rows > 0), mean), middle


def _distances(slopes: np.ndarray, n: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """D (J, J) in units of what chance explains, and v (J,), from `_residual`, rows (J,) and products."""
    from scipy.special import fdtri

    size = slopes.shape[1] - 1
    free = np.maximum(n - size - 1, 1.0)
    rss = np.maximum(np.einsum("kp,kpq,kq->k", slopes, second, slopes), 1e-12 * second[:, -1, -1].max())
    noise = (rss + PRIOR * np.median(rss / free)) / (free + PRIOR) + LEAST
    A, far = second[:, :-1, :-1] / noise[:, None, None], np.zeros((len(n),) * 2)
    for i in range(len(n) - 1):
        off, both = slopes[i + 1 :, :-1] - slopes[i, :-1], A[i] + A[i + 1 :]
        both = both + (1e-9 * np.diagonal(both, axis1=1, axis2=2) + 1e-300)[:, :, None] * np.eye(size)
        half = np.linalg.solve(both, (A[i + 1 :] @ off[..., None]))[..., 0]
        chance = fdtri(size, free[i + 1 :] + free[i], 1 - 2 * ALIKE / len(n) / (len(n) - 1))
        far[i, i + 1 :] = np.maximum(((off @ A[i]) * half).sum(1), 0.0) / size / chance
    return far + far.T, noise


def _ratios(each: np.ndarray, level: np.ndarray, at: np.ndarray, enough: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """How far sites are (N,), from losses and levels (N, J) by the slopes of the sites `at` (J,), and v (J,)."""
    judge = np.arange(len(at))
    losses = np.stack((each + (level - level[at, judge]) ** 2, each))  # with the judge's level, and with its own
    with_levels = np.median(losses[0, at])
    losses[:, at, judge] = np.inf
    nearest = losses.min(2)
    if len(at) == 1:
        return np.zeros(len(each))
    if len(each) == 2:
        return np.full(2, (nearest[1] / noise).max())
    usual = np.where(enough, np.median(nearest[1, at]), with_levels)
    return np.where(enough, nearest[1], nearest[0]) / np.maximum(usual, LEAST) * (usual > LEAST)


def _median(values: np.ndarray, there: np.ndarray) -> np.ndarray:
    """The median over those folds (axis 1) that are there."""
    return np.nanmedian(np.where(there, values, np.nan), axis=1)
