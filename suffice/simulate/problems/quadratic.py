"""Quadratics R_i(theta) = (theta + xi_i)^T A_i (theta + xi_i), without the factor 1/2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from suffice.bounds import Constants, QuadraticCertificate, labelled, positive_definite
from suffice.bounds.smoothness_and_strong_convexity import quadratic_constants
from suffice.support.memory import Memory
from suffice.support.numbers import as_numbers

from ..moments.gradient_moments import GradientMoments, manageable, moments_of_quadratics
from ..oracle import short
from ..problem import QuadraticProblem
from .gradient_noise import Additive, AdditiveNoise, additive_noise
from .start import starting_points


@dataclass(frozen=True, kw_only=True)
class Quadratics(AdditiveNoise, QuadraticProblem):
    """The losses are N quadratics, with additive Gaussian noise.

    A (N, d, d) symmetric positive definite [loss / theta^2], xi (N, d) [theta]; minimisers are -xi_i.
    Satisfies all assumptions of the adaptive paper: mu_i = 2 lambda_min(A_i), beta_i = 2 lambda_max(A_i).
    """

    __repr__ = short
    A: Tensor
    xi: Tensor
    noise: Additive
    start: Tensor
    names: tuple[str, ...]

    @classmethod
    def of(
        cls,
        A: Any,
        xi: Any,
        *,
        sigma2: Any = None,
        covariance: Any = None,
        start: Any = None,
        names: Sequence[str] = (),
    ) -> Quadratics:
        """Build from arrays, checked: exactly one of `sigma2` (total variances) and `covariance`; start 0."""
        A = positive_definite("A", A)
        n, d = A.shape[:2]
        xi = as_numbers("xi", xi, (n, d))
        noise = additive_noise(sigma2, covariance, clients=n, features=d)
        return cls(
            A=torch.from_numpy(A),
            xi=torch.from_numpy(xi),
            noise=noise,
            start=torch.from_numpy(starting_points(start, n, d)),
            names=labelled(names, n),
        )

    @cached_property
    def optimum(self) -> Tensor:
        return -self.xi

    @cached_property
    def _offset(self) -> Tensor:
        """grad R_k at client i's optimum, 2 A_k (xi_k - xi_i), as [i, k] (N, N, d): zero for a shared optimum."""
        return 2 * torch.einsum("kde,ike->ikd", self.A, self.xi[None] - self.xi[:, None])

    # Everything is written in delta = theta_i + xi_i, the distance to the model's own optimum, so that
    # nothing cancels there. Peers' gradients 2 A_k delta_i + offset_ik are formed a few features at a
    # time: N^2 numbers each, never N^2 d.

    def _anchored(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """delta (S, P, d) and offset (P, N, d); models that are not one per client are measured from 0."""
        if theta.shape[1] == self.clients:
            return theta + self.xi, self._offset
        return theta, (2 * torch.einsum("kde,ke->kd", self.A, self.xi)).expand(theta.shape[1], -1, -1)

    def excess(self, theta: Tensor) -> Tensor:
        delta = theta + self.xi
        return torch.einsum("sid,ide,sie->si", delta, self.A, delta)

    def gradient(self, theta: Tensor) -> Tensor:
        return 2 * torch.einsum("ide,sie->sid", self.A, theta + self.xi)

    def peers(self, theta: Tensor, part: slice) -> Tensor:
        delta, offset = self._anchored(theta)
        along = torch.matmul((2 * delta).flatten(0, 1), self.A[:, part].permute(1, 2, 0))
        return along.unflatten(1, theta.shape[:2]).add_(offset[..., part].movedim(-1, 0)[:, None])

    def mixed_gradient(self, theta: Tensor, weights: Tensor) -> Tensor:
        delta, offset = self._anchored(theta)
        twice, d, rows = 2 * delta[..., None, :], self.features, []
        for part in self.parts(theta.numel()):
            A = torch.matmul(weights, self.A[:, part].flatten(1))
            rows.append((A.unflatten(-1, (-1, d)) * twice).sum(-1))
        return torch.cat(rows, dim=-1) + torch.einsum("spk,pkd->spd", weights, offset)

    def population_peer_gradient(self, theta: Tensor) -> Tensor:
        return 2 * torch.einsum("kde,sike->sikd", self.A, theta + self.xi)

    def constants(self) -> Constants:
        A, xi = self.A.double().cpu().numpy(), self.xi.double().cpu().numpy()
        mu, beta = quadratic_constants(A)
        return self.known_by(mu=mu, beta=beta, heterogeneity=QuadraticCertificate(A=A, xi=xi))

    def gradient_moments(self, memory: Memory | None = None) -> GradientMoments | None:
        if not manageable(self.clients, self.features, memory):
            return None
        A, optimum, start, covariance = (
            part.double().cpu().numpy() for part in (self.A, self.optimum, self.start, self.noise.covariance)
        )
        return moments_of_quadratics(A, optimum, start=start, covariance=covariance)
