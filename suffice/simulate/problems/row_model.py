"""The oracle of linear models on clients' data rows: samples are rows, drawn with replacement."""

from __future__ import annotations

from torch import Tensor

from ..problem import Problem
from ..randomness import Randomness, Stream
from .linear_model import LinearModel
from .rows import Rows


class RowModel(LinearModel, Problem):
    """What least squares and logistic regression on `data` share."""

    data: Rows
    regularisation: float
    batch: int

    @property
    def ridge(self) -> float:
        return self.regularisation

    @property
    def row_counts(self) -> tuple[int, ...]:
        return tuple(self.data.counts.tolist())

    def samples(self, draw: Tensor) -> tuple[Tensor, Tensor]:
        return self.data.X[draw], self.data.y[draw]

    def draw(
        self,
        randomness: Randomness,
        iteration: int | Tensor,
        *,
        stream: Stream = Stream.NOISE,
        batch: int | None = None,
    ) -> Tensor:
        """Indices of the sampled rows of each client, (S, N, m), with replacement."""
        return self.data.draw(randomness, iteration, stream=stream, batch=batch or self.batch)

    def scenarios(self) -> tuple[Tensor, Tensor]:
        """Every row with its frequency; clients with fewer rows are padded by rows of weight 0."""
        index, frequency = self.data.padded()
        return frequency, index[:, :, None]
