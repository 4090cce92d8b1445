"""First and second moments of clients' stochastic gradients as polynomials of the model: all that an exact plan needs.

Convention: R_k(theta) = mean (x . theta - y)^2 + lam |theta|^2, no factor 1/2. About some centre let q = (1, theta -
centre); half the gradient of R_k is G_k q, G_k = (-h_k, A_k) with A_k = mean(x x') + lam I. The gradient of one sample
has a covariance 4 C_k[q q'] that is linear in q q'; its mean over a batch has 4 C_k / batch. Nothing else of the data
enters the mean and the second moment of a model that follows weighted gradients with fixed rates. These moments are
z = pack(E q q'), whose first 1 + d numbers are 1 and sqrt(2) times the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from suffice.support.memory import Memory

from .packed import affine, pack, sandwich, size

RANK = 1e-10
"""Eigenvalues below this share of the largest are zero: rows determine them to 1e-16 or so."""


MOST_NUMBERS = 5e7
"""A problem's second moments are at most so many numbers: 400 MB."""


def manageable(clients: int, features: int, memory: Memory | None = None) -> bool:
    """Whether N (d(d+1)/2)^2 is at most `MOST_NUMBERS`; `InputError` where it is, but is more than `memory` allows."""
    numbers = clients * float(size(features)) ** 2
    if numbers <= MOST_NUMBERS and memory is not None:
        # the same in two more coordinates, and what a search puts beside them
        memory.check(f"second moments of {clients} clients with {features} coefficients", 8.0 * 4 * numbers)
    return numbers <= MOST_NUMBERS


def moments_at(model: np.ndarray) -> np.ndarray:
    """z (..., n) of a model (..., d) that is known for certain."""
    q = np.concatenate((np.ones((*model.shape[:-1], 1)), model), -1)
    return pack(q[..., :, None] * q[..., None, :])


@dataclass(frozen=True, kw_only=True)
class GradientMoments:
    """The moments of N clients' gradients in coordinates phi, theta = centre + basis phi.

    gradients  (N, d, 1 + d)  G_k: half the gradients at phi = 0, beside half the Hessians `A` (N, d, d) [loss / phi^2]
    noise      (N, d(d+1)/2, (d+1)(d+2)/2)  packed C_k is noise_k @ z
    optimum    (N, d)     minimisers in phi, where several the one nearest the start
    start      (N, d)     in phi
    basis      (e, d)     columns in the problem's own coordinates; preconditioning is basis basis'
    batch      samples that one stochastic gradient averages
    """

    gradients: np.ndarray
    noise: np.ndarray
    optimum: np.ndarray
    start: np.ndarray
    basis: np.ndarray
    batch: int = 1

    @property
    def A(self) -> np.ndarray:
        return self.gradients[..., 1:]

    @property
    def clients(self) -> int:
        return len(self.gradients)

    @property
    def features(self) -> int:
        return self.gradients.shape[1]

    @property
    def excess(self) -> np.ndarray:
        """The excess loss of the start, (N,) [loss]."""
        gap = self.start - self.optimum
        return np.einsum("kd,kde,ke->k", gap, self.A, gap)

    def only(self, clients: Sequence[int]) -> GradientMoments:
        """The moments of these clients alone, as if there were no others."""
        kept = list(clients)
        parts = {name: getattr(self, name)[kept] for name in ("gradients", "noise", "optimum", "start")}
        return replace(self, **parts)

    def in_basis(self, basis: np.ndarray) -> GradientMoments:
        """The same in coordinates psi, phi = basis psi, basis (d, e); its columns must span what rows can see."""
        inverse, to, turn = np.linalg.pinv(basis), sandwich(basis.T), affine(np.zeros(self.features), basis)
        across = sandwich(turn)
        noise = np.empty((self.clients, len(to), across.shape[1]))
        for at, one in enumerate(self.noise):  # without temporaries of all clients
            np.matmul(to, one @ across, out=noise[at])
        return replace(
            self,
            gradients=basis.T @ self.gradients @ turn,
            noise=noise,
            optimum=self.optimum @ inverse.T,
            start=self.start @ inverse.T,
            basis=self.basis @ basis,
        )


