"""The exact mean and second moment of one client's model that follows weighted gradients with fixed rates.

With delta = theta - theta_i*, q = (1, delta), rates v_k = eta w_k >= 0, u_k = v_k^2 / batch, and G_k = (-h_k, A_k)
about theta_i* (so h_i = 0), a step theta+ = theta - sum v_k g_k multiplies the mean of q by B = I - 2 sum v_k (0; G_k),
and
    E q+ q+' = B E[q q'] B' + 4 sum u_k C_k[E q q'] in the rows and columns of delta,
exactly: gradients are affine in theta, and independent over clients and steps. In z = pack(E q q') it is one matrix,
z+ = M(v) z, and E e_t = (0, 0, pack(A_i)) . M^t z_0. The block of M on S = E delta delta' is self-adjoint, I - P + Q
with A = sum v_k A_k, P[S] = 2 (A S + S A), Q[S] = 4 A S A + 4 sum u_k C_k[S].

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

from .gradient_moments import RANK, GradientMoments, moments_at
from .orbits import arrivals, orbit, orbit_sum
from .packed import affine, pack, sandwich, sandwich_derivative, unpack

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
        """The excess loss of the start."""
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
        if self.excess <= 1:
            return 0.0
        move = (self.matrix(v) - np.eye(len(self.start)))[None]
        return float(arrivals(move, np.zeros_like(move), self.start, self.loss, np.ones(1), most)[0].item())

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

    @property
    def delta(self) -> np.ndarray:
        """theta - theta_i* at the start, (d,)."""
        return self.moments.start[self.client] - self.moments.optimum[self.client]

    @cached_property
    def start(self) -> np.ndarray:
        return moments_at(self.delta)

    @cached_property
    def _shift(self) -> np.ndarray:
        return affine(self.moments.optimum[self.client], np.eye(self.features))

    @cached_property
    def gradients(self) -> np.ndarray:
        """G_k about theta_i*, (N, d, 1 + d)."""
        G = self.moments.gradients @ self._shift
        G[self.client, :, 0] = 0
        return G

    @cached_property
    def _columns(self) -> np.ndarray:
        """The first 1 + d columns of the matrix from z about theta_i* to z about the centre; unit vectors follow."""
        return sandwich(self._shift)[:, : 1 + self.features]

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
        """The recursion with these clients alone, this one among them."""
        return replace(self, moments=self.moments.only(clients), client=list(clients).index(self.client))

    def totals(self, V: np.ndarray) -> np.ndarray:
        """The matrices of z -> pack(sum u_k C_k), (K, D, n), of several rates (K, N), z about the moments' centre."""
        u, flat = V**2 / self.moments.batch, self.moments.noise.reshape(self.moments.clients, -1)
        kept = np.flatnonzero(V.any(0))
        total = u[:, kept] @ flat[kept] if 2 * len(kept) < len(flat) else u @ flat  # few are read by themselves
        return total.reshape(len(V), *self.moments.noise.shape[1:])

    def noises(self, V: np.ndarray, total: np.ndarray | None = None) -> np.ndarray:
        """The same about theta_i*; `total`, where it is known, is overwritten."""
        total = self.totals(V) if total is None else total
        total[..., : 1 + self.features] = total @ self._columns
        return total

    def _noise(self, v: np.ndarray) -> np.ndarray:
        return self.noises(v[None])[0]

    def merged(self, v: np.ndarray, total: np.ndarray | None = None) -> ExactRecursion:
        """The same with one peer of rate 1 that stands for all at rates v, beside the client itself at rate 0.

        For many evaluations along one direction: c v is the rates (0, c). All is about theta_i*. `total` is that of v.
        """
        mean, nought = np.tensordot(v, self.gradients, 1), np.zeros((2, self.features))
        noise = self.moments.batch * (self._noise(v) if total is None else self.noises(v[None], total))
        pair = replace(
            self.moments,
            gradients=np.stack((self.gradients[self.client], mean)),
            noise=np.broadcast_to(noise, (2, *noise.shape[-2:])),
            optimum=nought,
            start=nought + self.delta,
        )
        return ExactRecursion(moments=pair, client=0, unit=self.unit)

    def _means(self, V: np.ndarray) -> np.ndarray:
        """B (K, 1 + d, 1 + d)."""
        B = np.tile(np.eye(1 + self.features), (len(V), 1, 1))
        B[:, 1:] -= 2 * np.tensordot(V, self.gradients, 1)
        return B

    def matrices(self, V: np.ndarray) -> np.ndarray:
        M = sandwich(self._means(V))
        M[:, 1 + self.features :] += 4 * self.noises(V)
        return M

    def stable(self, v: np.ndarray) -> bool:
        """Whether the second moment contracts, or stays as it is in directions that no row sees."""
        block = self.matrix(v)[1 + self.features :, 1 + self.features :]
        try:
            np.linalg.cholesky((1 + 1e-12) * np.eye(len(block)) - (block + block.T) / 2)
        except np.linalg.LinAlgError:
            return False
        return True

    def contract(self, v: np.ndarray, G: np.ndarray) -> np.ndarray:
        """B's part of M and the noise's contracted with G, the noise about the moments' centre."""
        s, moments = 1 + self.features, self.moments
        by_mean = sandwich_derivative(G, self._means(v[None])[0])[1:]
        by_noise = G[s:, :s] @ self._columns.T
        by_noise[:, s:] += G[s:, s:]
        noise = moments.noise.reshape(moments.clients, -1) @ by_noise.ravel()
        return 8 * v / moments.batch * noise - 2 * np.tensordot(self.gradients, by_mean)

    def _mean(self, v: np.ndarray) -> np.ndarray:
        """A = sum v_k A_k."""
        return np.tensordot(v, self.moments.A, 1)

    def limit(self, v: np.ndarray) -> float:
        """The factor c below which rates c v are stable."""
        noise = self._noise(v)[:, 1 + self.features :]
        return step_limit(self._mean(v), lambda S: unpack(noise @ pack(S), self.features))

    def floor(self, v: np.ndarray, M: np.ndarray | None = None) -> float:
        """lim E e_t of rates below the step limit; M is that of v, where it is known.

        At the mean's limit, where sum v_k grad R_k vanishes, M adds the noise there; the covariance that it leads to
        obeys X = K X + noise, and is 0 where nothing moves.
        """
        s, d, (values, U) = 1 + self.features, self.features, moving(self._mean(v))
        z = moments_at(
            self.delta - U @ (U.T @ (np.tensordot(v, self.gradients, 1) @ np.append(1, self.delta)) / values)
        )
        M = self.matrix(v) if M is None else M
        block = np.eye(len(M) - s) - M[s:, s:]
        if len(values) < d:
            block += sandwich(np.eye(d) - U @ U.T)
        return float(self.loss @ z + self.loss[s:] @ np.linalg.solve(block, (M @ z - z)[s:]))


