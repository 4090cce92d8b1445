"""Which sites and folds do not look like the rest: a wrong unit, turned signs, permuted labels, a mistyped number.

Suspects are named from messages alone, by ratios of losses, which `robust` then puts to a vote. Columns and target are
in units of the median over sites of the deviation of a site's rows, which one faulty site cannot move; the noise and
the slopes below are in these units. Of fold f of site j, n rows with means (x, y) and centred products (S, c, q), the
loss by slopes b leaves the site's level free,
    L_jf(b) = q - 2 c'b + b'S b + n (u_jf - median_g u_jg)^2,   u_jf = y - x'b,
since any rule must take levels that are far apart. The slopes of a site are least squares about the means of its folds
with half a row of ridge.
With t the median over sites of the loss per row, logarithms log (L + 2 t)/(n + 2) are compared.
- A *fold* is suspected where its logarithm, by the nearest of all other sites and of own slopes without it and one more
  fold (one of these pairs leaves out a second bad fold), is (1 + 40/n^2) log 25 above the median of its site's folds,
  and beyond what scatters: above the 1 - 0.1/N quantile of Student's t times the spread.
- Two *sites* are as far from each other as the larger of the medians over folds of two logarithms: of the one by the
  slopes of the other. Only sites with rows enough judge, unless there are fewer than two. A site is suspected where the
  nearest site, or the difference between this and its own slopes, in which the site's noise cancels, is (1 + 8/n^2)
  log 5 above the sites' median, and beyond what scatters likewise. So no member of a group is: it fits another.
- *Few rows* are no match for each other: `_few_rows` judges each by the sites with rows enough, without the level that
  is free above. A row that is only a little far may still move the others' models much, where its predictors are far
  too: of sites of five rows, the farthest is put to the vote of the others, who have to gain without it.
- A site's *level*, in the target or a column, is the median of its folds' means; it is suspected where it is a thousand
  deviations of a site's rows (or median distances, where no site's rows vary) from the sites' median, and fifty times
  as far as half of them: such numbers leave the others no digits.
Of *two* sites both are suspected where the logarithm by the other's slopes is (1 + 3 d/n) log 4 above that by own ones
at either, for d coefficients, n the rows of the site of fewer and t the lesser of two losses, or where their levels are
two thousand deviations apart. Medians over folds ignore one bad fold of five. Where sites are unrelated, or differ in
noise, all logarithms are spread and nobody stands out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from suffice.simulate.data.folds import CONSTANT, FOLDS, Fold
from suffice.support.errors import InputError
from suffice.support.parse import nearest

from .gain import PER_COEFFICIENT

SITE, FOLD, LITTLE, TWO = np.log(5.0), np.log(25.0), np.log(2.0), np.log(4.0)
ROW, LITTLE_ROW = np.log(100.0), np.log(3.0)
CHANCE = 0.1
FAR, BEYOND = 1e3, 50.0
"""A level is suspected so many deviations of a site's rows, and median distances of levels, from the median."""
LITTLE_BESIDE = 1e-9
"""A deviation below this share of that of all rows, or of the largest distance of levels, is none."""
HALF_A_ROW = 0.5
JUDGES = 100
"""So many sites, those of most rows, judge the others."""
LEAST = 1e-8
"""A target of deviation 1 has at least this noise: what is below is rounding."""


Cells = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Suspects:
    """`sites` (N,) and `folds` (N, F) that are suspected, and by which factor their root mean square residuals are
    larger than those of the rest; `units` (N,) by which their deviations differ. Of two sites both are suspected: which
    is wrong, nobody can tell. `asked` where nothing stands out, but one site of few rows might harm the others."""

    sites: np.ndarray
    folds: np.ndarray
    asked: bool = False
    site_times: np.ndarray
    fold_times: np.ndarray
    units: np.ndarray


def kept_sites(names: Sequence[str], keep: Sequence[str]) -> np.ndarray:
    """Which sites (N,) are to be kept whatever they are like; `InputError` for a name that is none."""
    for name in keep:
        if name not in names:
            near = nearest(name, names)
            raise InputError("keep", name, f"did you mean {near}?" if near else "name a site of the table")
    return np.isin(np.array(names, dtype=object), list(keep))


