"""A model of one client's excess in which every Hessian is the identity: cheap to search among hundreds of peers.

In coordinates in which clients' second moments are about the identity let Delta_k = theta_k* - theta_i*, and let client
k's noise add tau_k (|m - Delta_k|^2 + s) + kappa_k, s the variance of the model. With U = 2 sum v, r = 1 - U, q_k = 4
v_k^2 tau_k / batch, p = sum q, Delta = sum v_k Delta_k / sum v, E = sum q_k Delta_k and lam = r^2 + p
    m_t = a_t m_0 + (1 - a_t) Delta, a_t = r^t,     s_{t+1} = lam s_t + p |m_t|^2 - 2 m_t . E + Q,
    Q = sum q_k |Delta_k|^2 + 4 sum v_k^2 kappa_k / batch,
which sums up to, with c = m_0 . Delta, W = |Delta|^2, e1 = m_0 . E, e2 = Delta . E,
    |m_t|^2 + s_t = (|m_0|^2 - 2 c + W) lam^t + 2 (c - W) r^t + W + A1 (lam^t - r^t) / (lam - r)
                    + A0 (1 - lam^t) / (1 - lam),   A1 = 2 p (c - W) - 2 (e1 - e2),  A0 = p W - 2 e2 + Q.
It tells where to start an exact search, and nothing else: no number of it is printed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .gradient_moments import GradientMoments, moments_at
from .packed import pack

NEAR = 1e-9
"""lam - r and 1 - lam are kept this far from 0, where the sums have limits."""
NUMBERS = 1e6
"""In the rates and curves of the clients whose times are found together; some ten arrays have as many."""


@dataclass(frozen=True, kw_only=True)
class GramModel:
    """Of G clients with N peers each.

    gaps    (G, N, d)  Delta_k
    start   (G, d)     m_0
    growth  (N,) tau_k / batch; level (N,) kappa_k / batch
    """

    gaps: np.ndarray
    start: np.ndarray
    growth: np.ndarray
    level: np.ndarray

    @classmethod
    def of(cls, moments: GradientMoments, clients: np.ndarray) -> GramModel:
        """Of moments in coordinates in which the clients' Hessians are about the identity."""
        d = moments.features
        trace, growth, level = pack(np.eye(d)), [], []
        for noise, at in zip(moments.noise, moments.optimum):
            along = trace @ noise
            growth.append(along[1 + d :] @ trace / d)
            level.append(along @ moments_at(at))
        return cls.from_minimisers(
            moments.optimum, moments.start, np.array(growth) / moments.batch, np.array(level) / moments.batch, clients
        )

    @classmethod
    def from_minimisers(
        cls, optimum: np.ndarray, start: np.ndarray, growth: np.ndarray, level: np.ndarray, clients: np.ndarray
    ) -> GramModel:
        return cls(
            gaps=optimum - optimum[clients][:, None],
            start=start[clients] - optimum[clients],
            growth=np.maximum(growth, 0),
            level=np.maximum(level, 0),
        )

    def __getitem__(self, groups: Any) -> GramModel:
        return replace(self, gaps=self.gaps[groups], start=self.start[groups])

    def limits(self, V: np.ndarray) -> np.ndarray:
        """The factor c below which lam < 1 for rates c v, (G, K): (1 - c U)^2 + c^2 p < 1."""
        U, p = 2 * V.sum(-1), 4 * (V**2 * self.growth).sum(-1)
        return 2 * U / (U**2 + p)

    def trial(self, V: np.ndarray, steps: int) -> GramTrial:
        return GramTrial(self, V, np.arange(steps + 1))

    def times(self, V: np.ndarray, epsilon: np.ndarray, horizon: int) -> np.ndarray:
        """About the first t with an excess of at most epsilon (G,), at most 3 % too large; inf beyond the horizon."""
        t = np.unique(np.concatenate((np.arange(1, 65), np.geomspace(64, max(horizon, 64), 300).round()))).astype(int)
        found = np.empty(V.shape[:2])
        some = max(1, int(NUMBERS / (V.shape[1] * (len(t) + V.shape[2]))))
        for first in range(0, len(V), some):
            part = slice(first, first + some)
            below = GramTrial(self[part], V[part], t).excess <= epsilon[part, None, None]
            found[part] = np.where(below.any(-1), t[np.argmax(below, axis=-1)], np.inf)
        return found


