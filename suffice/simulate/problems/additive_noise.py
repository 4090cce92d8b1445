"""The oracle of problems with additive noise: the noise of client k does not depend on where it is asked."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch
from torch import Tensor

from suffice.support.errors import InputError

from ..gradient_noise import Additive
from ..problem import Problem
from ..randomness import Randomness

CACHED, HELD = 2**15, 2**24
"""Numbers in one array of gradients of pairs, on a CPU and on a card."""


def _mean(draw: Tensor) -> Tensor:
    return draw[:, :, 0] if draw.shape[2] == 1 else draw.mean(2)


def additive_noise(sigma2: Any, covariance: Any, *, clients: int, features: int) -> Additive:
    """Noise from exactly one of total variances and covariances, checked."""
    if (sigma2 is None) == (covariance is None):
        raise InputError("sigma2", sigma2, "give exactly one of sigma2 and covariance")
    noise = Additive.given(covariance) if sigma2 is None else Additive.isotropic(sigma2, features, clients)
    shape = (clients, features, features)
    if noise.covariance.shape != shape:
        raise InputError("covariance", f"array of shape {tuple(noise.covariance.shape)}", f"give shape {shape}")
    return noise


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
        return self.noise.scenarios()
