"""One cluster with settled weights on diagonal quadratics: exact second moments in closed form, any size, any T.

f_i = sum_a h_ia x_a^2 / 2 in a few kinds of clients, n_k clients of kind k. With settled weights the step is
    x_i+ = x_i - eta (h_i x_i + noise) - eta rho c (x_i - xbar),
and nothing couples the coordinates. The mean X_k of a kind and the distances of its clients from X_k do not mix: the
distances contract by 1 - eta h_k - eta rho c under noise of variance s (1 - 1/n_k), and y_k = sqrt(n_k) X_k moves by
    S = 1 - eta (diag(h) + rho c (1 - u u^T)),  u_k = sqrt(n_k / c),
symmetric, under noise of variance s in each kind. In the eigenbasis of S every second moment is a geometric sum.
Written by hand beside the probed step (`probed`), whose cost grows with the cube of the clients: here are hundreds of
instances of up to a hundred clients and 10^4 iterations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True, kw_only=True)
class ClientKinds:
    """A batch (B,) of clusters of K kinds of clients in R^d, diagonal quadratics.

    counts (B, K) >= 1, curvature (B, K, d), sigma2 (B,) the noise of one client in equal parts on all coordinates;
    rho, eta (B,). `overstatement` >= 1 is the smoothness constant of the theorem over the one needed.
    """

    counts: np.ndarray
    curvature: np.ndarray
    sigma2: np.ndarray
    rho: np.ndarray
    eta: np.ndarray
    overstatement: np.ndarray

    @property
    def size(self) -> np.ndarray:
        return self.counts.sum(-1)

    @property
    def share(self) -> np.ndarray:
        """The share n_k / c of each kind, (B, K)."""
        return self.counts / self.size[:, None]

    @property
    def beta(self) -> np.ndarray:
        return self.overstatement * np.abs(self.curvature).max((1, 2))

    @property
    def heterogeneity(self) -> np.ndarray:
        """The least M of (A4): clients with one minimiser and diagonal Hessians."""
        return relative_heterogeneity(self.curvature)


@dataclass(frozen=True, kw_only=True)
class Cluster(ClientKinds):
    """Kinds that share the minimiser 0, from start (B, K, d) for T (B,) iterations."""

    start: np.ndarray
    T: np.ndarray

    def arguments(self) -> dict[str, np.ndarray]:
        """The arguments of the theorems."""
        mean = np.einsum("bk,bkd->bd", self.share, self.start)
        curvature = np.einsum("bk,bkd->bd", self.share, self.curvature)
        apart = ((self.start - mean[:, None]) ** 2).sum(-1)
        return {
            "eta": self.eta,
            "beta": self.beta,
            "rho": self.rho,
            "size": self.size,
            "M": self.heterogeneity,
            "e0": (curvature * mean**2).sum(-1) / 2,
            "spread": (self.share * apart).sum(-1),
            "sigma2": self.sigma2,
            "T": self.T,
            "batch": np.full(len(self.T), 1e9),
        }

    @cached_property
    def _sums(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Second moments of the kinds' means (B, d, K, K) and of the distances from them (B, d, K), averaged over
        t < T, and the same averaged over 1 <= t <= T."""
        h = self.curvature.swapaxes(1, 2)
        d, K = h.shape[1:]
        pull = (self.rho * self.size)[:, None, None, None]
        u = np.sqrt(self.share)[:, None]
        eta, T = self.eta[:, None, None], self.T[:, None, None]
        penalty = np.eye(K) - u[..., :, None] * u[..., None, :]
        step = np.eye(K) - eta[..., None] * (h[..., None] * np.eye(K) + pull * penalty)
        values, vectors = np.linalg.eigh(step)
        root = np.sqrt(self.counts)[:, None]
        first = np.einsum("bdka,bdk->bda", vectors, root * self.start.swapaxes(1, 2))
        square = first[..., :, None] * first[..., None, :]
        noise = eta**2 * (self.sigma2 / d)[:, None, None]
        product = values[..., :, None] * values[..., None, :]
        signal = geometric(product, T[..., None])[1]
        _, single, floor = geometric(values**2, T)
        eye = np.eye(K)
        before = square * signal + eye * (noise * floor)[..., None]
        after = square * signal * product + eye * (noise * (floor + single))[..., None]
        scale = vectors / root[..., None]
        lifted = [np.einsum("bdka,bdac,bdlc->bdkl", scale, m, scale) / T[..., None] for m in (before, after)]
        own = (1 - eta * h - pull[..., 0] * eta) ** 2
        _, single, floor = geometric(own, T)
        alone = noise * (1 - 1 / self.counts)[:, None] / T
        return lifted[0], alone * floor, lifted[1], alone * (floor + single)

    @property
    def mean_gradient(self) -> np.ndarray:
        """Average over t < T of E|grad fbar(xbar)|^2."""
        moment = self._sums[0]
        square = np.einsum("bk,bdkl,bl->bd", self.share, moment, self.share)
        return (np.einsum("bk,bkd->bd", self.share, self.curvature) ** 2 * square).sum(-1)

    @property
    def client_gradient(self) -> np.ndarray:
        """Average over clients and t < T of E|grad f_i(x_i)|^2."""
        moment, alone, _, _ = self._sums
        square = np.einsum("bdkk->bdk", moment) + alone
        return np.einsum("bk,bkd,bdk->b", self.share, self.curvature**2, square)

    @property
    def midpoint_gradient(self) -> np.ndarray:
        """Average over pairs and t < T of E|grad f_ij(z_ij)|^2.

        Over all pairs of clients the distances from the kinds' means are uncorrelated: within a kind they sum to 0.
        """
        moment, alone, _, _ = self._sums
        square = np.einsum("bdkk->bdk", moment) + alone
        total = square[..., :, None] + square[..., None, :] + 2 * moment
        h = self.curvature.swapaxes(1, 2)
        middle = (h[..., :, None] + h[..., None, :]) / 2
        return np.einsum("bk,bl,bdkl->b", self.share, self.share, middle**2 * total / 4)

    @property
    def consensus_before(self) -> np.ndarray:
        """Average over pairs of E|x_i - x_j|^2 over t < T."""
        return self._consensus(0)

    @property
    def consensus_after(self) -> np.ndarray:
        """Average over pairs of E|x_i - x_j|^2 over 1 <= t <= T, as printed."""
        return self._consensus(2)

    def _consensus(self, at: int) -> np.ndarray:
        moment, alone = self._sums[at : at + 2]
        square = np.einsum("bdkk->bdk", moment) + alone
        mean = np.einsum("bk,bdkl,bl->b", self.share, moment, self.share)
        return 2 * (np.einsum("bk,bdk->b", self.share, square) - mean)


