"""Aligned clients whose own noise grows with the gradient: the instances where the multiplicative records are sharp.

The pairs of `aligned_pair` with total variance sigma_i^2 + M_i |grad R_i|^2 of client i's gradients: one step takes
E[e_{t-1}] to ((1 - x m)^2 + x^2 Q) E[e_{t-1}] + eta^2 curvature V/2, x = eta curvature, Q = alpha_i^2 M_i. The noise is
isotropic Gaussian given the past, so that the variance of e_t has a recursion too and vanishes as d grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .aligned_pair import Aligned
from .recursions import followed
from .scheduled import Decreasing, Horizon


@dataclass(frozen=True, kw_only=True)
class Growing(Aligned):
    """Constant steps. `limit` is the q that the theorem is given over the true one; `split` its kappa, of which
    multiplicative noise takes the share `fill` at the largest step that the theorem allows or is given."""

    split: np.ndarray | float = 0.0
    limit: np.ndarray | float = 1.0
    fill: np.ndarray | float = 1.0

    @property
    def q(self) -> np.ndarray:
        return self.limit * super().q

    @property
    def mu(self) -> np.ndarray:
        """(1 - kappa) mu, the rate that contracts, of which the steps of the rows are made."""
        return (1 - np.asarray(self.split)) * super().mu

    @cached_property
    def Q(self) -> np.ndarray:
        largest = np.asarray(self._largest)  # 0 where the start is below the floor of a horizon's row
        return np.where(largest > 0, self.fill * np.asarray(self.split) / np.where(largest > 0, largest, 1), 0)

    @property
    def _largest(self) -> np.ndarray:
        """beta times the largest step."""
        return self.eta * self.beta

    def arguments(self) -> dict[str, np.ndarray]:
        mu, one = super().mu, np.ones_like(self.e0)
        given = {"mu": mu, "G": 2 * mu * self.eps, "Q": self.Q * one, "split": self.split * one}
        return super().arguments() | given

    def _step(self, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        factor, noise = super()._step(eta)
        return factor + (eta * self.curvature) ** 2 * self.Q, noise

    @property
    def _steps(self) -> np.ndarray:
        """(1, n), or (T, n) where they change."""
        return np.asarray(self.eta)[None]

    @cached_property
    def _moments(self) -> tuple[np.ndarray, np.ndarray]:
        """With nu = eta^2 (V + 2 curvature Q e) the total variance of theta_t given e = e_{t-1}: e_t has the variance
        (2 curvature factor e nu + curvature^2 nu^2/2)/d given e, factor that of the mean, and so on."""
        (m, V), eta = self._pull, self._steps
        x = eta * self.curvature
        kept, grown, noise = (1 - x * m) ** 2, x**2 * self.Q, x * eta * V / 2
        factor = kept + grown
        mean = followed(factor, np.broadcast_to(noise, (len(self._times) - 1, len(self.e0))), self.e0)
        # d/2 times the variance, to which e and its square add at every t
        e, by_e, by_square = mean[:-1], 2 * noise * factor, grown * (kept + factor)
        added = noise**2 + (by_e + by_square * e) * e
        return mean, 2 / self.d * followed(factor**2 + 2 / self.d * by_square, added, np.zeros_like(self.e0))


@dataclass(frozen=True, kw_only=True)
class GrowingHorizon(Growing, Horizon):
    """The step for a horizon, of what contracts."""


@dataclass(frozen=True, kw_only=True)
class GrowingDecreasing(Growing, Decreasing):
    """C/((1 - kappa) mu (t + gamma))."""

    @property
    def _largest(self) -> np.ndarray:
        return self.C * self.beta / (self.mu * (1 + self.gamma))

    @property
    def _steps(self) -> np.ndarray:
        return self.C / (self.mu * (self._times[1:] + self.gamma))
