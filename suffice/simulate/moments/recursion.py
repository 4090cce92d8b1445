"""The exact mean and second moment of one client's model that follows weighted gradients with fixed rates.

With delta = theta - theta_i*, rates v_k = eta w_k >= 0, A = sum v_k A_k, h = sum v_k h_k (minus half the gradients at
theta_i*, so h_i = 0), u_k = v_k^2 / batch and B = I - 2 A, a step theta+ = theta - sum v_k g_k gives
    m+ = B m + 2 h
    S+ = B S B + 2 (B m h' + h m' B) + 4 h h' + 4 sum u_k C_k(m, S)
for m = E delta, S = E delta delta', exactly: gradients are affine in theta, and independent over clients and steps.
In z = (1, m, pack(S)) it is one matrix, z+ = M(v) z, and E e_t = (0, 0, pack(A_i)) . M^t z_0. The S-block is
self-adjoint, I - P + Q with P[S] = 2 (A S + S A), Q[S] = 4 A S A + 4 sum u_k C4_k[S].

*Step limit.* The spectral radius of the block for rates c v is below 1 on range(A) iff 0 < c < 1 / rho(P^-1 Q): the
block maps the cone of positive semidefinite matrices into itself, so that its spectral radius is an eigenvalue
(Krein-Rutman); it is self-adjoint, so that this eigenvalue is below 1 iff c P - c^2 Q > 0. Rows are orthogonal to the
null space of A, where nothing moves.

Only one client's model enters, whatever the others do with theirs. Sampling is with replacement.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .gradient_moments import RANK, GradientMoments, moments_at, recentred
from .orbits import arrival, orbit, orbit_sum
from .packed import cross, pack, sandwich, sandwich_derivative, unpack

ACCURATE = 1e-10
"""Of what iterations find."""
FEW = 8
"""Directions that Lanczos's method keeps; smaller maps are decomposed."""


