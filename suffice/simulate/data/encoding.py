"""The encoding is fixed from the messages of all sites: what is imputed for a gap, every category's reference level.

Both are linear maps of the columns that sites send (0 for a gap, one column per level). A gap takes the mean of the
column over all rows that have it, so that the indicator's coefficient says how rows with gaps differ from a typical
one; the level that most rows have is the reference, whose column is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .design import CONSTANT, Design, short
from .folds import Sums

INTERCEPT = "(intercept)"
STANDARDISE = ("pooled", "client", "none")
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
    def of(cls, design: Design, mean: np.ndarray) -> Encoding:
        """From the means (p,) of the design's columns over all rows."""
        names, (levels_of, gaps) = design.names, design.categories
        share = dict(zip(names, mean.tolist()))
        references = {source: max(levels, key=lambda name: (share[name], name)) for source, levels in levels_of.items()}
        kept = [name for name in names if name not in references.values()]
        filled = {name: share[name] / (1 - share[gap]) if share[gap] < 1 else 0.0 for name, gap in gaps.items()}
        matrix = None
        if len(kept) < len(names) or gaps:
            matrix = np.zeros((len(names), len(kept)))
            matrix[np.isin(names, kept), np.arange(len(kept))] = 1.0
            for name, value in filled.items():
                matrix[names.index(gaps[name]), kept.index(name)] = value
        means = dict(zip(kept, (mean if matrix is None else mean @ matrix).tolist()))
        return cls(columns=tuple(kept), matrix=matrix, gaps=filled, references=references, means=means)

    def remarks(self, design: Design, constant: Iterable[bool] = ()) -> list[str]:
        """Notes on the design's columns that were left out or changed; `constant` marks those of the encoding."""
        texts = [(name, why if "dropped" in why else f"dropped, {why}") for name, why in design.left_out]
        notes = [short("{}: " + why.replace("{", "(").replace("}", ")"), name) for name, why in texts]
        for name, same in zip(self.columns, constant):  # with gaps, see `LOST`
            notes += [short(CONSTANT, name, "6" if name in self.gaps else "12")] if same else []
        notes += [short("{}: the reference level", reference) for reference in self.references.values()]
        notes += [short(f"{{}}: gaps are filled with {value:.6g}", name) for name, value in self.gaps.items()]
        return [*notes, *(note for text in design.column_notes.values() for note in text.splitlines())]

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
        found = sums.mapped(self.matrix)
        for name, value in self.gaps.items():
            at = self.columns.index(name)
            if found.pooled[1][at] <= LOST * value**2:  # it varies by no more than rounding makes of it
                found.mean[..., at] = value
                found.products[..., at, :] = found.products[..., at] = 0.0
        return found[:]  # whose sums over sites are those of these numbers


@dataclass(frozen=True, kw_only=True)
class Coordinates:
    """The factors of the coefficients of a model, in order: (column - mean) / scale, and 1 for the intercept.

    names         of the columns; "NAME=LEVEL" is 1 where NAME is LEVEL, "NAME=missing" where it is missing, else 0
    means, scales (d,), or (N, d) where each client has its own
    fills         what stands for a gap in a column, before it is standardised
    target_mean, target_scale  of the target, (y - mean) / scale
    positive      of two classes, the labels that count as 1
    client, target  the columns of the table, where there is one that has them
    """

    names: tuple[str, ...]
    means: np.ndarray
    scales: np.ndarray
    fills: Mapping[str, float] = field(default_factory=dict)
    target_mean: float = 0.0
    target_scale: float = 1.0
    positive: tuple[Any, ...] = ()
    client: str = "client"
    target: str = "target"
