"""Suspects are rows and sites that no other explains: a mistyped number, a wrong unit, turned signs, permuted labels.

Sites are compared by their messages, in units of the median over sites of the deviation of a site's rows, which one
faulty site cannot move; b_j are the slopes of site j, least squares with half a row of ridge. With q, c and S the
products about the mean of n rows, the loss (q - 2 c'b + b'S b)/n by slopes b leaves a level free, as any rule must that
takes levels far apart. t is the median over sites of their losses by own slopes.
- A *fold* is suspected whose loss, by the slopes of its site without it and one more fold (one of these pairs leaves
  out a second bad fold), is 25 times the median of its site's folds, and beyond what scatters: above the 1 - 0.1/N
  quantile of Student's t times the spread of the logarithms. What follows is without these folds.
- A *site* is as far as its loss by the nearest site, of two the larger loss of one by the other's slopes: no member of
  a group is far, since it fits another. It is suspected where this, or its ratio to the loss by own slopes, in which
  the site's noise cancels, is beside the sites' median four times what chance makes of the mean square of so many rows,
  and beyond what scatters. Where sites are unrelated or differ in noise, all are spread and nobody stands out.
- A site with *few rows* judges nobody, and has no level of its own either: its rows are off by the judge's level too,
  which counts t/(t + a), a the median square of how far judges' levels are from each other.
- A *level*, in the target or a column, is suspected a thousand deviations from the sites' median and fifty times as far
  as half of them: such numbers leave the others no digits.
Of *two* sites both are suspected where the loss by the other's slopes is four times that by own ones at either, more
where rows are few, or where levels are two thousand deviations apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from suffice.simulate.data.folds import CONSTANT, FOLDS, Sums

from .gain import PER_COEFFICIENT

FOLD, SITE, TWO = 25.0, 4.0, 4.0
CHANCE, FAR, BEYOND = 0.1, 1e3, 50.0
HALF_A_ROW = 0.5
JUDGES = 200
"""So many sites, those of most rows, judge the others, and are compared in pairs."""
LEAST = 1e-8
"""A target of deviation 1 has at least this noise: what is below is rounding."""
LEAST_SQUARE = 1e-10
"""A column of deviation 1 at half of the sites varies at one whose mean square is above this."""


def typically_scaled(sums: Sums) -> tuple[Sums, np.ndarray] | None:
    """The sums about the median of the sites' means, in units (p,) of the median of their deviations; None where half
    of the sites have one value of the target."""
    n, mean, second = (part[sums.rows.sum(1) > 1] for part in sums.sites)
    if not len(n):
        return None
    squares = np.maximum(np.diagonal(second, axis1=1, axis2=2), 0.0) / n[:, None]
    squares = np.where(squares > (CONSTANT * mean) ** 2, squares, 0.0)  # .3 as a mean of .3
    # the lower median: of two sites the one of smaller deviations
    unit, pooled = np.sqrt(np.sort(squares, axis=0)[(len(n) - 1) // 2]), np.sqrt(squares.mean(0) + mean.var(0))
    if not unit[-1]:
        return None
    unit = np.where(unit > 0, unit, np.where(pooled > 0, pooled, 1.0))
    products = sums.products / unit / unit[:, None]
    return Sums(rows=sums.rows, mean=(sums.mean - np.median(mean, axis=0)) / unit, products=products), unit


def own_losses(sums: Sums) -> np.ndarray:
    """Losses (N, F), summed, by own slopes without this fold and one more, the least over this."""
    rows, mean, products = (part[:, :FOLDS] for part in (sums.rows, sums.mean, sums.products))
    own = np.full(rows.shape, np.inf)
    for pair in combinations(range(FOLDS), 2):
        rest = [f for f in range(FOLDS) if f not in pair]  # no differences: a wrong row may be 1e9 times the others
        slopes = residual(products[:, rest].sum(1), rows[:, rest].sum(1))[:, None]
        off = (mean * slopes).sum(-1)
        off = off - _median(off, rows > 0)[:, None]
        loss = (slopes * (products @ slopes[..., None])[..., 0]).sum(-1) + rows * off**2
        own[:, pair] = np.minimum(own, np.maximum(loss, 0.0))[:, pair]  # below 0 only by rounding
    return own


@dataclass(frozen=True, kw_only=True)
class Suspects:
    """`folds` (N, F) and `sites` (N,) that are suspected, by which factor their root mean square residuals are larger
    than those of the rest, and by which `units` (N,) the deviation of a site's rows differs in the column in which it
    is most unusual."""

    folds: np.ndarray
    sites: np.ndarray
    fold_times: np.ndarray
    site_times: np.ndarray
    units: np.ndarray

    @classmethod
    def among(cls, sums: Sums, counts: np.ndarray, kept: np.ndarray | bool = False) -> Suspects:
        """The suspects of all sites' messages in any units, but those `kept` (N,); `counts` (N,) are the sites'
        rows."""
        ones, found = np.ones((len(counts), FOLDS)), typically_scaled(sums)
        wild, far, apart, times, units = ones < 0, ones[:, 0] < 0, ones, ones[:, 0], ones[:, 0]
        if found is not None:
            apart, wild = _folds(found[0], counts >= 2 * FOLDS)
            found = typically_scaled(sums.without(wild))
        if found is not None:
            n, mean, second = found[0].sites
            times, far = _sites(found[0], counts >= PER_COEFFICIENT * mean.shape[1])
            ratio = np.diagonal(second, axis1=1, axis2=2) / np.maximum(n, 1.0)[:, None]
            units = np.exp(np.abs(np.log(ratio, where=ratio > LEAST**2, out=0 * ratio)).max(1) / 2)
        return cls(
            folds=wild & ~np.reshape(kept, (-1, 1)), sites=far & ~np.asarray(kept), fold_times=apart, site_times=times,
            units=np.where(counts >= 2 * FOLDS, units, 1.0),
        )  # fmt: skip


def judging(n: np.ndarray, enough: np.ndarray) -> np.ndarray:
    """The sites of most rows, in their order, among those with `enough` (N,) rows."""
    at = np.argsort(-n * enough, kind="stable")[: min(int((enough & (n > 0)).sum()), JUDGES)]
    return np.sort(at)


def residual(second: np.ndarray, n: np.ndarray) -> np.ndarray:
    """(..., p): minus least-squares slopes, then 1, so that products of n (...,) rows about their mean have the
    residuals of rows @ these. The ridge is half a row of the site, or of the others where its own hardly vary."""
    own = np.diagonal(second, axis1=-2, axis2=-1)[..., :-1] / np.maximum(n, 1.0)[..., None]
    ridge = HALF_A_ROW * np.where(own > LEAST_SQUARE, np.minimum(own, 1.0), 1.0)
    whole = second[..., :-1, :-1] + ridge[..., None] * np.eye(ridge.shape[-1])
    slopes = np.linalg.solve(whole, second[..., :-1, -1:])[..., 0]
    return np.concatenate((-slopes, np.ones((*slopes.shape[:-1], 1))), axis=-1)


def _folds(sums: Sums, enough: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By which factor each fold is farther than the median of its site's, and which are suspected (N, F)."""
    n, there, own = sums.held_out, (sums.held_out > 0) & enough[:, None], own_losses(sums)
    if not there.any():
        return np.ones(n.shape), there
    held = there.any(1)
    typical = np.median(own[held].sum(1) / n[held].sum(1))
    logs = np.log((own + 2 * typical) / (n + 2) + LEAST)
    apart = np.where(there, logs - _median(logs, there)[:, None], 0.0)
    return np.exp(apart / 2), apart > max(np.log(FOLD), _beyond(apart[there], int(there.sum()) - int(held.sum())))


