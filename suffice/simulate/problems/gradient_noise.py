"""Additive noise makes gradients stochastic, and its covariance is known exactly.

The noise of client k does not depend on where it is asked. The variance of gradients of rows is in `population`,
`least_squares` and `logistic`, noise that grows with the distance in `growing_noise`; a table of estimated variances is
in `suffice.planning.client_statistics`.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from suffice.support.errors import InputError
from suffice.support.numbers import as_numbers

from ..problem import Problem
from ..randomness import Randomness, Stream

CACHED, HELD = 2**15, 2**24
"""Numbers in one array of gradients of pairs, on a CPU and on a card."""


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
    def given(cls, covariance: Any, features: int, clients: int) -> Additive:
        """Any covariances (N, d, d); `InputError` unless symmetric and positive semidefinite."""
        array = as_numbers("covariance", covariance, (clients, features, features))
        if np.abs(array - array.transpose(0, 2, 1)).max() > 1e-12 * np.abs(array).max():
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


def equally_likely(factor: Tensor) -> tuple[Tensor, Tensor]:
    """Probabilities (2 d, N) of draws (2 d, N, 1, d): +-sqrt(d) times each column of the factor, equally likely, which
    have mean 0 and the exact covariance."""
    n, d, _ = factor.shape
    points = d**0.5 * factor.permute(2, 0, 1)  # (d, N, d)
    draws = torch.cat((points, -points))[:, :, None]
    return torch.full((2 * d, n), 1 / (2 * d), dtype=draws.dtype, device=draws.device), draws


def _mean(draw: Tensor) -> Tensor:
    return draw[:, :, 0] if draw.shape[2] == 1 else draw.mean(2)


def additive_noise(sigma2: Any, covariance: Any, *, clients: int, features: int) -> Additive:
    """Noise from exactly one of total variances and covariances, checked."""
    if (sigma2 is None) == (covariance is None):
        raise InputError("sigma2", sigma2, "give exactly one of sigma2 and covariance")
    size = features, clients
    return Additive.given(covariance, *size) if sigma2 is None else Additive.isotropic(sigma2, *size)


class AdditiveNoise(Problem):
    """Stochastic gradients from population gradients plus `noise`."""

    batch: int = 1
    noise: Additive

    @abstractmethod
    def gradient(self, theta: Tensor) -> Tensor:
        """grad R_i(theta_i), (S, N, d)."""

    @abstractmethod
    def mixed_gradient(self, theta: Tensor, weights: Tensor) -> Tensor:
        """sum_k weights[s, p, k] grad R_k(theta_p), (S, P, d)."""

    @abstractmethod
    def peers(self, theta: Tensor, part: slice) -> Tensor:
        """Some features a of grad R_k(theta_p), as [a, s, p, k]."""

    def parts(self, numbers: int) -> list[slice]:
        """Features that are taken together where each of them takes so many `numbers`, so that they fit the cache; on
        a card, where every operation costs a launch, as many as take some 100 MB."""
        some = max(1, (CACHED if self.device.type == "cpu" else HELD) // max(1, numbers))
        return [slice(first, first + some) for first in range(0, self.features, some)]

    @abstractmethod
    def population_peer_gradient(self, theta: Tensor) -> Tensor:
        """Client k's gradient at theta[s, i, k], (S, N, N, d)."""

    @property
    def sigma2(self) -> Tensor:
        return self.noise.sigma2

    def gradient_gap(self, theta: Tensor) -> Tensor:
        return self._gap(theta, self.gradient(theta), None)

    def _gap(self, theta: Tensor, own: Tensor, noise: Tensor | None) -> Tensor:
        """|grad R_k(theta_i) + noise_k - own_i|^2 as [s, i, k]."""
        gap = theta.new_zeros(*theta.shape[:2], self.noise.factor.shape[0])
        for part in self.parts(gap.numel()):
            peer = self.peers(theta, part)
            if noise is not None:
                peer += noise[..., part].movedim(-1, 0)[:, :, None]
            peer -= own[..., part].movedim(-1, 0)[..., None]
            gap = gap.add_(peer.mul_(peer).sum(0))
        return gap

    def drawn(self, randomness: Randomness, batch: int, **when: Any) -> Tensor:
        """Noise (S, N, batch, d)."""
        return self.noise.draw(randomness, **when, batch=batch)

    def stochastic_gradient(self, theta: Tensor, weights: Tensor | None, draw: Tensor) -> Tensor:
        noise = _mean(draw)
        if weights is None:
            return self.gradient(theta) + noise
        return self.mixed_gradient(theta, weights) + torch.matmul(weights, noise)

    def peer_gradient(self, theta: Tensor, draw: Tensor) -> Tensor:
        return self.population_peer_gradient(theta) + _mean(draw)[:, None]

    def sampled_gap(self, theta: Tensor, draw: Tensor) -> tuple[Tensor, Tensor]:
        noise = _mean(draw)
        own = self.gradient(theta) + noise
        gap = self._gap(theta, own, noise)
        gap.diagonal(dim1=-2, dim2=-1).zero_()
        return gap, (own**2).sum(-1)

    def scenarios(self) -> tuple[Tensor, Tensor]:
        return equally_likely(self.noise.factor)
