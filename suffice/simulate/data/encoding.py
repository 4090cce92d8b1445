"""The encoding is fixed from the messages of all sites: what is imputed for a gap, every category's reference level.

Both are linear maps of the columns that sites send (0 for a gap, one column per level). A gap takes the mean of the
column over all rows that have it, so that the indicator's coefficient says how rows with gaps differ from a typical
one; the level that most rows have is the reference, whose column is dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .folds import Sums

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
        there = {name: 1 - mean[at[gap]] for name, gap in gaps.items()}
        filled = {name: float(mean[at[name]] / share) if share > 0 else 0.0 for name, share in there.items()}
        matrix = None
        if len(kept) < len(names) or gaps:
            matrix = np.zeros((len(names), len(kept)))
            matrix[[at[name] for name in kept], range(len(kept))] = 1.0
            matrix[[at[gap] for gap in gaps.values()], [kept.index(name) for name in gaps]] = [*filled.values()]
        means = dict(zip(kept, (mean if matrix is None else mean @ matrix).tolist()))
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

    def sums(self, sums: Sums) -> Sums:
        """Messages (x, y) of all sites in `columns`."""
        if self.matrix is None:
            return sums
        size, kept = self.matrix.shape
        whole = np.zeros((size + 1, kept + 1))
        whole[:-1, :-1] = self.matrix
        whole[-1, -1] = 1.0
        found = sums.mapped(whole)
        for name, value in self.gaps.items():
            at = self.columns.index(name)
            if found.pooled[1][at] <= LOST * value**2:  # it varies by no more than rounding makes of it
                found.mean[..., at] = value
                found.products[..., at, :] = found.products[..., at] = 0.0
        return found[:]  # whose sums over sites are those of these numbers
