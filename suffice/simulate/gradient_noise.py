"""Additive noise makes gradients stochastic, and knows its covariance exactly.

The variance of gradients of rows is in `problems.population`, `problems.least_squares` and `problems.logistic`,
noise that grows with the distance in `problems.growing_noise`; a
table of estimated variances is in `suffice.planning.client_statistics`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from suffice.support.errors import InputError
from suffice.support.numbers import as_numbers

from .randomness import Randomness, Stream


@dataclass(frozen=True, kw_only=True)
class Additive:
    """Gaussian noise of fixed covariance, independent across clients and iterations.

    covariance (N, d, d) symmetric positive semidefinite [(loss / theta)^2]; the total variance of
    client k is its trace. One draw per client and iteration serves every model that asks client k.
    """

    covariance: Tensor
    factor: Tensor

    @classmethod
    def isotropic(cls, sigma2: Any, features: int, clients: int) -> Additive:
        """Total variance sigma2 (scalar or (N,)), spread evenly over the features."""
        sigma2 = as_numbers("sigma2", sigma2, (clients,), one_for_all=True)
        if (sigma2 < 0).any():
            raise InputError("sigma2", sigma2.min().item(), "give variances >= 0")
        scale = torch.from_numpy(sigma2 / features)
        identity = torch.eye(features, dtype=torch.float64)
        return cls(covariance=scale[:, None, None] * identity, factor=scale.sqrt()[:, None, None] * identity)

    @classmethod
    def given(cls, covariance: Any) -> Additive:
        """Any covariances (N, d, d); `InputError` unless symmetric and positive semidefinite."""
        array = as_numbers("covariance", covariance, ("N", "d", "d"))
        if (
            0 in array.shape
            or array.shape[1] != array.shape[2]
            or np.abs(array - array.transpose(0, 2, 1)).max() > 1e-12 * np.abs(array).max()
        ):
            raise InputError("covariance", f"array of shape {array.shape}", "give symmetric (d, d) matrices")
        values, vectors = np.linalg.eigh(array)
        if values.min() < -1e-12 * max(values.max(), 0):
            raise InputError("covariance", values.min().item(), "give positive semidefinite matrices")
        factor = vectors * np.sqrt(np.maximum(values, 0))[:, None, :]
        return cls(covariance=torch.from_numpy(array), factor=torch.from_numpy(factor))

    @property
    def sigma2(self) -> Tensor:
        """Total variances (N,), exact."""
        return self.covariance.diagonal(dim1=-2, dim2=-1).sum(-1)

    def draw(self, randomness: Randomness, iteration: int, *, stream: Stream = Stream.NOISE, batch: int = 1) -> Tensor:
        """Noise (S, N, m, d) of m independent samples per client."""
        n, d, _ = self.factor.shape
        z = randomness.normal(
            iteration=iteration, stream=stream, clients=n, features=batch * d, dtype=self.factor.dtype
        )
        return torch.einsum("kde,skme->skmd", self.factor, z.unflatten(-1, (batch, d)))

    def scenarios(self) -> tuple[Tensor, Tensor]:
        """+-sqrt(d) times each column of the factor, equally likely: mean 0 and the exact covariance."""
        n, d, _ = self.factor.shape
        points = d**0.5 * self.factor.permute(2, 0, 1)  # (d, N, d)
        draws = torch.cat((points, -points))[:, :, None]
        return torch.full((2 * d, n), 1 / (2 * d), dtype=draws.dtype, device=draws.device), draws