def relative_heterogeneity(curvature: np.ndarray) -> np.ndarray:
    """max |h_i - h_j| / |h_i + h_j| over pairs and coordinates, (B,) of (B, K, d); infinite beyond opposite signs."""
    one, other = curvature[:, :, None], curvature[:, None]
    gap, total = np.abs(one - other), np.abs(one + other)
    with np.errstate(all="ignore"):
        return np.where(gap > 0, gap / total, 0.0).max((1, 2, 3))


def geometric(r: np.ndarray, T: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """r^T, s_T = sum_{t<T} r^t and sum_{t<T} s_t, by doubling: no cancellation where r is near 1.

    For r >= 0 only positive numbers are added; T are whole numbers that broadcast against r.
    """
    r, T = np.broadcast_arrays(r, T)
    whole = T.astype(np.int64)
    reached = np.zeros(r.shape, dtype=np.int64)
    power, single, double = np.ones(r.shape), np.zeros(r.shape), np.zeros(r.shape)
    for bit in reversed(range(int(whole.max(initial=0)).bit_length())):
        # from t to 2 t: s_{t+k} = s_t + r^t s_k
        double = double * (1 + power) + reached * single
        single = single * (1 + power)
        power = power * power
        odd = (whole >> bit) & 1 == 1
        double = np.where(odd, double + single, double)
        single = np.where(odd, single + power, single)
        power = np.where(odd, power * r, power)
        reached = 2 * reached + odd
    return power, single, double