def _sites(sums: Sums, enough: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By which factor each site is farther than others, and which are suspected (N,)."""
    from scipy.special import chdtri

    n, mean, second = sums.sites
    enough = enough if (enough & (n > 0)).sum() > 1 else n > 1
    at, two, size = judging(n, enough), len(n) == 2, mean.shape[1]
    far, times = np.zeros(len(n), bool), np.ones(len(n))
    if len(at) > 1:
        slopes, column = residual(second[at], n[at]), np.arange(len(at))
        loss = second.reshape(len(n), -1) @ (slopes[:, :, None] * slopes[:, None]).reshape(len(at), -1).T
        off = mean @ slopes.T
        off = (off - off[at, column]) ** 2
        own = (own_losses(sums).sum(1) + sums.products[:, FOLDS, -1, -1])[at] / n[at]
        typical = (own.min() if two else np.median(own)) + LEAST
        share = typical / (typical + np.median(off[at][~np.eye(len(at), dtype=bool)]))
        loss = np.maximum(loss, 0.0) / np.maximum(n, 1.0)[:, None] + np.where(enough, 0.0, share)[:, None] * off
        loss[at] = np.maximum(loss[at], loss[at].T)  # two that fit each other, each by the other's slopes
        loss[at, column] = np.inf
        nearest = np.log(loss.min(1) + typical) - np.log(2 * typical)
        noise = np.log(own + typical) - np.log(2 * typical)
        if two:  # beside its own slopes: by the other's alone there is nothing to compare with; few rows judge badly
            far[:] = (nearest - noise).max() > np.log(TWO) * (1 + PER_COEFFICIENT * size / n.min())
        else:
            limit = np.log(SITE * chdtri(n, CHANCE / len(n)) / np.maximum(n, 1.0))
            nearest -= np.median(nearest[at])
            far = nearest > np.maximum(limit, _beyond(nearest[at], len(at) - 2))
            beside = nearest[at] - noise + np.median(noise - nearest[at])
            far[at] |= (beside > np.maximum(limit[at], _beyond(beside, len(at) - 2))) & (nearest[at] > np.log(2.0))
        times = np.exp(np.maximum(nearest, 0.0) / 2)
    off = np.abs(mean - np.median(mean[n > 0], axis=0))
    limit = np.maximum(FAR, BEYOND * np.median(off[n > 0], axis=0) * (len(off) > 2))  # of two, both are as far
    wide = (off > limit).any(1) & (n > 0)
    far |= wide.any() if two else wide
    return np.where(wide, np.maximum(times, (off / limit).max(1)), times), far & (n > 0)


def _beyond(apart: np.ndarray, free: int) -> float:
    """A bound that the largest of these deviations from their median exceeds with probability `CHANCE` at most."""
    from scipy.special import stdtrit

    return float(stdtrit(max(free, 2), 1 - CHANCE / len(apart)) * 1.4826 * np.median(np.abs(apart)))


def _median(values: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Over the folds (axis 1) that are there; 0 where none is."""
    return np.nanmedian(np.where(there, values, np.where(there.any(1, keepdims=True), np.nan, 0.0)), axis=1)
