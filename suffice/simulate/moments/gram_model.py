"""A model of one client's excess in which every Hessian is the identity: cheap to search among hundreds of peers.

In coordinates in which clients' second moments are about the identity let Delta_k = theta_k* - theta_i*, and let client
k's noise add tau_k (|m - Delta_k|^2 + s) + kappa_k to s, the variance of a model of mean m. With r = 1 - 2 sum v, h =
sum v_k Delta_k, q_k = 4 v_k^2 tau_k / batch and lam = r^2 + sum q a step gives
    m+ = r m + 2 h,   s+ = lam s + sum q |m|^2 - 2 m . E + Q,   E = sum q_k Delta_k,
    Q = sum q_k |Delta_k|^2 + 4 sum v_k^2 kappa_k / batch,
and as |m+|^2 = r^2 |m|^2 + 4 r m . h + 4 |h|^2, the excess S = |m|^2 + s is S+ = lam S + (4 r h - 2 E) . m + 4 |h|^2 +
Q: z = (1, m, S) obeys z+ = M(v) z, with M of second degree in v as that of `recursion` is.
It tells where to start an exact search, and nothing else: no number of it is printed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .gradient_moments import GradientMoments, moments_at
from .packed import pack
from .recursion import LinearRecursion


@dataclass(frozen=True, kw_only=True)
class GramModel(LinearRecursion):
    """The model of one client's excess with N peers.

    gaps    (N, d)  Delta_k
    begin   (d,)    the mean at the start
    growth  (N,) tau_k / batch; level (N,) kappa_k / batch
    """

    gaps: np.ndarray
    begin: np.ndarray
    growth: np.ndarray
    level: np.ndarray

    @classmethod
    def of(cls, moments: GradientMoments) -> list[GramModel]:
        """One model for each client, from moments in coordinates in which their Hessians are about the identity."""
        d = moments.features
        along = pack(np.eye(d)) @ moments.noise
        growth, level = along[:, 1 + d :] @ pack(np.eye(d)) / d, (along * moments_at(moments.optimum)).sum(1)
        return cls.from_minimisers(moments.optimum, moments.start, growth / moments.batch, level / moments.batch)

    @classmethod
    def from_minimisers(
        cls, optimum: np.ndarray, start: np.ndarray, growth: np.ndarray, level: np.ndarray
    ) -> list[GramModel]:
        growth, level = np.maximum(growth, 0), np.maximum(level, 0)
        return [
            cls(gaps=optimum - at, begin=begin - at, growth=growth, level=level) for at, begin in zip(optimum, start)
        ]

    def only(self, client: int) -> GramModel:
        """The model with this peer alone, perhaps the client itself."""
        return replace(self, **{name: getattr(self, name)[[client]] for name in ("gaps", "growth", "level")})

    def over(self, unit: float) -> GramModel:
        """The model with excesses in units of so much loss."""
        root = np.sqrt(unit)
        return replace(self, gaps=self.gaps / root, begin=self.begin / root, level=self.level / unit)

    @cached_property
    def start(self) -> np.ndarray:
        return np.concatenate(([1.0], self.begin, [self.begin @ self.begin]))

    @cached_property
    def loss(self) -> np.ndarray:
        return np.eye(len(self.start))[-1]

    @property
    def sizes(self) -> np.ndarray:
        """About how large the peers' rates may be beside one another, (N,): all alike."""
        return np.ones(len(self.growth))

    @cached_property
    def _squares(self) -> np.ndarray:
        return (self.gaps**2).sum(-1)

    def limits(self, V: np.ndarray) -> np.ndarray:
        """The factor c below which lam < 1 for rates c v, (K,): (1 - c U)^2 + c^2 sum q < 1 with U = 2 sum v."""
        U, p = 2 * V.sum(-1), 4 * V**2 @ self.growth
        return 2 * U / (U**2 + p)

    def stable(self, v: np.ndarray) -> bool:
        return bool(self.limits(v) > 1)

    def matrices(self, V: np.ndarray) -> np.ndarray:
        d, r, h, q = len(self.begin), 1 - 2 * V.sum(-1), V @ self.gaps, 4 * V**2 * self.growth
        M = np.zeros((len(V), 2 + d, 2 + d))
        M[:, 0, 0] = 1
        M[:, 1:-1, 0] = 2 * h
        M[:, 1:-1, 1:-1] = r[:, None, None] * np.eye(d)
        M[:, -1, 0] = 4 * (h**2).sum(-1) + q @ self._squares + 4 * V**2 @ self.level
        M[:, -1, 1:-1] = 4 * r[:, None] * h - 2 * q @ self.gaps
        M[:, -1, -1] = r**2 + q.sum(-1)
        return M

    def contract(self, v: np.ndarray, G: np.ndarray) -> np.ndarray:
        r, h, mean, along, last, rest = 1 - 2 * v.sum(), v @ self.gaps, G[1:-1], G[-1, 1:-1], G[-1, -1], G[-1, 0]
        by_gaps = self.gaps @ (2 * mean[:, 0] + 4 * r * along + 8 * rest * h)
        by_q = last - 2 * self.gaps @ along + rest * self._squares
        by_r = np.trace(mean[:, 1:-1]) + 2 * r * last + 4 * h @ along
        return by_gaps - 2 * by_r + 8 * v * (self.growth * by_q + rest * self.level)
