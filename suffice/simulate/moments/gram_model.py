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
from types import SimpleNamespace

import numpy as np

from .gradient_moments import GradientMoments, moments_at
from .packed import pack

NEAR = 1e-9
"""lam - r and 1 - lam are kept this far from 0, where the sums have limits."""


@dataclass(frozen=True, kw_only=True)
class GramModel:
    """Of one client with N peers.

    gaps    (N, d)  Delta_k
    start   (d,)    m_0
    growth  (N,) tau_k / batch; level (N,) kappa_k / batch
    """

    gaps: np.ndarray
    start: np.ndarray
    growth: np.ndarray
    level: np.ndarray

    @classmethod
    def of(cls, moments: GradientMoments) -> list[GramModel]:
        """Of all clients, from moments in coordinates in which their Hessians are about the identity."""
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
            cls(gaps=optimum - at, start=begin - at, growth=growth, level=level) for at, begin in zip(optimum, start)
        ]

    def only(self, client: int) -> GramModel:
        """With one peer, perhaps the client itself."""
        return replace(self, **{name: getattr(self, name)[[client]] for name in ("gaps", "growth", "level")})

    def over(self, unit: float) -> GramModel:
        """With excesses in units of so much loss."""
        root = np.sqrt(unit)
        return replace(self, gaps=self.gaps / root, start=self.start / root, level=self.level / unit)

    def limits(self, V: np.ndarray) -> np.ndarray:
        """The factor c below which lam < 1 for rates c v, (K,): (1 - c U)^2 + c^2 p < 1."""
        U, p = 2 * V.sum(-1), 4 * V**2 @ self.growth
        return 2 * U / (U**2 + p)

    @property
    def sizes(self) -> np.ndarray:
        """Of rates beside one another: all alike."""
        return np.ones(len(self.growth))

    def stable(self, v: np.ndarray) -> bool:
        return bool(self.limits(v) > 1)

    def arrivals(self, V: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of rates (K, N): about the first t with an excess of at most 1, at most 3 % too large and inf beyond
        `most`; the lowest excess, and when it is."""
        t = np.unique(np.concatenate((np.arange(1, 65), np.geomspace(64, max(most, 64), 200).round()))).astype(int)
        excess = self._excess(self._parts(V), t[t <= most])[0]
        below, at = excess <= 1, np.argmin(excess, axis=-1)
        times = np.where(below.any(-1), t[np.argmax(below, axis=-1)], np.inf)
        return times, np.take_along_axis(excess, at[:, None], -1)[:, 0], t[at]

    def arrival(self, v: np.ndarray, most: int) -> float:
        return float(self.arrivals(v[None], most)[0][0]) if most else np.inf

    def _parts(self, V: np.ndarray) -> SimpleNamespace:
        """What the sums are made of, by the names above, (..., 1)."""
        total, q = V.sum(-1, keepdims=True), 4 * V**2 * self.growth
        mean, E, p, r = V @ self.gaps / total, q @ self.gaps, q.sum(-1, keepdims=True), 1 - 2 * total
        c, e1 = (mean @ self.start)[..., None], (E @ self.start)[..., None]
        W, e2 = ((one * mean).sum(-1, keepdims=True) for one in (mean, E))
        Q = (q @ (self.gaps**2).sum(-1) + 4 * V**2 @ self.level)[..., None]
        lam = r**2 + p
        lam = np.where(np.abs(1 - lam) < NEAR, 1 - NEAR, lam)
        lam = np.where(np.abs(lam - r) < NEAR, r + NEAR, lam)
        sources = {"A1": 2 * p * (c - W) - 2 * (e1 - e2), "A0": p * W - 2 * e2 + Q, "M": self.start @ self.start}
        return SimpleNamespace(total=total, mean=mean, E=E, p=p, r=r, c=c, W=W, lam=lam, **sources)

    @staticmethod
    def _excess(of: SimpleNamespace, t: np.ndarray | int) -> tuple[np.ndarray, ...]:
        """The excess, lam^t, r^t and the two sums."""
        with np.errstate(over="ignore", invalid="ignore"):
            L, R = of.lam**t, of.r**t
            g1, g0 = (L - R) / (of.lam - of.r), (1 - L) / (1 - of.lam)
            value = (of.M - 2 * of.c + of.W) * L + 2 * (of.c - of.W) * R + of.W + of.A1 * g1 + of.A0 * g0
            return np.where(np.isfinite(value), np.maximum(value, 0), np.inf), L, R, g1, g0

    def derivatives(self, v: np.ndarray, steps: int) -> tuple[float, np.ndarray]:
        """The excess after so many steps and its derivatives by the rates (N,)."""
        of = self._parts(v)
        value, L, R, g1, g0 = self._excess(of, steps)
        lam, r, p, c, W = of.lam, of.r, of.p, of.c, of.W
        dL, dR = steps * lam ** (steps - 1), steps * r ** (steps - 1)
        by_lam = (of.M - 2 * c + W) * dL + of.A1 * (dL - g1) / (lam - r) + of.A0 * (g0 - dL) / (1 - lam)
        by_r = 2 * (c - W) * dR + of.A1 * (g1 - dR) / (lam - r) + 2 * r * by_lam
        by_p = by_lam + 2 * (c - W) * g1 + W * g0
        by_c, by_W = -2 * L + 2 * R + 2 * p * g1, L - 2 * R + 1 - 2 * p * g1 + p * g0
        by_e1, by_e2 = -2 * g1, 2 * g1 - 2 * g0
        # what multiplies Delta_k through q_k, and through v_k / sum v
        along_q = by_e1 * self.start + by_e2 * of.mean
        along_mean = by_c * self.start + 2 * by_W * of.mean + by_e2 * of.E
        by_q = by_p + self.gaps @ along_q + g0 * (self.gaps**2).sum(-1)
        by_mean = (self.gaps @ along_mean - along_mean @ of.mean) / of.total
        return float(value[0]), -2 * by_r + 8 * v * (self.growth * by_q + self.level * g0) + by_mean
