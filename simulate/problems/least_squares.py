"""Least squares on clients' data: R_i(theta) = mean over rows of (x . theta - y)^2 + (r/2) |theta|^2, no factor 1/2.

The population part is a quadratic, so optimum, curvature and heterogeneity are exact. The oracle samples
rows of each client with replacement. Its noise is multiplicative: the variance grows with the
distance from the optimum, so Assumption 2 (one sigma for all theta) holds on a bounded region alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from bounds import InputError, as_number, as_whole

from ..randomness import Randomness, Stream
from .linear_model import LinearModel
from .population import QuadraticPopulation
from .quadratic import Quadratics
from .rows import Rows


@dataclass(frozen=True, kw_only=True)
class LeastSquares(LinearModel, QuadraticPopulation):
    """Clients with rows X_i (n_i, d) and responses y_i (n_i,).

    regularisation  r >= 0 [loss / theta^2], the same for all clients
    batch           rows that one stochastic gradient averages
    """

    data: Rows
    population: Quadratics
    regularisation: float = 0.0
    batch: int = 1

    without_noise: ClassVar[str] = (
        "its rows' gradients do not vary (a single row, or rows that are fitted exactly): give more rows, merge this "
        "client with another or leave it out"
    )

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
    ) -> LeastSquares:
        """Build from one (n_i, d) array and one (n_i,) array per client; start 0 unless given."""
        data, labels = Rows.of(X, y, names)
        ridge = as_number("regularisation", regularisation, least=0)
        blocks, d = data.blocks(), data.X.shape[1]
        A = np.stack([x.T @ x / len(x) for x, _ in blocks]) + ridge / 2 * np.eye(d)
        least, largest = np.linalg.eigvalsh(A)[:, [0, -1]].T
        singular = least <= np.maximum(1e-12 * largest, 1e-60)
        if singular.any():
            i = int(np.argmax(singular))
            # a single row has no noise to plan with, so that regularising would only lead to the next refusal
            remedy = (
                "merge this client with another or leave it out"
                if len(blocks[i][0]) == 1
                else "drop constant or duplicated columns, use fewer predictors, merge clients, or regularise"
            )
            raise InputError(
                f"smallest eigenvalue of X'X/n of client {labels[i]}",
                least[i].item(),
                f"its {len(blocks[i][0])} rows do not determine {d} coefficients (mu = 0): {remedy}",
            )
        optimum = np.stack([_solve(x, target, ridge) for x, target in blocks])
        population = Quadratics.of(A, -optimum, sigma2=0.0, start=start, names=labels)
        return cls(data=data, population=population, regularisation=ridge, batch=as_whole("batch", batch))

    @property
    def X(self) -> Tensor:
        """Rows of all clients, concatenated, (rows, d)."""
        return self.data.X

    @property
    def y(self) -> Tensor:
        return self.data.y

    @property
    def ridge(self) -> float:
        return self.regularisation

    def samples(self, draw: Tensor) -> tuple[Tensor, Tensor]:
        return self.data.X[draw], self.data.y[draw]

    def slope(self, prediction: Tensor, y: Tensor) -> Tensor:
        return 2 * (prediction - y)

    def variance(self, theta: Tensor) -> Tensor:
        """Exact total variance of client k's stochastic gradient at given points theta (P, d), as (P, N)."""
        residual = theta @ self.data.X.T - self.data.y  # (P, rows)
        second = self.data.means(4 * residual**2 * (self.data.X**2).sum(-1))
        everywhere = theta[:, None].expand(-1, self.clients, -1)
        mean = self.gradient(everywhere) - self.regularisation * everywhere
        return (second - (mean**2).sum(-1)).clamp_min(0) / self.batch

    @property
    def sample_smoothness(self) -> Tensor:
        """Every row's loss of client i is smooth with this constant, max_j 2 |x_j|^2 + r, (N,)."""
        index, _ = self.data.padded()
        return 2 * (self.data.X**2).sum(-1)[index].max(0).values + self.regularisation

    def draw(
        self, randomness: Randomness, iteration: int, *, stream: Stream = Stream.NOISE, batch: int | None = None
    ) -> Tensor:
        """Indices of the sampled rows of each client, (S, N, m), with replacement."""
        return self.data.draw(randomness, iteration, stream=stream, batch=batch or self.batch)

    def scenarios(self) -> tuple[Tensor, Tensor]:
        """Every row with its frequency; clients with fewer rows are padded by rows of weight 0."""
        return self.data.scenarios()

    def to(self, dtype: torch.dtype, device: Any = "cpu") -> LeastSquares:
        return replace(self, data=self.data.to(dtype, device), population=self.population.to(dtype, device))


def _solve(x: np.ndarray, y: np.ndarray, ridge: float) -> np.ndarray:
    """The minimiser, as least squares on rows extended by sqrt(n r / 2) I with response 0."""
    d = x.shape[1]
    if ridge:
        x, y = np.concatenate((x, np.sqrt(len(x) * ridge / 2) * np.eye(d))), np.concatenate((y, np.zeros(d)))
    return np.linalg.lstsq(x, y, rcond=None)[0]
