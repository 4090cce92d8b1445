"""The encoding is fixed from the messages of all sites: the value for a gap, and every category's reference level.

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
"""A column with gaps has no digits where its variance is below this share of the square of the value that fills them,
since it is a difference of such squares: where it varies by less than some 3e-7 of its size."""


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """`matrix` (p, q) from the columns of the sites to `columns`, those that models have coefficients for, None where
    they are the same; `means` of these over all rows, none where they are not known."""

    columns: tuple[str, ...]
    matrix: np.ndarray | None
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
        if len(kept) == len(names) and not gaps:
            means = dict(zip(kept, mean.tolist()))
            return cls(columns=tuple(kept), matrix=None, gaps={}, references=references, means=means)
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

    def encoded(self, X: np.ndarray) -> np.ndarray:
        """Rows X (n, p) without gaps in `columns`."""
        return X if self.matrix is None else X @ self.matrix

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Rows X (n, p) in `columns`. NaN, a gap where the column had none to learn from, becomes the mean."""
        gone = np.isnan(X)
        rows = self.encoded(np.where(gone, 0.0, X))
        if gone.any():
            means = [self.means[name] for name in self.columns]
            rows = np.where(gone if self.matrix is None else gone @ (self.matrix != 0), means, rows)
        return rows

    def folds(self, sites: Sequence[Sequence[Fold]]) -> list[list[Fold]]:
        """Messages (x, y) of all sites in `columns`."""
        if self.matrix is None:
            return [list(site) for site in sites]
        size, kept = self.matrix.shape
        whole = np.zeros((size + 1, kept + 1))
        whole[:-1, :-1] = self.matrix
        whole[-1, -1] = 1.0
        found = [[fold.mapped(whole) for fold in site] for site in sites]
        for name, value in self.gaps.items():
            at = self.columns.index(name)
            folds = [fold for site in found for fold in site]
            rows, means, within = np.array([(fold.rows, fold.mean[at], fold.products[at, at]) for fold in folds]).T
            spread = within.sum() + rows @ (means - rows @ means / rows.sum()) ** 2
            if spread <= LOST * rows.sum() * value**2:
                found = [[_same(fold, at, value) for fold in site] for site in found]
        return found


def _same(fold: Fold, at: int, value: float) -> Fold:
    """With one `value` throughout a column, which varies by no more than rounding makes of it."""
    others = np.arange(len(fold.mean)) != at
    products = fold.products * np.outer(others, others)
    return Fold(rows=fold.rows, mean=np.where(others, fold.mean, value), products=products)


def pooled_mean(sites: Sequence[Sequence[Fold]]) -> np.ndarray:
    """Mean (p,) of z over all rows."""
    folds = [fold for site in sites for fold in site]
    rows = np.array([fold.rows for fold in folds])
    return rows @ np.array([fold.mean for fold in folds]) / rows.sum()