def suspects(folds: Sequence[Sequence[Fold]], counts: np.ndarray, kept: np.ndarray | bool = False) -> Suspects:
    """Of all sites' messages in any units, but those that are `kept` (N,); `counts` (N,) how many rows they have."""
    sites = len(folds)
    ones = np.ones((sites, FOLDS))
    nobody = Suspects(sites=ones[:, 0] < 0, folds=ones < 0, site_times=ones[:, 0], fold_times=ones, units=ones[:, 0])
    cells = _cells(folds, counts)
    if cells is None:
        return nobody
    rows, enough = cells[0].sum(1), counts >= PER_COEFFICIENT * cells[1].shape[-1]
    enough &= rows > 0
    judges = np.argsort(-np.where(enough, rows, -1.0), kind="stable")[:JUDGES]
    judges = judges[enough[judges]] if enough.sum() > 1 else judges
    slopes = _slopes(cells[2])
    by, by_own = _losses(cells, slopes[judges], judges), _own_losses(cells)
    apart, found = _folds_apart(cells[0], np.minimum(by.min(-1), by_own), counts)
    asked, stays = False, np.broadcast_to(kept, sites)
    if sites == 1:
        return replace(nobody, folds=found & ~stays[:, None], fold_times=np.exp(apart / 2))
    above, chosen = _sites_apart(cells, by, by_own, judges, counts)
    if sites > 2:
        few = (counts < PER_COEFFICIENT * cells[1].shape[-1] + FOLDS) & (rows > 0)
        far, most = _few_rows(cells, slopes, judges[enough[judges]], few)
        chosen |= (far > most).any(1)
        found |= (far > most) & ((far > most).sum(1) == 1)[:, None] & (counts > FOLDS)[:, None]
        above, apart = np.maximum(above, far.max(1)), np.maximum(apart, far)
        nearer = np.where((counts <= FOLDS) & ~stays, far.max(1), 0.0)
        asked = not chosen.any() and nearer.max() > LITTLE_ROW
        chosen[nearer.argmax()] |= asked
    levels = _levels_apart(cells)
    chosen |= (levels > 0).any() if sites == 2 else levels > 0
    times = np.maximum(np.exp(above / 2), levels)
    out = replace(nobody, site_times=times, fold_times=np.exp(apart / 2), units=_units(cells))
    chosen, found = chosen & ~stays, found & ~stays[:, None]
    return replace(out, sites=chosen, folds=found, asked=asked and not levels.any())


def _units(cells: Cells) -> np.ndarray:
    """By which factor the deviation of a site's rows, in the column in which it is most unusual, differs (N,)."""
    n, _, products = cells
    ratio = np.sqrt(
        np.maximum(np.diagonal(products.sum(1), axis1=1, axis2=2), 0.0) / np.maximum(n.sum(1), 1.0)[:, None]
    )
    known = (ratio > LITTLE_BESIDE**2) & (n.sum(1) >= 2 * FOLDS)[:, None]
    return np.exp(np.abs(np.log(np.where(known, ratio, 1.0))).max(1))


def _logs(n: np.ndarray, losses: np.ndarray, typical: float) -> np.ndarray:
    """Of `losses` (N, F) or (N, F, J) per row, NaN where there is no row."""
    rows = n.reshape(n.shape + (1,) * (losses.ndim - 2))
    return np.where(rows > 0, np.log((losses + 2 * typical) / (rows + 2) + LEAST), np.nan)