def to_minimiser(x: np.ndarray, residuals: np.ndarray, theta: np.ndarray, ridge: float) -> np.ndarray:
    """The step (d,) from theta, which has these residuals, to the minimiser of R_k, of several to the nearest."""
    if ridge:
        root = np.sqrt(len(x) * ridge)
        x, residuals = np.concatenate((x, root * np.eye(len(theta)))), np.concatenate((residuals, -root * theta))
    return np.linalg.lstsq(x, residuals, rcond=None)[0]


def moments_of_rows(
    blocks: Sequence[tuple[np.ndarray, np.ndarray]], *, start: np.ndarray, ridge: float = 0.0, batch: int = 1
) -> GradientMoments:
    """The moments of least squares on rows X_k (n_k, d) and responses y_k (n_k,), sampled with replacement.

    ridge  lam of lam |theta|^2 in every R_k
    start  (N, d)

    Residuals are taken at the pooled minimiser: moments about 0 would lose all digits where responses are far from 0.
    Coordinates are reduced to those that rows of some client can see.
    """
    d = start.shape[1]
    # from sums, without a copy of all rows: moments are exact about any centre
    centre = np.linalg.lstsq(sum(x.T @ x for x, _ in blocks), sum(x.T @ y for x, y in blocks), rcond=RANK)[0]
    optimum, noise = [], np.empty((len(blocks), size(d), size(1 + d)))
    gradients = np.tile(ridge * np.column_stack((centre, np.eye(d))), (len(blocks), 1, 1))
    for k, ((x, target), origin) in enumerate(zip(blocks, start - centre)):
        n, r = len(x), target - x @ centre
        seen = np.column_stack((-r, x))  # half the gradient of a row is x (seen . q)
        mean, p = x.T @ seen / n, pack(seen[:, :, None] * seen[:, None])
        noise[k] = p[:, 1 + d :].T @ p / n - sandwich(mean)
        gradients[k] += mean
        optimum.append(origin + to_minimiser(x, r - x @ origin, start[k], ridge))
    full = GradientMoments(
        gradients=gradients,
        noise=noise,
        optimum=np.stack(optimum),
        start=start - centre,
        basis=np.eye(d),
        batch=batch,
    )
    values, vectors = np.linalg.eigh(full.A.mean(0))
    seen = values > RANK * values[-1]
    return full if seen.all() else full.in_basis(vectors[:, seen])


def moments_of_quadratics(
    A: np.ndarray, optimum: np.ndarray, *, start: np.ndarray, covariance: np.ndarray
) -> GradientMoments:
    """The moments of R_k = (theta - theta_k*)' A_k (theta - theta_k*) with noise of fixed `covariance` (N, d, d)."""
    n, d = optimum.shape
    noise = np.zeros((n, size(d), size(1 + d)))
    noise[..., 0] = pack(covariance) / 4
    return _about_the_mean(A, optimum, noise, start=start)


def moments_of_gaussian_features(
    A: np.ndarray, optimum: np.ndarray, *, mean: np.ndarray, label_noise: np.ndarray, start: np.ndarray, batch: int
) -> GradientMoments:
    """The moments of streams x ~ N(mean, A - mean mean'), y = x . theta_k* + label_noise xi.

    Isserlis: with w = theta - theta_k*, q = A w and a = mean . w the covariance of 2 x (x . w - noise) is
    4 ((w'A w + label_noise^2) A + q q' - 2 a^2 mean mean').
    """
    noise = []
    for H, gap, mu, level in zip(A, optimum - optimum.mean(0), mean, label_noise):
        outer, to = pack(np.outer(mu, mu)), np.column_stack((-gap, np.eye(len(gap))))  # w = to @ (1, v)
        quartic = np.outer(pack(H), pack(H)) + sandwich(H) - 2 * np.outer(outer, outer)
        noise.append(quartic @ sandwich(to))
        noise[-1][:, 0] += level**2 * pack(H)
    return _about_the_mean(A, optimum, np.stack(noise), start=start, batch=batch)


def _about_the_mean(
    A: np.ndarray, optimum: np.ndarray, noise: np.ndarray, *, start: np.ndarray, batch: int = 1
) -> GradientMoments:
    """The moments in coordinates about the mean of the minimisers, in which `noise` is given."""
    centre = optimum.mean(0)
    slope = -A @ (optimum - centre)[..., None]
    return GradientMoments(
        gradients=np.concatenate((slope, A), -1),
        noise=noise,
        optimum=optimum - centre,
        start=start - centre,
        basis=np.eye(len(centre)),
        batch=batch,
    )
