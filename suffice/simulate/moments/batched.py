"""Many exact recursions at once: M(v) of `recursion` for groups of problems, and derivatives by the rates.

A group is one client in one choice of coordinates; every group has several problems, each with rates v of its own.
What costs is one product of matrices per group for all of its problems, and small arrays are never looped over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .gradient_moments import RANK, GradientMoments, moments_at, recentred
from .packed import pack, sandwich, unpack
from .recursion import ExactRecursion, curve, doublings, orbit, orbit_sum, step_matrix

POWERS = 20
"""So many power iterations tell about a spectral radius."""
LONG = 6
"""Times as many steps as numbers from which on sums over steps are doubled, not added up step by step."""
LARGE = 1e12
"""Single precision will do for a search where no number is larger, and no excess smaller than the inverse."""


@dataclass(frozen=True, kw_only=True)
class MomentMaps:
    """Of G groups of N clients with d coordinates, all moments about the minimiser theta_i* of the group's client.

    A       (G, N, d, d)  half the Hessians
    h       (G, N, d)     minus half the gradients
    noise   (G, N, D, n)  packed covariances on z = (1, m, pack(S)); D = d(d+1)/2, n = 1 + d + D
    start   (G, n)        z_0
    loss    (G, n)        the functional of z that is the client's excess
    batch   samples that one gradient averages
    shift   (G, n, 1 + d), or None: A and noise are of one group, (1, N, ...), about a centre that all groups share; z
            about the centre is (z[:1+d] shifted, added to the rest), its columns for 1 and m
    """

    A: np.ndarray
    h: np.ndarray
    noise: np.ndarray
    start: np.ndarray
    loss: np.ndarray
    batch: int
    shift: np.ndarray | None = None

    @classmethod
    def of(cls, recursions: Sequence[ExactRecursion]) -> MomentMaps:
        """Of recursions of the same N, d and batch."""
        parts = [(r.moments.A, r.h, r.about_minimiser(r.moments.noise.copy()), r.start, r.loss) for r in recursions]
        A, h, noise, start, loss = (np.stack(arrays) for arrays in zip(*parts))
        return cls(A=A, h=h, noise=noise, start=start, loss=loss, batch=recursions[0].moments.batch)

    @classmethod
    def sharing(cls, moments: GradientMoments, clients: np.ndarray) -> MomentMaps:
        """Of several clients in the same coordinates, without a copy of the noise for each of them."""
        at = moments.optimum[clients]
        h = moments.h - (moments.A @ at.T).transpose(2, 0, 1)
        h[np.arange(len(clients)), clients] = 0
        return cls(
            A=moments.A[None],
            h=h,
            noise=moments.noise[None],
            start=moments_at(moments.start[clients] - at),
            loss=np.concatenate((np.zeros((len(at), 1 + moments.features)), pack(moments.A[clients])), axis=1),
            batch=moments.batch,
            shift=recentred(at),
        )

    def in_single_precision(self) -> MomentMaps:
        """In single precision, to search in half the time; as it is where its numbers might leave the range of that."""
        parts = {name: getattr(self, name) for name in ("A", "h", "noise", "start", "loss", "shift")}
        arrays = {name: one for name, one in parts.items() if one is not None}
        largest, excess = max(np.abs(one).max() for one in arrays.values()), (self.start * self.loss).sum(1)
        if largest > LARGE or excess.min() < 1 / LARGE:
            return self
        return replace(self, **{name: one.astype(np.float32) for name, one in arrays.items()})

    def __getitem__(self, groups: Any) -> MomentMaps:
        own = replace(self, h=self.h[groups], start=self.start[groups], loss=self.loss[groups])
        if self.shift is not None:
            return replace(own, shift=self.shift[groups])
        return replace(own, A=self.A[groups], noise=self.noise[groups])

    @property
    def clients(self) -> int:
        return self.A.shape[1]

    @property
    def features(self) -> int:
        return self.A.shape[-1]

    def mean_matrices(self, V: np.ndarray) -> np.ndarray:
        """sum_k v_k A_k, (G, K, d, d), of rates V (G, K, N)."""
        d, V = self.features, V.astype(self.A.dtype)
        return _sums(V, self.A.reshape(*self.A.shape[:2], d * d)).reshape(*V.shape[:2], d, d)

    def noises(self, V: np.ndarray) -> np.ndarray:
        """sum_k u_k C_k, u = v^2 / batch, as matrices (G, K, D, n)."""
        D, n = self.noise.shape[2:]
        rates = (V**2 / self.batch).astype(self.noise.dtype)
        total = _sums(rates, self.noise.reshape(*self.noise.shape[:2], D * n)).reshape(*V.shape[:2], D, n)
        if self.shift is not None:
            total[..., : n - D] = total @ self.shift[:, None]
        return total

    def matrices(self, V: np.ndarray) -> np.ndarray:
        """M(v), (G, K, n, n)."""
        return self._matrices(V, self.noises(V))

    def _matrices(self, V: np.ndarray, noises: np.ndarray) -> np.ndarray:
        V = V.astype(noises.dtype)
        return step_matrix(np.eye(self.features, dtype=V.dtype) - 2 * self.mean_matrices(V), V @ self.h, noises)

    def expansion(self, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """M1 and M2 of M(c v) = I + c M1 + c^2 M2, (G, K, n, n) each."""
        noises = self.noises(V)
        forth, back = self._matrices(V, noises), self._matrices(-V, noises)
        return (forth - back) / 2, (forth + back) / 2 - np.eye(forth.shape[-1], dtype=forth.dtype)

    def contract(self, V: np.ndarray, P: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """sum_t p_t . dM/dv_k z_t for every k, (G, K, N), of columns p_t and z_t, (G, K, n, T) each."""
        d, n, V = self.features, self.noise.shape[-1], V.astype(Z.dtype)
        if Z.shape[-1] > n:  # the same sum of fewer terms
            P = P @ Z.swapaxes(-1, -2)
            Z = np.broadcast_to(np.eye(n, dtype=Z.dtype), (*Z.shape[:2], n, n))
        h, B = (V @ self.h)[..., None], np.eye(d, dtype=Z.dtype) - 2 * self.mean_matrices(V)
        about = Z
        if self.shift is not None:  # about the centre
            about = Z.copy()
            about[..., 1 + d :, :] += self.shift[:, None, 1 + d :] @ Z[..., : 1 + d, :]
            about[..., 1 : 1 + d, :] += self.shift[:, None, 1 : 1 + d, :1] * Z[..., :1, :]
        flat = self.noise.reshape(*self.noise.shape[:2], -1).swapaxes(1, 2)
        outer = P[..., 1 + d :, :] @ about.swapaxes(-1, -2)
        noise = 8 * V / self.batch * _sums(outer.reshape(*V.shape[:2], -1), flat)
        p, z = P.swapaxes(-1, -2), Z.swapaxes(-1, -2)
        L, S = (unpack(np.ascontiguousarray(one[..., 1 + d :]), d) for one in (p, z))  # (G, K, T, d, d)
        one, m, slope = z[..., None, :1], z[..., 1 : 1 + d, None], p[..., 1 : 1 + d, None]
        Lh = L @ h[:, :, None]
        by_h = (2 * (slope + 4 * Lh) * one + 4 * L @ (B[:, :, None] @ m)).sum(2)[..., 0]
        by_B = _summed(slope + 4 * Lh, m) + 2 * _summed(L, (B[:, :, None] @ S).swapaxes(-1, -2))
        along_h = (by_h[..., None, :] @ self.h[:, None].swapaxes(-1, -2))[..., 0, :]
        along_A = _sums(by_B.reshape(*V.shape[:2], d * d), self.A.reshape(*self.A.shape[:2], d * d).swapaxes(1, 2))
        return noise + along_h - 2 * along_A

    def trial(self, V: np.ndarray, steps: int) -> MapsTrial:
        return MapsTrial(maps=self, V=V, steps=steps)

    def limits(self, V: np.ndarray, rounds: int = POWERS) -> np.ndarray:
        """About the factor c below which rates c v are stable, (G, K): 1 / rho(P^-1 Q) by power iteration.

        From below in rho, so that the limit is, if anything, too large by a few percent: a scale, not a promise.
        """
        d = self.features
        A = self.mean_matrices(V)
        values, U = np.linalg.eigh(A)
        pairs = 2 * (values[..., :, None] + values[..., None, :])
        seen = (values > RANK * values[..., -1:]).astype(float)
        inverse = seen[..., :, None] * seen[..., None, :] / np.maximum(pairs, max(1e-300, np.finfo(pairs.dtype).tiny))
        Q = sandwich(2 * A) + 4 * self.noises(V)[..., 1 + d :]
        Ut, X = U.swapaxes(-1, -2), np.broadcast_to(np.eye(d), A.shape)
        scale = np.ones(V.shape[:2])
        for _ in range(rounds):
            X = unpack((Q @ pack(X)[..., None])[..., 0], d)
            X = U @ (inverse * (Ut @ X @ U)) @ Ut
            scale = np.linalg.norm(X, axis=(-2, -1))
            X = X / np.maximum(scale, 1e-300)[..., None, None]
        return np.where(scale > 0, 1 / np.maximum(scale, 1e-300), np.inf)


def _summed(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """sum_t X_t Y_t' of (G, K, T, d, r) as one product."""
    stacked = (one.swapaxes(2, 3).reshape(*one.shape[:2], one.shape[3], -1) for one in (X, Y))
    return next(stacked) @ next(stacked).swapaxes(-1, -2)


