"""The oracle of linear models on clients' data rows: samples are rows, drawn with replacement."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from torch import Tensor

from suffice.support.numbers import as_number, as_whole

from ..problem import Problem
from ..randomness import Randomness
from .linear_model import LinearModel
from .rows import Rows
from .start import starting_points


class RowModel(LinearModel, Problem):
    """The common base of least squares and logistic regression on `data`."""

    data: Rows
    regularisation: float
    batch: int
    ridge = property(lambda self: self.regularisation)

    @classmethod
    def of(
        cls,
        X: Sequence[Any],
        y: Sequence[Any],
        *,
        regularisation: float = 0.0,
        batch: int = 1,
        names: Sequence[str] = (),
        start: Any = None,
    ) -> Self:
        """Build from one (n_i, d) array and one (n_i,) array per client; start 0 unless given. Raises `InputError`.

        A logistic regression takes labels that are all in {0, 1} or all in {-1, 1}; without regularisation every client
        must have a minimiser: both classes, not separable by a hyperplane.
        """
        data, labels = Rows.of(X, y, names)
        ridge, size = as_number("regularisation", regularisation, least=0), as_whole("batch", batch)
        begin = starting_points(start, len(labels), data.X.shape[1])
        return cls._of(data, labels, begin, regularisation=ridge, batch=size)

    @classmethod
    @abstractmethod
    def _of(cls, data: Rows, names: tuple[str, ...], start: np.ndarray, *, regularisation: float, batch: int) -> Self:
        """Build from arguments that are checked."""

    @property
    def row_counts(self) -> tuple[int, ...]:
        return tuple(self.data.counts.tolist())

    def samples(self, draw: Tensor) -> tuple[Tensor, Tensor]:
        return self.data.X[draw], self.data.y[draw]

    def drawn(self, randomness: Randomness, batch: int, **when: Any) -> Tensor:
        """Indices of the sampled rows of each client, (S, N, batch), with replacement."""
        return self.data.draw(randomness, **when, batch=batch)

    def scenarios(self) -> tuple[Tensor, Tensor]:
        """Every row with its frequency; clients with fewer rows are padded by rows of weight 0."""
        index, frequency = self.data.padded()
        return frequency, index[:, :, None]
