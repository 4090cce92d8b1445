"""Least squares on a stream: x ~ N(0, H_i), y = x . theta_i* + label noise, R_i(theta) = E (x . theta - y)^2.

Up to its minimum s_i^2, R_i(theta) = delta^T H_i delta with delta = theta - theta_i*, without the factor 1/2. Fresh
samples every iteration; their noise is multiplicative: Var g_i = 4 tr(H_i) R_i + |grad R_i|^2 with R_i including
s_i^2, over the batch. So Assumption 2 of Philippenko et al. (2025) fails in this, their own, experiment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from suffice.bounds import positive_definite
from suffice.support.errors import InputError
from suffice.support.memory import Memory
from suffice.support.numbers import as_numbers, as_whole, real_array

from ..moments.gradient_moments import GradientMoments, manageable, moments_of_gaussian_features
from ..oracle import short
from ..randomness import Randomness
from .cubature import gaussian_cubature
from .linear_model import LinearModel
from .population import QuadraticPopulation
from .quadratic import Quadratics


@dataclass(frozen=True, kw_only=True)
class StreamingLeastSquares(LinearModel, QuadraticPopulation):
    """N streams; features of client i are mean_i + root_i z with z standard normal in r dimensions.

    mean (N, d), root (N, d, r)   mean 0 and H = root root^T, or with a bias a last feature that is always 1
    label_noise (N,)              standard deviation s_i of y given x [sqrt(loss)]
    batch                         samples that one stochastic gradient averages
    pairwise                      every ordered pair (model i, client k) draws its own sample, as the released code of
                                  the adaptive paper does; otherwise one sample of client k serves all models

    A sample is (x, y - x . theta_i*), so that near the optima nothing cancels.
    """

    __repr__ = short
    population: Quadratics
    mean: Tensor
    root: Tensor
    label_noise: Tensor
    batch: int
    pairwise: bool

    without_noise: ClassVar[str] = "all models start at its optimum without label noise; give either"

    @classmethod
    def of(
        cls,
        H: Any,
        theta_star: Any,
        *,
        label_noise: Any = 0.0,
        batch: int = 1,
        bias: bool = False,
        pairwise: bool = False,
        start: Any = None,
        names: Sequence[str] = (),
    ) -> StreamingLeastSquares:
        """Build from second moments H (N, d, d), or one (d, d) for all, and minimisers theta_star (N, d), checked.

        With `bias` the models have one more coefficient, the last one, for a feature that is always 1: theta_star
        and start then have d + 1 columns. label_noise is one number or one per client; start 0 unless given.
        """
        theta = as_numbers("theta_star", theta_star, ("N", "d"))
        n = len(theta)
        second = real_array("H", H)
        moments = positive_definite("H", np.tile(second, (n, 1, 1)) if second.ndim == 2 else second)
        d = moments.shape[1]
        if theta.shape != (len(moments), d + bias):
            raise InputError("theta_star", f"array of shape {theta.shape}", f"give shape {(len(moments), d + bias)}")
        noise = as_numbers("label_noise", label_noise, (n,), one_for_all=True)
        if (noise < 0).any():
            raise InputError("label_noise", noise.min().item(), "give standard deviations >= 0")
        root, mean = np.linalg.cholesky(moments), np.zeros((n, d + bias))
        if bias:
            mean[:, -1] = 1
            root = np.concatenate((root, np.zeros((n, 1, d))), axis=1)
        second = root @ root.transpose(0, 2, 1) + mean[:, :, None] * mean[:, None]
        return cls(
            population=Quadratics.of(second, -theta, sigma2=0.0, start=start, names=names),
            mean=torch.from_numpy(mean),
            root=torch.from_numpy(root),
            label_noise=torch.from_numpy(noise),
            batch=as_whole("batch", batch),
            pairwise=bool(pairwise),
        )

    ridge = 0.0

    def slope(self, prediction: Tensor, y: Tensor) -> Tensor:
        return 2 * (prediction - y)

    # Models are seen from the first client's optimum: exact where all clients share theirs.

    def centred(self, theta: Tensor) -> Tensor:
        return theta - self.optimum[0]

    def samples(self, draw: Tensor) -> tuple[Tensor, Tensor]:
        """x and y - x . theta_0*; pairwise draws have the model i as a further axis before the last."""
        x, noise = draw[..., :-1], draw[..., -1]
        shift = self.optimum - self.optimum[0]
        return x, torch.einsum("sk...d,kd->sk...", x, shift) + noise

    def drawn(self, randomness: Randomness, batch: int, **when: Any) -> Tensor:
        """(x, label noise) of m samples per client, (S, N, m, d + 1), or per pair [s, k, j, i], (S, N, m, N, d + 1)."""
        n, r = self.clients, self.root.shape[-1] + 1
        shape = (batch, n, r) if self.pairwise else (batch, r)
        z = randomness.normal(**when, clients=n, features=int(np.prod(shape)), dtype=self.dtype)
        return self._sample(z.unflatten(-1, shape))

    def _sample(self, z: Tensor) -> Tensor:
        """Draws from standard normals (S, N, ..., r + 1), the label noise last."""
        x = torch.einsum("kdr,sk...r->sk...d", self.root, z[..., :-1])
        inner = (1,) * (z.ndim - 3)
        noise = self.label_noise.view(-1, *inner) * z[..., -1]
        return torch.cat((x + self.mean.view(self.clients, *inner, -1), noise[..., None]), dim=-1)

    # Pairwise samples: there is a gradient for every pair, and nothing is shared that could be factored out.

    def stochastic_gradient(self, theta: Tensor, weights: Tensor | None, draw: Tensor) -> Tensor:
        if not self.pairwise:
            return super().stochastic_gradient(theta, weights, draw)
        if weights is None:
            own = draw.diagonal(dim1=1, dim2=3).permute(0, 3, 1, 2)
            return super().stochastic_gradient(theta, None, own)
        return torch.einsum("sik,sikd->sid", weights, self._of_pairs(theta[:, :, None], draw))

    def peer_gradient(self, theta: Tensor, draw: Tensor) -> Tensor:
        return self._of_pairs(theta, draw) if self.pairwise else super().peer_gradient(theta, draw)

    def sampled_gap(self, theta: Tensor, draw: Tensor) -> tuple[Tensor, Tensor]:
        if not self.pairwise:
            return super().sampled_gap(theta, draw)
        gradient = self._of_pairs(theta[:, :, None], draw)
        own = gradient.diagonal(dim1=1, dim2=2).transpose(-1, -2)
        return ((gradient - own[:, :, None]) ** 2).sum(-1), (own**2).sum(-1)

    def _of_pairs(self, theta: Tensor, draw: Tensor) -> Tensor:
        """Client k's gradient at theta[s, i, k] from the pair's own sample, (S, N, N, d)."""
        x, y = self.samples(draw)
        prediction = (self.centred(theta).transpose(1, 2)[:, :, None] * x).sum(-1)  # [s, k, j, i]
        return torch.einsum("skji,skjid->sikd", self.slope(prediction, y) / x.shape[2], x)

    # Isserlis' theorem for x = m + z: with q = H delta and a = m.delta,
    #     E x x^T (x.delta)^2 = (delta.q) H + 2 q q^T - 2 a^2 m m^T,
    # and g = 2 x (x.delta - noise) has mean 2 q, so that its covariance is, with level = delta.q + s^2,
    #     4 (level H + q q^T - 2 a^2 m m^T) / batch.

    def variance(self, theta: Tensor) -> Tensor:
        """Its trace (P, N): (4 tr(H) (delta^T H delta + s^2) + |grad R|^2) / batch where features have mean 0."""
        delta = theta[:, None] - self.optimum
        q = torch.einsum("kde,pke->pkd", self.A, delta)
        level = (delta * q).sum(-1) + self.label_noise**2
        trace = self.A.diagonal(dim1=-2, dim2=-1).sum(-1)
        constant = (self.mean * delta).sum(-1) ** 2 * (self.mean**2).sum(-1)
        return 4 / self.batch * (level * trace + (q**2).sum(-1) - 2 * constant)

    def noise_growth(self) -> tuple[np.ndarray, np.ndarray]:
        """The smallest (floor, M), each (N,), with Var[g_k] <= floor_k + M_k |grad R_k|^2 everywhere.

        floor = 4 s^2 tr(H) / batch; M = (1 + lambda_max(tr(H) H^-1 - 2 |m|^2 H^-1 m m^T H^-1)) / batch, which is
        (1 + tr(H) / lambda_min(H)) / batch where features have mean 0.
        """
        trace = self.A.diagonal(dim1=-2, dim2=-1).sum(-1)
        inverse = torch.linalg.inv(self.A)
        image = torch.einsum("kde,ke->kd", inverse, self.mean) * (self.mean**2).sum(-1, keepdim=True).sqrt()
        shape = trace[:, None, None] * inverse - 2 * image[:, :, None] * image[:, None]
        M = 1 + torch.linalg.eigvalsh((shape + shape.mT) / 2)[:, -1]
        floor = 4 * self.label_noise**2 * trace
        return floor.double().cpu().numpy() / self.batch, M.double().cpu().numpy() / self.batch

    def scenarios(self) -> tuple[Tensor, Tensor]:
        """A cubature of degree 5: a gradient is quadratic in the normals of its sample, its square of degree 4.

        Pairwise samples are integrated together, over N times as many variables, so that different models'
        gradients come out uncorrelated.
        """
        r, n = self.root.shape[-1] + 1, self.clients
        points, weights = gaussian_cubature(n * r if self.pairwise else r)
        z = torch.from_numpy(points).to(self.root)[:, None, None].expand(-1, n, 1, -1)
        if self.pairwise:
            z = z.unflatten(-1, (n, r))
        return torch.from_numpy(weights).to(self.root)[:, None].expand(-1, n), self._sample(z)

    def gradient_moments(self, memory: Memory | None = None) -> GradientMoments | None:
        if not manageable(self.clients, self.features, memory):
            return None
        A, optimum, mean, label_noise, start = (
            part.double().cpu().numpy() for part in (self.A, self.optimum, self.mean, self.label_noise, self.start)
        )
        return moments_of_gaussian_features(
            A, optimum, mean=mean, label_noise=label_noise, start=start, batch=self.batch
        )