class LinearRecursion(ABC):
    """Moments z+ = M(v) z from z_0 = `start` on, M of second degree in the rates v, with the excess `loss` . z."""

    start: np.ndarray
    loss: np.ndarray

    @abstractmethod
    def matrices(self, V: np.ndarray) -> np.ndarray:
        """M(v), (K, n, n), of several rates (K, N)."""

    @abstractmethod
    def contract(self, v: np.ndarray, G: np.ndarray) -> np.ndarray:
        """<G, dM/dv_k> for every k, (N,), of a matrix G (n, n)."""

    @property
    def excess(self) -> float:
        """Of the start."""
        return float(self.loss @ self.start)

    def matrix(self, v: np.ndarray) -> np.ndarray:
        """M(v), (n, n)."""
        return self.matrices(v[None])[0]

    def expansion(self, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """M1 and M2 of M(c v) = I + c M1 + c^2 M2, (K, n, n) each."""
        forth, back = np.split(self.matrices(np.concatenate((V, -V))), 2)
        return (forth - back) / 2, (forth + back) / 2 - np.eye(forth.shape[-1])

    def curve(self, v: np.ndarray, steps: int) -> np.ndarray:
        """E e_t for t = 0..steps, (steps + 1,)."""
        return self.loss @ orbit(self.matrix(v), self.start, steps)

    def arrival(self, v: np.ndarray, most: int) -> float:
        """When E e_t first is at most 1, to a fraction of a step: 0 if the start is enough, inf beyond `most`."""
        return arrival(self.matrix(v), self.start, self.loss, most)

    def derivatives(self, v: np.ndarray, steps: int) -> tuple[float, np.ndarray]:
        """E e_t after so many steps and its derivatives by the rates (N,)."""
        G, end = orbit_sum(self.matrix(v), self.start, self.loss, steps)
        return float(self.loss @ end), self.contract(v, G)


@dataclass(frozen=True, kw_only=True)
class ExactRecursion(LinearRecursion):
    """Client i's model under the gradients of all clients of `moments`; its excess in units of so much loss."""

    moments: GradientMoments
    client: int
    unit: float = 1.0

    @property
    def features(self) -> int:
        return self.moments.features

    @cached_property
    def h(self) -> np.ndarray:
        """Minus half of each client's gradient at theta_i*, (N, d)."""
        h = self.moments.h - self.moments.A @ self.moments.optimum[self.client]
        h[self.client] = 0
        return h

    @cached_property
    def start(self) -> np.ndarray:
        """z_0 = (1, delta_0, pack(delta_0 delta_0'))."""
        return moments_at(self.moments.start[self.client] - self.moments.optimum[self.client])

    @cached_property
    def loss(self) -> np.ndarray:
        """The functional of z that is the excess loss."""
        return np.concatenate((np.zeros(1 + self.features), pack(self.moments.A[self.client]) / self.unit))

    @cached_property
    def sizes(self) -> np.ndarray:
        """About how large the clients' rates may be beside one another, (N,): the inverse of their curvature."""
        curvature = np.trace(self.moments.A, axis1=1, axis2=2)
        return 1 / np.maximum(curvature / curvature.max(), 1e-6)

    def only(self, clients: Sequence[int]) -> ExactRecursion:
        """With some of the clients, this one among them."""
        return replace(self, moments=self.moments.only(clients), client=list(clients).index(self.client))

    @cached_property
    def _shift(self) -> np.ndarray:
        return recentred(self.moments.optimum[self.client])

    def totals(self, V: np.ndarray) -> np.ndarray:
        """The matrices of z -> pack(sum u_k C_k), (K, D, n), of several rates (K, N), z about the moments' centre."""
        u, flat = V**2 / self.moments.batch, self.moments.noise.reshape(self.moments.clients, -1)
        kept = np.flatnonzero(V.any(0))
        total = u[:, kept] @ flat[kept] if 2 * len(kept) < len(flat) else u @ flat  # few are read by themselves
        return total.reshape(len(V), *self.moments.noise.shape[1:])

    def noises(self, V: np.ndarray, total: np.ndarray | None = None) -> np.ndarray:
        """The same about theta_i*; `total`, where it is known, is overwritten."""
        total = self.totals(V) if total is None else total
        if self.moments.optimum[self.client].any():
            total[..., : 1 + self.features] = total @ self._shift
        return total

    def _noise(self, v: np.ndarray) -> np.ndarray:
        return self.noises(v[None])[0]

    def merged(self, v: np.ndarray, total: np.ndarray | None = None) -> ExactRecursion:
        """The same with one peer of rate 1 that stands for all at rates v, beside the client itself at rate 0.

        For many evaluations along one direction: c v is the rates (0, c). All is about theta_i*. `total` is that of v.
        """
        i, kept, nought = self.client, np.flatnonzero(v), np.zeros((2, self.features))
        A = np.tensordot(v[kept], self.moments.A[kept], 1)
        noise = self.moments.batch * (self._noise(v) if total is None else self.noises(v[None], total))
        start = self.start[1 : 1 + self.features]
        pair = replace(
            self.moments,
            A=np.stack((self.moments.A[i], A)),
            h=np.stack((nought[0], v @ self.h)),
            noise=np.broadcast_to(noise, (2, *noise.shape[-2:])),
            optimum=nought,
            start=np.stack((start, start)),
        )
        return ExactRecursion(moments=pair, client=0, unit=self.unit)

    def matrices(self, V: np.ndarray) -> np.ndarray:
        B = np.eye(self.features) - 2 * np.tensordot(V, self.moments.A, 1)
        return step_matrix(B, V @ self.h, self.noises(V))

    def stable(self, v: np.ndarray) -> bool:
        """Whether the second moment contracts, or rests where no row sees anything."""
        block = self.matrix(v)[1 + self.features :, 1 + self.features :]
        try:
            np.linalg.cholesky((1 + 1e-12) * np.eye(len(block)) - (block + block.T) / 2)
        except np.linalg.LinAlgError:
            return False
        return True

    def contract(self, v: np.ndarray, G: np.ndarray) -> np.ndarray:
        """Each part of M contracted with its own part of G.

        With G = sum_t p_t z_t', p = (k, l, pack(L)), z = (1, m, pack(S)), these are sum_t of tr(L B S B'), 4 m'B'L h,
        4 h'L h, l'(B m + 2 h) and <4 L, sum u_k C_k>.
        """
        d, moments = self.features, self.moments
        B, h = np.eye(d) - 2 * np.tensordot(v, moments.A, 1), v @ self.h
        one, mean, rest = G[1 + d :, 0], G[1 + d :, 1 : 1 + d], G[1 + d :, 1 + d :]
        Lm = unpack(mean.T, d)  # (k, i, j): sum m_k L_ij
        by_B = sandwich_derivative(rest, B) + 4 * (Lm @ h).T + G[1 : 1 + d, 1 : 1 + d]
        by_h = 4 * np.einsum("kij,ik->j", Lm, B) + 8 * unpack(one, d) @ h + 2 * G[1 : 1 + d, 0]
        by_noise = G[1 + d :].copy()
        if moments.optimum[self.client].any():  # about the moments' centre
            by_noise[:, 1 + d :] = rest
            by_noise[:, : 1 + d] = 0
            by_noise += G[1 + d :, : 1 + d] @ self._shift.T
        noise = moments.noise.reshape(moments.clients, -1) @ by_noise.ravel()
        return 8 * v / moments.batch * noise + self.h @ by_h - 2 * np.tensordot(moments.A, by_B)

    def limit(self, v: np.ndarray) -> float:
        """The factor c below which rates c v are stable, 1 / rho(P^-1 Q)."""
        values, _, root, apply = self._scaled(v)
        return 1 / largest(apply, pack(np.eye(len(values))) / root)

    def _scaled(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, Callable[[np.ndarray], np.ndarray]]:
        """Eigenvalues of A = sum v_k A_k above rounding, their vectors U, and in the packed basis U the diagonal of
        P^1/2 and y -> P^-1/2 Q P^-1/2 y, without building Q."""
        values, U = np.linalg.eigh(np.tensordot(v, self.moments.A, 1))
        seen = values > RANK * values.max()
        values, U, noise = values[seen], U[:, seen], 4 * self._noise(v)[:, 1 + self.features :]
        row, column = np.triu_indices(len(values))
        root = np.sqrt(2 * (values[row] + values[column]))

        def apply(y: np.ndarray) -> np.ndarray:
            X = unpack(y.ravel() / root, len(values))
            drawn = unpack(noise @ pack(U @ X @ U.T), len(U))
            return pack(4 * values[:, None] * X * values + U.T @ drawn @ U) / root

        return values, U, root, apply

    def floor(self, v: np.ndarray) -> float:
        """lim E e_t of rates below the step limit.

        The covariance of the model obeys (P - Q)[X] = 4 sum u_k C_k(m, m m') at the mean's limit m,
        where sum v_k grad R_k vanishes.
        """
        from scipy.sparse.linalg import cg

        values, U, root, apply = self._scaled(v)
        delta = self.start[1 : 1 + self.features]
        m = U @ ((U.T @ (v @ self.h)) / values) + delta - U @ (U.T @ delta)
        z = moments_at(m)
        source = pack(4 * U.T @ unpack(self._noise(v) @ z, self.features) @ U)
        X = cg(operator(lambda y: y - apply(y), len(root)), source / root, rtol=ACCURATE)[0] / root
        seen = U.T @ self.moments.A[self.client] @ U / self.unit
        return float(self.loss @ z + pack(seen) @ X)


def step_matrix(B: np.ndarray, h: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """M (..., n, n) of B = I - 2 A (..., d, d), h (..., d) and the matrix of z -> pack(sum u_k C_k), (..., D, n)."""
    d, n = h.shape[-1], noise.shape[-1]
    M = np.zeros((*h.shape[:-1], n, n), dtype=noise.dtype)
    M[..., 0, 0] = 1
    M[..., 1 : 1 + d, 0] = 2 * h
    M[..., 1 : 1 + d, 1 : 1 + d] = B
    M[..., 1 + d :, :] = 4 * noise
    M[..., 1 + d :, 0] += 4 * pack(h[..., :, None] * h[..., None, :])
    M[..., 1 + d :, 1 : 1 + d] += 2 * cross(B, h)
    M[..., 1 + d :, 1 + d :] += sandwich(B)
    return M


def largest(apply: Callable[[np.ndarray], np.ndarray], begin: np.ndarray, tolerance: float = ACCURATE**0.5) -> float:
    """The largest eigenvalue of a symmetric map, to about the square of `tolerance`."""
    from scipy.sparse.linalg import eigsh

    n = len(begin)
    if n <= FEW:
        return float(np.linalg.eigvalsh(np.stack([apply(one) for one in np.eye(n)]))[-1])
    # the error of an eigenvalue is of the second order in the residual; few directions, as each is a pass over rows
    found = eigsh(operator(apply, n), 1, which="LA", v0=begin, tol=tolerance, ncv=FEW, return_eigenvectors=False)
    return float(found[0])


def operator(apply: Callable[[np.ndarray], np.ndarray], size: int) -> Any:
    """A symmetric map as SciPy takes it."""
    from scipy.sparse.linalg import LinearOperator

    make: Any = LinearOperator
    return make((size, size), matvec=apply, dtype=float)
