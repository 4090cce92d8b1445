"""The sites of a table, or those that sent messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from .design import Design
from .encoding import Encoding
from .folds import Sums


@dataclass(frozen=True, kw_only=True)
class Sites:
    """All sites in order of appearance, with their numbers of rows `counts` (N,): their `sums` (N, F + 1), or where
    rows are kept X (n, p) and y (n,) of each, and sums of no columns."""

    names: tuple[str, ...]
    counts: np.ndarray
    sums: Sums
    design: Design
    target: str
    client: str = ""
    X: list[np.ndarray] = field(default_factory=list)
    y: list[np.ndarray] = field(default_factory=list)
    classes: tuple[str, ...] = ()
    """The classes of the target; none where it has numbers."""
    notes: tuple[str, ...] = ()
    again: Callable[[str], tuple[np.ndarray, np.ndarray, list[str]]] | None = None
    """Reads a site's X (n, p), y (n,) and the places of rows; None of messages."""

    def encoded(self) -> Encoding:
        """The encoding of kept rows, which are in its columns afterwards."""
        mean = np.add.reduce([X.sum(0) for X in self.X]) / self.counts.sum()
        encoding = Encoding.of(self.design, mean)
        for k, X in enumerate(self.X):
            self.X[k] = encoding.encoded(X)
        return encoding