class GramTrial:
    """Rates V (G, K, N) at times t: `excess` (G, K, len(t))."""

    def __init__(self, model: GramModel, V: np.ndarray, t: np.ndarray) -> None:
        self.model, self.V = model, V
        total = V.sum(-1)
        self.q = 4 * V**2 * model.growth
        self.mean, self.E = (V @ model.gaps) / total[..., None], self.q @ model.gaps
        self.squares = (model.gaps**2).sum(-1)[:, None]
        start = model.start[:, None]
        self.M = (start**2).sum(-1)
        self.r, self.p = 1 - 2 * total, self.q.sum(-1)
        self.c, self.W = (self.mean * start).sum(-1), (self.mean**2).sum(-1)
        self.e1, self.e2 = (self.E * start).sum(-1), (self.E * self.mean).sum(-1)
        self.Q = (self.q * self.squares).sum(-1) + 4 * (V**2 * model.level).sum(-1)
        lam = self.r**2 + self.p
        lam = np.where(np.abs(1 - lam) < NEAR, 1 - NEAR, lam)
        self.lam = np.where(np.abs(lam - self.r) < NEAR, self.r + NEAR, lam)
        with np.errstate(over="ignore", invalid="ignore"):
            value = self._terms(t)[0]
        self.excess = np.where(np.isfinite(value), np.maximum(value, 0), np.inf)

    def _terms(self, t: np.ndarray) -> tuple[np.ndarray, ...]:
        """The excess, lam^t, r^t and the two sums, at t that broadcasts against (G, K, 1)."""
        lam, r, c, W = (one[..., None] for one in (self.lam, self.r, self.c, self.W))
        L, R = lam**t, r**t
        g1, g0 = (L - R) / (lam - r), (1 - L) / (1 - lam)
        A1, A0 = (one[..., None] for one in self._sources())
        value = (self.M[..., None] - 2 * c + W) * L + 2 * (c - W) * R + W + A1 * g1 + A0 * g0
        return value, L, R, g1, g0

    def _sources(self) -> tuple[np.ndarray, np.ndarray]:
        return (
            2 * self.p * (self.c - self.W) - 2 * (self.e1 - self.e2),
            self.p * self.W - 2 * self.e2 + self.Q,
        )

    def stable(self, groups: np.ndarray, problems: np.ndarray) -> np.ndarray:
        return self.lam[groups, problems] < 1

    def derivatives(self, goals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """ln of the excess at g = goals (G,) steps and its derivatives by the rates."""
        T = goals[:, None, None]
        value, L, R, g1, g0 = (one[..., 0] for one in self._terms(T))
        T, lam, r, p, c, W = T[..., 0], self.lam, self.r, self.p, self.c, self.W
        A1, A0 = self._sources()
        dL, dR = T * lam ** (T - 1), T * r ** (T - 1)
        by_lam = (self.M - 2 * c + W) * dL + A1 * (dL - g1) / (lam - r) + A0 * (g0 - dL) / (1 - lam)
        by_r = 2 * (c - W) * dR + A1 * (g1 - dR) / (lam - r) + 2 * r * by_lam
        by_p = by_lam + 2 * (c - W) * g1 + W * g0
        by_c, by_W = -2 * L + 2 * R + 2 * p * g1, L - 2 * R + 1 - 2 * p * g1 + p * g0
        by_e1, by_e2, by_Q = -2 * g1, 2 * g1 - 2 * g0, g0
        total, gaps, start = self.V.sum(-1), self.model.gaps.swapaxes(-1, -2), self.model.start[:, None]
        # what multiplies Delta_k through q_k, and through v_k / sum v
        along_q = by_e1[..., None] * start + by_e2[..., None] * self.mean
        along_mean = by_c[..., None] * start + 2 * by_W[..., None] * self.mean + by_e2[..., None] * self.E
        dq = 8 * self.V * self.model.growth
        gradient = (
            -2 * by_r[..., None]
            + dq * (by_p[..., None] + along_q @ gaps + by_Q[..., None] * self.squares)
            + by_Q[..., None] * 8 * self.V * self.model.level
            + (along_mean @ gaps - (along_mean * self.mean).sum(-1)[..., None]) / total[..., None]
        )
        value = np.maximum(value, 1e-300)
        return np.log(value), gradient / value[..., None]
