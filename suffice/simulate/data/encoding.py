"""What is settled from the messages of all sites: the value that stands for a gap, and every category's reference
level.

Both are linear maps of the columns that sites send (0 for a gap, one column per level). A gap takes the mean of the
column over all rows that have it, so that the indicator's coefficient says how rows with gaps differ from a typical
one; the level that most rows have is the reference, whose column is dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .folds import Fold

LOST = 1e-13
"""A column with gaps has no digits where its variance is below this share of the squares whose difference it is, which
are known to 1e-16 times a few: where it varies by less than some 3e-7 of its size."""


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """`matrix` (p, q) from the columns of the sites to `columns`, those that models have coefficients for; `means` of
    these over all rows, none where they are not known."""

    columns: tuple[str, ...]
    matrix: np.ndarray
    gaps: Mapping[str, float]
    references: Mapping[str, str]
    means: Mapping[str, float]

    @classmethod
    def of(
        cls, names: Sequence[str], categories: Mapping[str, Sequence[str]], gaps: Mapping[str, str], mean: np.ndarray
    ) -> Encoding:
        """From the columns' `names`, the columns of each category, each number's column of gaps, and means (p,) of
        all rows.
        """
        at = {name: j for j, name in enumerate(names)}
        references = {
            source: max(columns, key=lambda column: (mean[at[column]], column))
            for source, columns in categories.items()
        }
        kept = [name for name in names if name not in references.values()]
        matrix = np.zeros((len(names), len(kept)))
        for j, name in enumerate(kept):
            matrix[at[name], j] = 1.0
        filled = {}
        for name, gap in gaps.items():
            there = 1 - mean[at[gap]]
            filled[name] = float(mean[at[name]] / there) if there > 0 else 0.0
            matrix[at[gap], kept.index(name)] = filled[name]
        means = dict(zip(kept, (mean @ matrix).tolist()))
        return cls(columns=tuple(kept), matrix=matrix, gaps=filled, references=references, means=means)

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Rows X (n, p) in `columns`. NaN, a gap where the column had none to learn from, becomes the mean."""
        gone = np.isnan(X)
        rows = np.where(gone, 0.0, X) @ self.matrix
        if gone.any():
            means = [self.means[name] for name in self.columns]
            rows = np.where(gone @ (self.matrix != 0), means, rows)
        return rows

    def folds(self, sites: Sequence[Sequence[Fold]]) -> list[list[Fold]]:
        """Messages (x, y) of all sites in `columns`."""
        size, kept = self.matrix.shape
        whole = np.zeros((size + 1, kept + 1))
        whole[:-1, :-1] = self.matrix
        whole[-1, -1] = 1.0
        found = [[fold.mapped(whole) for fold in site] for site in sites]
        for name, value in self.gaps.items():
            found = _digits(sites, found, self.matrix[:, kept := self.columns.index(name)], kept, value)
        return found


def _digits(
    sites: Sequence[Sequence[Fold]], found: list[list[Fold]], terms: np.ndarray, at: int, value: float
) -> list[list[Fold]]:
    """`found` of `sites`, where the column `at`, a sum of `terms` (p,) of theirs, varies within folds only by more than
    rounding makes of it: its square is a difference of squares of the size of the `value` that fills its gaps. Where
    means do not vary by more either, it is this value throughout."""
    used = np.flatnonzero(terms)
    size = np.abs(terms[used])
    large = sum(size @ np.abs(fold.products[np.ix_(used, used)]) @ size for site in sites for fold in site)
    folds = [fold for site in found for fold in site]
    if sum(fold.products[at, at] for fold in folds) > LOST * large:
        return found
    rows, means = np.array([(fold.rows, fold.mean[at]) for fold in folds]).T
    same = rows @ (means - rows @ means / rows.sum()) ** 2 <= LOST * large
    others = np.arange(len(folds[0].mean)) != at

    def without(fold: Fold) -> Fold:
        mean = np.where(others | (not same), fold.mean, value)
        return Fold(rows=fold.rows, mean=mean, products=fold.products * np.outer(others, others))

    return [[without(fold) for fold in site] for site in found]


def pooled_mean(sites: Sequence[Sequence[Fold]]) -> np.ndarray:
    """Mean (p,) of z over all rows."""
    folds = [fold for site in sites for fold in site]
    rows = np.array([fold.rows for fold in folds])
    return rows @ np.array([fold.mean for fold in folds]) / rows.sum()