def moving(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of A above rounding, and their vectors."""
    values, U = np.linalg.eigh(A)
    seen = values > RANK * values.max()
    return values[seen], U[:, seen]


def step_limit(A: np.ndarray, drawn: Callable[[np.ndarray], np.ndarray], tolerance: float = 1e-5) -> float:
    """1 / rho(P^-1 Q), to about the square of `tolerance`, of A = sum v_k A_k and `drawn`, S -> sum u_k C_k[S].

    The largest eigenvalue of P^-1/2 Q P^-1/2, without building Q, in the packed basis of the eigenvectors of A.
    """
    from scipy.sparse.linalg import LinearOperator, eigsh

    values, U = moving(A)
    row, column = np.triu_indices(len(values))
    root = np.sqrt(2 * (values[row] + values[column]))

    def apply(y: np.ndarray) -> np.ndarray:
        X = unpack(y.ravel() / root, len(values))
        return pack(4 * values[:, None] * X * values + 4 * U.T @ drawn(U @ X @ U.T) @ U) / root

    if len(root) <= FEW:
        return 1 / float(np.linalg.eigvalsh(np.stack([apply(one) for one in np.eye(len(root))]))[-1])
    make: Any = LinearOperator
    # the error of an eigenvalue is of the second order in the residual; few directions, as each is a pass over rows
    asked = {"which": "LA", "tol": tolerance, "ncv": FEW, "return_eigenvectors": False}
    operator, begin = make((len(root),) * 2, apply, dtype=float), pack(np.eye(len(values))) / root
    return 1 / float(eigsh(operator, 1, v0=begin, **asked)[0])