def _sums(rates: np.ndarray, of: np.ndarray) -> np.ndarray:
    """rates (G, K, N) @ of (G or 1, N, X), where one is shared as one product."""
    if len(of) == len(rates):
        return rates @ of
    return (rates.reshape(-1, rates.shape[-1]) @ of[0]).reshape(*rates.shape[:2], -1)


class MapsTrial:
    """Rates V (G, K, N) of `maps`, followed for `steps`: `excess` is E e_t, t = 0..steps, (G, K, steps + 1)."""

    def __init__(self, *, maps: MomentMaps, V: np.ndarray, steps: int) -> None:
        self.maps, self.V = maps, V
        self.step, self.start, self.loss = maps.matrices(V), maps.start, maps.loss
        self.follow(steps)

    def follow(self, steps: int) -> None:
        """`step` (G, K, r, r) from `start` (G, r); `loss` (G, r) tells the excess."""
        self.z, self.p = (np.broadcast_to(one[:, None], self.step.shape[:-1]) for one in (self.start, self.loss))
        self.long = steps >= LONG * self.step.shape[-1]
        if self.long:
            self.excess = curve(self.step, self.z, self.p, steps)
        else:
            self.powers = doublings(self.step, steps)
            self.Z = orbit(self.step, self.z, steps, self.powers)
            self.excess = (self.loss[:, None, None] @ self.Z)[..., 0, :]

    def lifted(self, P: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Columns whose sum of outer products p z' is that of P and Z (G, K, r, T), of n numbers each."""
        return P, Z

    def stable(self, groups: np.ndarray, problems: np.ndarray) -> np.ndarray:
        """Whether the second moment contracts (or rests, where no row sees anything)."""
        S = 1 + self.maps.features
        blocks = self.step[groups, problems, S:, S:]
        return np.linalg.eigvalsh((blocks + blocks.swapaxes(-1, -2)) / 2)[:, -1] <= 1 + 1e-12

    def derivatives(self, goals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """ln E e_g (G, K) and its derivatives by the rates (G, K, N), g one for each group."""
        last = np.take_along_axis(self.excess, goals[:, None, None], axis=-1)[..., 0]
        # d phi = sum_t p_{t+1} . dM z_t
        most = max(int(goals.max()), 1)
        if self.long:
            P = np.stack([orbit_sum(*of) for of in zip(self.step, self.z, self.p, np.maximum(goals, 1).tolist())])
            Z = np.broadcast_to(np.eye(P.shape[-1]), P.shape)
        else:
            P = orbit(self.step.swapaxes(-1, -2), self.p, most - 1, [M.swapaxes(-1, -2) for M in self.powers])
            if (goals == most).all():
                P = np.ascontiguousarray(P[..., ::-1])
            else:
                back = goals[:, None] - 1 - np.arange(most)
                P = np.take_along_axis(P, np.maximum(back, 0)[:, None, None], axis=-1) * (back >= 0)[:, None, None]
            Z = self.Z[..., :most]
        gradient = self.maps.contract(self.V, *self.lifted(P, Z))
        return np.log(np.maximum(last, 1e-300)), gradient / np.maximum(last, 1e-300)[..., None]
