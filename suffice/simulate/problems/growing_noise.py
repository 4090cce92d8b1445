"""Quadratics whose gradients are the noisier the farther a model is from its optimum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from suffice.support.memory import Memory

from ..moments.gradient_moments import GradientMoments
from ..randomness import Randomness
from .gradient_noise import equally_likely
from .quadratic import Quadratics


@dataclass(frozen=True, kw_only=True)
class GrowingNoise(Quadratics):
    """g_k = grad R_k(theta) + noise_k + z_k W_k (theta - theta_k*), z_k a standard normal of its own, W = `growth`
    (N, d, d): Var g_k = sigma_k^2 + |W_k (theta - theta_k*)|^2.

    As grad R_k = H_k (theta - theta_k*) and R_k - R_k* = (theta - theta_k*)^T H_k (theta - theta_k*)/2, the variance is
    sigma_k^2 + M |grad R_k|^2 + 2 A (R_k - R_k*) where W_k^T W_k = M H_k^2 + A H_k. Draws hold (noise, z).
    """

    growth: Tensor

    def drawn(self, randomness: Randomness, batch: int, **when: Any) -> Tensor:
        n, d = self.xi.shape
        z = randomness.normal(**when, clients=n, features=batch * (d + 1), dtype=self.dtype).unflatten(-1, (batch, -1))
        return torch.cat((torch.einsum("kde,skme->skmd", self.noise.factor, z[..., :d]), z[..., d:]), -1)

    def scenarios(self) -> tuple[Tensor, Tensor]:
        """+-sqrt(d + 1) times each column of the noise's factor, and times z = 1, equally likely."""
        n, d = self.xi.shape
        unit = torch.eye(d + 1).to(self.xi).expand(n, -1, -1)
        columns = torch.cat((torch.cat((self.noise.factor, unit[:, d:, :d]), 1), unit[..., d:]), -1)
        return equally_likely(columns)

    def stochastic_gradient(self, theta: Tensor, weights: Tensor | None, draw: Tensor) -> Tensor:
        if weights is not None:
            return torch.einsum("spk,spkd->spd", weights, self.peer_gradient(self._of_peers(theta), draw))
        grown = (self.growth @ (theta + self.xi)[..., None])[..., 0]
        return super().stochastic_gradient(theta, None, draw[..., :-1]) + draw[..., -1:].mean(2) * grown

    def peer_gradient(self, theta: Tensor, draw: Tensor) -> Tensor:
        grown = torch.einsum("kde,spke->spkd", self.growth, theta + self.xi)
        return super().peer_gradient(theta, draw[..., :-1]) + draw[..., -1:].mean(2)[:, None] * grown

    def sampled_gap(self, theta: Tensor, draw: Tensor) -> tuple[Tensor, Tensor]:
        gradient = self.peer_gradient(self._of_peers(theta), draw)
        own = gradient.diagonal(dim1=1, dim2=2).mT
        return ((gradient - own[:, :, None]) ** 2).sum(-1), (own**2).sum(-1)

    def _of_peers(self, theta: Tensor) -> Tensor:
        return theta[:, :, None].expand(-1, -1, self.clients, -1)

    def noise_growth(self) -> tuple[np.ndarray, np.ndarray]:
        """M is the largest eigenvalue of H^-1 W^T W H^-1."""
        apart = self.growth @ torch.linalg.inv(2 * self.A)
        return super().noise_growth()[0], (torch.linalg.matrix_norm(apart, 2) ** 2).double().cpu().numpy()

    def gradient_moments(self, memory: Memory | None = None) -> GradientMoments | None:
        return None
