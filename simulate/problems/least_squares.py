"""Least squares on clients' data: R_i(theta) = mean over rows of (x . theta - y)^2, without the factor 1/2.

The population part is a quadratic, so optimum, curvature and heterogeneity are exact. The oracle samples one
row per client and iteration with replacement. Its noise is multiplicative: the variance grows with the
distance from the optimum, so Assumption 2 (one sigma for all theta) holds on a bounded region alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bounds import Constants, InputError, as_numbers, check_names

from ..randomness import Randomness, Stream
from .quadratic import Quadratics


def sampled_gap(theta: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """(|g_i - g_k|^2 [s, i, k], |g_i|^2) at theta_i, g_k = (2/m) sum_j x_kj (x_kj . theta_i - y_kj); x (S, N, m, d).

    From residuals and Gram matrices: N^2 m^2 numbers at a time, never N^2 d.
    """
    n, m = x.shape[1:3]
    flat = x.flatten(1, 2)
    residual = ((torch.matmul(theta, flat.transpose(-1, -2)) - y.flatten(1)[:, None]) * 2 / m).unflatten(-1, (n, m))
    own = residual.diagonal(dim1=1, dim2=2).transpose(-1, -2)  # (S, N, m): residuals of client i's own rows
    g = torch.einsum("sim,simd->sid", own, x)
    cross = (torch.matmul(g, flat.transpose(-1, -2)).unflatten(-1, (n, m)) * residual).sum(-1)  # <g_i, g_k>
    gram = torch.einsum("skmd,skld->skml", x, x)
    peer = torch.einsum("sikm,skml,sikl->sik", residual, gram, residual)  # |g_k(theta_i)|^2
    norm = (g**2).sum(-1)
    gap = (norm[..., None] - 2 * cross + peer).clamp_min(0)
    gap.diagonal(dim1=-2, dim2=-1).zero_()
    return gap, norm


@dataclass(frozen=True, kw_only=True)
class LeastSquares:
    """Clients with rows X_i (n_i, d) and responses y_i (n_i,), concatenated; `first` and `rows` (N,) locate them."""

    X: Tensor
    y: Tensor
    first: Tensor
    rows: Tensor
    population: Quadratics
    names: tuple[str, ...] = field(default=())

    @classmethod
    def of(cls, X: Sequence[Any], y: Sequence[Any], *, names: Sequence[str] = (), start: Any = None) -> LeastSquares:
        """Build from one (n_i, d) array and one (n_i,) array per client; start 0 unless given."""
        if not X or len(X) != len(y):
            raise InputError("clients", len(X), "give one X and one y per client, at least one client")
        labels = tuple(names) or tuple(str(i) for i in range(len(X)))
        check_names(labels, len(X))
        if np.shape(X[0])[-1:] == (0,):
            raise InputError("predictors", 0, "give at least one predictor, or an intercept")
        blocks, targets = [], []
        d = np.shape(X[0])[-1] if np.ndim(X[0]) == 2 else 1
        for name, rows, target in zip(labels, X, y):
            block = as_numbers(f"X of client {name}", rows, ("n", d))
            if len(block) == 0:
                raise InputError(f"rows of client {name}", 0, "give every client at least one row")
            blocks.append(block)
            targets.append(as_numbers(f"y of client {name}", target, (len(block),)))
        A = np.stack([block.T @ block / len(block) for block in blocks])
        least, largest = np.linalg.eigvalsh(A)[:, [0, -1]].T
        singular = least <= np.maximum(1e-12 * largest, 1e-60)
        if singular.any():
            i = int(np.argmax(singular))
            raise InputError(
                f"smallest eigenvalue of X'X/n of client {labels[i]}",
                least[i].item(),
                f"its {len(blocks[i])} rows do not determine {d} coefficients (mu = 0): "
                "drop constant or duplicated columns, use fewer predictors, or merge clients",
            )
        theta = np.stack([np.linalg.lstsq(block, target, rcond=None)[0] for block, target in zip(blocks, targets)])
        population = Quadratics.of(A, -theta, sigma2=0.0, start=start, names=labels)
        counts = np.array([len(block) for block in blocks])
        return cls(
            X=torch.from_numpy(np.concatenate(blocks)),
            y=torch.from_numpy(np.concatenate(targets)),
            first=torch.from_numpy(np.concatenate([[0], np.cumsum(counts)[:-1]])),
            rows=torch.from_numpy(counts),
            population=population,
            names=labels,
        )

    @property
    def clients(self) -> int:
        return self.population.clients

    @property
    def features(self) -> int:
        return self.population.features

    @property
    def dtype(self) -> torch.dtype:
        return self.X.dtype

    @property
    def device(self) -> torch.device:
        return self.X.device

    @property
    def optimum(self) -> Tensor:
        return self.population.optimum

    @property
    def A(self) -> Tensor:
        """X_i'X_i / n_i, so that R_i(theta) - min R_i = delta . A_i delta, (N, d, d)."""
        return self.population.A

    @property
    def start(self) -> Tensor:
        return self.population.start

    def excess(self, theta: Tensor) -> Tensor:
        return self.population.excess(theta)

    def gradient(self, theta: Tensor) -> Tensor:
        return self.population.gradient(theta)

    def gradient_gap(self, theta: Tensor) -> Tensor:
        return self.population.gradient_gap(theta)

    def variance(self, theta: Tensor) -> Tensor:
        """Exact total variance of client k's one-row gradient at given points theta (P, d), as (P, N)."""
        residual = theta @ self.X.T - self.y  # (P, rows)
        second = 4 * residual**2 * (self.X**2).sum(-1)
        owner = torch.repeat_interleave(torch.arange(self.clients, device=self.device), self.rows)
        mean = torch.zeros(len(theta), self.clients, dtype=self.dtype, device=self.device)
        mean.index_add_(1, owner, second / self.rows[owner])
        everywhere = theta[:, None].expand(-1, self.clients, -1)
        return (mean - (self.population.gradient(everywhere) ** 2).sum(-1)).clamp_min(0)

    @property
    def sigma2(self) -> Tensor:
        """Largest variance over the convex hull of all starts and optima, (N,).

        The gradient of one row is affine in theta, so its total variance is a convex quadratic: its
        maximum over the hull is at a vertex, and this number is exact there.
        """
        return self._sigma2

    @cached_property
    def _sigma2(self) -> Tensor:
        vertices = torch.cat((self.start, self.optimum)).unique(dim=0)
        variance = self.variance(vertices).max(0).values
        everywhere = vertices[:, None].expand(-1, self.clients, -1)
        signal = (self.population.gradient(everywhere) ** 2).sum(-1).max(0).values
        return torch.where(variance > 1e-12 * signal, variance, 0)  # below that it is rounding

    def draw(
        self, randomness: Randomness, iteration: int, *, stream: Stream = Stream.NOISE, batch: int | None = None
    ) -> Tensor:
        """Indices of the sampled rows of each client, (S, N, m), with replacement."""
        u = randomness.uniform(iteration=iteration, stream=stream, clients=self.clients, features=batch or self.batch)
        return self.first[:, None] + (u * self.rows[:, None]).to(torch.int64)

    def stochastic_gradient(self, theta: Tensor, weights: Tensor | None, draw: Tensor) -> Tensor:
        x, y = self.X[draw], self.y[draw]  # (S, N, m, d), (S, N, m)
        m = draw.shape[2]
        if weights is None:
            return 2 / m * (((theta[:, :, None] * x).sum(-1) - y)[..., None] * x).sum(2)
        flat = x.flatten(1, 2)  # (S, N m, d)
        residual = torch.matmul(theta, flat.transpose(-1, -2)) - y.flatten(1)[:, None]  # [s, i, (k, j)]
        return 2 / m * torch.matmul(weights.repeat_interleave(m, -1) * residual, flat)

    def peer_gradient(self, theta: Tensor, draw: Tensor) -> Tensor:
        x, y = self.X[draw], self.y[draw]
        residual = torch.einsum("sikd,skmd->sikm", theta, x) - y[:, None]
        return 2 / draw.shape[2] * torch.einsum("sikm,skmd->sikd", residual, x)

    def sampled_gap(self, theta: Tensor, draw: Tensor) -> tuple[Tensor, Tensor]:
        return sampled_gap(theta, self.X[draw], self.y[draw])

    def scenarios(self) -> tuple[Tensor, Tensor]:
        """Every row with its frequency; clients with fewer rows are padded by rows of weight 0."""
        position = torch.arange(int(self.rows.max()), device=self.device)[:, None]
        weights = (position < self.rows) / self.rows.to(self.dtype)
        draws = self.first + torch.minimum(position, self.rows - 1)
        return weights, draws[:, :, None]

    @property
    def batch(self) -> int:
        return 1

    @property
    def assumptions(self) -> frozenset[str]:
        """Bounded variance is missing: the noise is multiplicative."""
        names = {"smooth", "strongly convex", "PL", "independent noise", "affine heterogeneity"}
        return frozenset(names | {"expected smoothness"})

    def constants(self) -> Constants:
        exact = self.population.constants()
        zero = (self.sigma2 == 0).nonzero()
        if len(zero):
            name = self.names[int(zero[0])]
            raise InputError(f"gradient variance of client {name}", 0.0, "its rows are fitted exactly; give more rows")
        return replace(
            exact,
            sigma2=self.sigma2.double().cpu().numpy(),
            notes=(
                "sigma is the largest one-row gradient deviation over the convex hull of the start and all "
                "clients' optima (exact there); the noise is multiplicative, so outside that hull it is an estimate",
            ),
        )

    def to(self, dtype: torch.dtype, device: Any = "cpu") -> LeastSquares:
        return LeastSquares(
            X=self.X.to(device, dtype),
            y=self.y.to(device, dtype),
            first=self.first.to(device),
            rows=self.rows.to(device),
            population=self.population.to(dtype, device),
            names=self.names,
        )