def _judged(n: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """A single row is its own level."""
    return (n.sum(1) > 0) & ((counts > 1) | ((n > 0).sum(1) > 1))


def _typically(n: np.ndarray, losses: np.ndarray, judged: np.ndarray, least: bool = False) -> float:
    """Of two sites the least, since the median would have the faulty one's noise."""
    each = np.where(n > 0, losses, 0.0).sum(1)[judged] / n.sum(1)[judged]
    return float((each.min() if least else np.median(each)) if judged.any() else 0.0)


def _folds_apart(n: np.ndarray, losses: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far each fold is from the median of its site's, in logarithms, and which are suspected (N, F)."""
    there = n > 0
    logs = _logs(n, losses, _typically(n, losses, _judged(n, counts)))
    apart = np.where(there, logs - _median(logs, there)[:, None], 0.0)
    limit = np.maximum(FOLD * (1 + 40 / np.maximum(counts, 1) ** 2), _beyond(apart[there], int(there.sum()) - len(n)))
    return apart, apart > limit[:, None]


def _sites_apart(
    cells: Cells, by: np.ndarray, by_own: np.ndarray, judges: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """How far each site is from the nearest, beyond the sites' median, in logarithms, and which are suspected (N,)."""
    n, judged, two = cells[0], _judged(cells[0], counts), len(counts) == 2
    there, others = n > 0, by.min(-1)
    own = _median(_logs(n, by_own, _typically(n, by_own, judged, two)), there)
    each = _median(_logs(n, by, _typically(n, others, judged, two)), there)
    each[judges] = np.maximum(each[judges], each[judges].T)  # two that fit each other, each by the other's slopes
    each[judges, np.arange(len(judges))] = np.inf
    nearest = each.min(1)
    if two:  # beside its own slopes: by the other's alone there is nothing to compare with; few rows judge badly
        limit = TWO * (1 + PER_COEFFICIENT * cells[1].shape[-1] / counts.min())
        return nearest - own, np.full(2, (nearest - own > limit).any())
    if not judged.any():
        return np.zeros(len(n)), judged
    above, chosen = np.where(judged, nearest - np.median(nearest[judged]), 0.0), np.zeros(len(n), bool)
    for more in (above, np.where(judged, above - own + np.median((own - above)[judged]), 0.0)):
        limit = np.maximum(SITE * (1 + 8 / counts**2), _beyond(more[judged], max(int(judged.sum()) - 2, 2)))
        chosen |= judged & (more > limit) & (above > LITTLE)
    return above, chosen


def _levels_apart(cells: Cells) -> np.ndarray:
    """How many times as far each site's level is as that of half of the sites (N,); 0 where it leaves others digits."""
    levels = _median(cells[1], cells[0] > 0)
    off = np.abs(levels - np.median(levels, axis=0))
    limit = np.maximum(FAR, BEYOND * np.median(off, axis=0) * (len(off) > 2))  # of two, both are as far
    far = (off > limit).any(1) & (cells[0].sum(1) > 0)
    return np.where(far, (off / np.maximum(limit / BEYOND, 1.0)).max(1), 0.0)


def _beyond(apart: np.ndarray, free: int) -> float:
    """What the largest of so many deviations from their median exceeds with probability `CHANCE` at most."""
    from scipy.special import stdtrit

    spread = 1.4826 * np.median(np.abs(apart))
    return float(stdtrit(max(free, 1), 1 - CHANCE / len(apart)) * spread)


def _cells(folds: Sequence[Sequence[Fold]], counts: np.ndarray) -> Cells | None:
    """Rows (N, F), means (N, F, p) and centred products (N, F, p, p) in robust units; None where half of the sites have
    one value of the target."""
    size = len(folds[0][0].mean)
    n, mean, products = (np.zeros((len(folds), FOLDS, *shape)) for shape in ((), (size,), (size, size)))
    for k, site in enumerate(folds):
        for f, fold in enumerate(site):
            n[k, f], mean[k, f], products[k, f] = fold.rows, fold.mean, fold.products
    rows = n.sum(1)
    centre = (n[..., None] * mean).sum(1) / np.maximum(rows, 1e-300)[:, None]
    squares = np.maximum(np.diagonal(products, axis1=2, axis2=3).sum(1), 0.0)  # -1e-36 by rounding
    squares = squares + (n[..., None] * (mean - centre[:, None]) ** 2).sum(1)
    squares = np.where(squares > rows[:, None] * (CONSTANT * centre) ** 2, squares, 0.0)  # .3 as a mean of .3
    several = (counts > 1) & (rows > 0)
    if not several.any():
        return None
    # the lower median: of two sites the one of smaller deviations
    deviation = np.sqrt(np.sort(squares[several] / rows[several, None], axis=0)[(int(several.sum()) - 1) // 2])
    pooled = np.sqrt(squares.sum(0) / rows.sum())
    if deviation[-1] <= CONSTANT * np.median(np.abs(centre[several, -1])):
        return None
    unit = np.where(deviation < LITTLE_BESIDE * pooled, pooled, deviation)
    # a column that no site's rows vary in: the distance of the sites' levels, of which none is far where most are alike
    off = np.abs(centre[several] - np.median(centre[several], axis=0))
    typical = np.median(off, axis=0)
    between = np.where(typical > LITTLE_BESIDE * off.max(0), typical, off.max(0))
    unit = np.where(unit > 0, unit, np.where(between > 0, between, 1.0))
    return n, (mean - np.median(centre[several], axis=0)) / unit, products / unit / unit[:, None]


def _slopes(products: np.ndarray) -> np.ndarray:
    """(N, d), then 1: minus slopes about the means of folds, so that rows z have the residuals z @ these."""
    whole = products.sum(1)
    slopes = np.linalg.solve(whole[:, :-1, :-1] + HALF_A_ROW * np.eye(whole.shape[-1] - 1), whole[:, :-1, -1:])
    return np.concatenate((-slopes[..., 0], np.ones((len(whole), 1))), axis=1)


def _losses(cells: Cells, slopes: np.ndarray, judges: np.ndarray | None = None, *, single: bool = False) -> np.ndarray:
    """Losses (N, F, J) by `slopes` (J, p) or (N, J, p), about the site's own level, or the judge's if `single`;
    infinite for a site by its own, where they are of `judges`."""
    n, mean, products = cells
    outer = (slopes[..., None] * slopes[..., None, :]).reshape(*slopes.shape[:-1], -1).swapaxes(-1, -2)
    levels = mean @ slopes.swapaxes(-1, -2)
    squares = products.reshape(*n.shape, -1) @ outer
    level = _median(levels, n > 0)[:, None]
    level = level[judges, :, np.arange(len(judges))].T if judges is not None and single else level
    by = np.maximum(squares, 0.0) + n[..., None] * (levels - level) ** 2
    if judges is not None:
        by[judges, :, np.arange(len(judges))] = np.inf
    return by


def _own_losses(cells: Cells) -> np.ndarray:
    """Losses (N, F) by own slopes without this fold and one more, the least over this."""
    n, _, products = cells
    own = np.full(n.shape, np.inf)
    for f, g in combinations(range(FOLDS), 2):
        rest = [h for h in range(FOLDS) if h not in (f, g)]  # no differences: a wrong row may be 1e9 times the others
        found = _losses(cells, _slopes(products[:, rest])[:, None])[..., 0]
        for one, other in ((f, g), (g, f)):
            own[:, one] = np.where(n[:, other] > 0, np.minimum(own[:, one], found[:, one]), own[:, one])
    return np.where(np.isfinite(own), own, products[..., -1, -1])  # a single fold: nothing but its deviations


def _few_rows(cells: Cells, slopes: np.ndarray, judges: np.ndarray, few: np.ndarray) -> tuple[np.ndarray, float]:
    """Of the sites with `few` rows (N,): how much farther than usual each fold is (N, F), 0 where it is not judged, and
    how much farther it may be, in logarithms of squares.

    The nearest judge counts: sites with rows enough for a fit. Usual is what judges have by each other, the last but
    one of them, so that the scatter of levels and slopes is in it. A site of a row in a fold has no level of its own,
    and is judged by the judge's, as are then the judges.
    """
    n, there, far, most = cells[0], cells[0] > 0, np.zeros(cells[0].shape), np.inf
    for single in (True, False):
        chosen = few & ((cells[0].max(1) <= 1) == single)
        if len(judges) > 1 and chosen.any():
            by = _losses(cells, slopes[judges], judges, single=single).min(-1)
            by = np.log(by / np.maximum(n, 1e-300) + LEAST)
            usual = np.sort(_median(by, there)[judges])
            far[chosen] = np.where(there, by - usual[-2], 0.0)[chosen]
            most = min(most, max(ROW, _beyond(usual - np.median(usual), max(len(judges) - 2, 2))))
    return far, most


def _median(values: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Over the folds (axis 1) that are there; 0 where none is."""
    shape = there.reshape(*there.shape, *[1] * (values.ndim - 2))
    ordered = np.sort(np.where(shape, values, np.inf), axis=1)
    count = np.maximum(there.sum(1), 1)
    ends = [
        np.take_along_axis(ordered, at.reshape(-1, *[1] * (values.ndim - 1)), axis=1)[:, 0]
        for at in ((count - 1) // 2, count // 2)
    ]
    middle = (ends[0] + ends[1]) / 2
    return np.where(np.isfinite(middle), middle, 0.0)
