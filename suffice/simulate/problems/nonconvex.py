"""Smooth non-convex losses with known constants: R_i(theta) = sum_a w_ia phi(theta_a - theta_ia*), additive noise.

Every profile phi has its only or one of its minima at 0, phi(0) = 0. Sums over coordinates inherit its constants:
beta_i = beta_phi max_a w_ia, and mu_i = mu_phi min_a w_ia for the PL inequality |grad R|^2 >= 2 mu (R - min R), since
|grad R|^2 = sum w^2 phi'^2 >= sum w^2 2 mu_phi phi; both are attained by moving along one coordinate.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from suffice.bounds import Constants, GradientDissimilarity, labelled
from suffice.support.errors import InputError
from suffice.support.numbers import as_number, as_numbers, real_array

from ..oracle import short
from ..problem import Trust
from .gradient_noise import Additive, AdditiveNoise, additive_noise
from .start import starting_points

LARGEST_RIPPLE = 4.6
"""sin(2u) = -2u/a has a solution u != 0, a second stationary point, from a = -1 / min(sin(v)/v) = 4.6033 on."""


class Profile(ABC):
    """A function phi of one variable, with its smoothness and PL constants (mu = 0: not PL)."""

    smoothness: Any
    mu: Any

    @abstractmethod
    def value(self, u: Tensor) -> Tensor: ...

    @abstractmethod
    def slope(self, u: Tensor) -> Tensor: ...

    @abstractmethod
    def apart(self, w: np.ndarray, other: np.ndarray, shift: np.ndarray) -> np.ndarray:
        """An upper bound of sup_u |w phi'(u) - other phi'(u + shift)|, elementwise; inf where there is none."""


@dataclass(frozen=True)
class Ripple(Profile):
    """phi = u^2 + a sin^2 u, 1 < a <= 4.6: one stationary point, PL, phi'' in [2 - 2a, 2 + 2a].

    `mu` is a certified lower bound of inf phi'^2 / (2 phi), sharp to a relative 1e-6.
    """

    amplitude: float = 3.0

    def __post_init__(self) -> None:
        if not 1 < as_number("amplitude", self.amplitude) <= LARGEST_RIPPLE:
            remedy = f"give 1 < a <= {LARGEST_RIPPLE}: convex below, a second stationary point above"
            raise InputError("amplitude", self.amplitude, remedy)

    smoothness = property(lambda self: 2 + 2 * self.amplitude)
    mu = cached_property(lambda self: _ripple_mu(self.amplitude))

    def value(self, u: Tensor) -> Tensor:
        return u**2 + self.amplitude * torch.sin(u) ** 2

    def slope(self, u: Tensor) -> Tensor:
        twice = 2 * u
        return torch.sin(twice).mul_(self.amplitude).add_(twice)

    def apart(self, w: np.ndarray, other: np.ndarray, shift: np.ndarray) -> np.ndarray:
        # sin(2u + 2s) - sin(2u) = 2 sin(s) cos(2u + s): the supremum is attained. Unequal weights leave 2 (w - w') u.
        return np.where(w == other, w * (2 * np.abs(shift) + 2 * self.amplitude * np.abs(np.sin(shift))), np.inf)


def _ripple_mu(a: float) -> float:
    """A lower bound of inf_u h(u), h = phi'^2 / (2 phi), by cases in u > 0 (phi is even).

    u <= 1/2: sin(2u) >= 2u sin(1) and phi <= (1 + a) u^2, so h >= 2 (1 + a sin(1))^2 / (1 + a) > 2.
    u >= 10: phi' >= 2u - a and phi <= u^2 + a, so h >= (20 - a)^2 / (2 (100 + a)).
    Between: phi increases and |phi''| <= 2 + 2a, so on a cell with centre m and half-width r
    h >= (phi'(m) - (2 + 2a) r)^2 / (2 phi(m + r)). Cells whose bound is below 1 - 1e-6 times the least h seen
    are divided until none is left: then that level is a bound.
    """
    count, level = 1000, np.inf
    r = (10 - 1 / 2) / (2 * count)
    centre = 1 / 2 + r * (2 * np.arange(count) + 1)
    while len(centre):
        phi, beyond = (u**2 + a * np.sin(u) ** 2 for u in (centre, centre + r))
        slope = 2 * centre + a * np.sin(2 * centre)
        level = min(level, (1 - 1e-6) * (slope**2 / (2 * phi)).min())
        bound = np.maximum(slope - (2 + 2 * a) * r, 0) ** 2 / (2 * beyond)
        centre, r = centre[bound * (1 - 1e-12) < level], r / 2  # the factor covers rounding
        centre = np.concatenate((centre - r, centre + r))
    return float(min(level, (20 - a) ** 2 / (2 * (100 + a))))


@dataclass(frozen=True)
class Well(Profile):
    """phi = u^2 / (1 + u^2): bounded by 1, phi'' in [-1/2, 2], |phi'| <= 9 / (8 sqrt 3) at u = 1 / sqrt 3; not PL."""

    smoothness = 2.0
    mu = 0.0

    def value(self, u: Tensor) -> Tensor:
        return u**2 / (1 + u**2)

    def slope(self, u: Tensor) -> Tensor:
        return 2 * u / (1 + u**2) ** 2

    def apart(self, w: np.ndarray, other: np.ndarray, shift: np.ndarray) -> np.ndarray:
        # w phi'(u) - w' phi'(u + s) = (w - w') phi'(u) + w' (phi'(u) - phi'(u + s)), |phi'| <= top, |phi''| <= 2
        top = 9 / (8 * np.sqrt(3))
        return np.abs(w - other) * top + np.minimum(w, other) * np.minimum(2 * np.abs(shift), 2 * top)


@dataclass(frozen=True, kw_only=True)
class Separable(AdditiveNoise):
    """Losses are sums of one profile over the coordinates, with additive Gaussian noise.

    optimum (N, d) [theta], scale (N, d) the weights w > 0 [loss]; u is theta itself: its unit is that of the profile.
    """

    __repr__ = short
    profile: Profile
    optimum: Tensor
    scale: Tensor
    noise: Additive
    start: Tensor
    names: tuple[str, ...]

    @classmethod
    def of(
        cls,
        profile: Profile,
        optimum: Any,
        *,
        scale: Any = 1.0,
        sigma2: Any = None,
        covariance: Any = None,
        start: Any = None,
        names: Sequence[str] = (),
    ) -> Separable:
        """Build from minimisers (N, d) and weights, one number, (N,) or (N, d), checked.

        Exactly one of `sigma2` (total variances) and `covariance`; start 0 unless given.
        """
        optimum = as_numbers("optimum", optimum, ("N", "d"))
        n, d = optimum.shape
        if 0 in (n, d):
            raise InputError("optimum", f"array of shape {optimum.shape}", "give at least one client and one feature")
        weights = real_array("scale", scale)
        weights = as_numbers("scale", weights, ((), (n,), (n, d))[min(weights.ndim, 2)], positive=True)
        weights = np.broadcast_to(weights[:, None] if weights.ndim == 1 else weights, (n, d)).copy()
        return cls(
            profile=profile,
            optimum=torch.from_numpy(optimum),
            scale=torch.from_numpy(weights),
            noise=additive_noise(sigma2, covariance, clients=n, features=d),
            start=torch.from_numpy(starting_points(start, n, d)),
            names=labelled(names, n),
        )

    def excess(self, theta: Tensor) -> Tensor:
        return (self.scale * self.profile.value(theta - self.optimum)).sum(-1)

    def gradient(self, theta: Tensor) -> Tensor:
        return self.scale * self.profile.slope(theta - self.optimum)

    def peers(self, theta: Tensor, part: slice) -> Tensor:
        # Arrays of pairs have the strides of what they are computed from: features must lie first, as in what is read.
        scale, optimum = (each[:, part].T.contiguous()[:, None, None] for each in (self.scale, self.optimum))
        return self.profile.slope(theta[..., part].movedim(-1, 0).contiguous()[..., None] - optimum).mul_(scale)

    def mixed_gradient(self, theta: Tensor, weights: Tensor) -> Tensor:
        parts = self.parts(weights.numel())
        return torch.cat([self.peers(theta, part).mul_(weights).sum(-1) for part in parts]).movedim(0, -1)

    def population_peer_gradient(self, theta: Tensor) -> Tensor:
        return self.gradient(theta)  # the client is the last but one axis in both

    @property
    def smoothness(self) -> Tensor:
        """beta_i, exact, (N,)."""
        return self.profile.smoothness * self.scale.max(-1).values

    @property
    def mu(self) -> Tensor:
        """PL constants, (N,); 0 where the profile has none."""
        return self.profile.mu * self.scale.min(-1).values

    def heterogeneity(self) -> GradientDissimilarity:
        """Pairs (b2, c) of Assumption 3: coordinates are independent, so suprema add up.

        Where gradients differ boundedly b2 is their sum and c = 0. Otherwise (ripples with w_i != w_k) split
        w_i phi'(u) - w_k phi'(u + s) = (1 - w_k/w_i) w_i phi'(u) + w_k (phi'(u) - phi'(u + s)), and |x + y|^2 <=
        2 |x|^2 + 2 |y|^2.
        """
        w, at = self.scale.double().cpu().numpy(), self.optimum.double().cpu().numpy()
        own, other = np.broadcast_arrays(w[:, None], w[None])  # [i, k, a]
        shift = at[:, None] - at[None]
        b2 = (self.profile.apart(own, other, shift) ** 2).sum(-1)
        split = 2 * (self.profile.apart(other, other, shift) ** 2).sum(-1)
        c = np.where(np.isinf(b2), 2 * ((1 - other / own) ** 2).max(-1), 0.0)
        return GradientDissimilarity(b2=np.where(np.isinf(b2), split, b2), c=c)

    def certainty(self) -> tuple[Trust, str, str]:
        return "certified", "all models", "all models"

    def constants(self) -> Constants:
        if not self.profile.mu:
            remedy = "not PL, so there is no mu; read smoothness, sigma2 and heterogeneity() from the problem"
            raise InputError("profile", type(self.profile).__name__, remedy)
        mu, beta = (each.double().cpu().numpy() for each in (self.mu, self.smoothness))
        return self.known_by(mu=mu, beta=beta, heterogeneity=self.heterogeneity())
