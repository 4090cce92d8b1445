"""The exact recursion of `exact_recursion` by passes over rows, where second moments have too many coefficients.

With C the covariance of delta and m its mean, a step at rates v gives m+ = B m + 2 h and
    C+ = B C B + 4 sum u_k [mean x x' ((x'm - r)^2 + x'C x) - g_k g_k' - A0_k C A0_k],  g_k = A0_k m - h0_k,
r = y - x . theta_i* the residuals of client k's rows at client i's minimiser: about 4 n d^2 multiplications a client.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .exact_recursion import DIVERGED, share_of_step
from .gram_model import GramModel
from .preconditioning import pooled_basis

MOST_FEATURES = 40
"""Coefficients up to which a step by second moments, d^4 / 4 multiplications, is cheaper than one by rows."""
MOST_WORK = 2e9
"""Of N n d^2: a step of all clients that follow all others once."""
POWERS = 60


def passable(rows: Sequence[int], features: int) -> bool:
    """Whether that many rows may be gone through at every step."""
    return sum(rows) * float(features) ** 2 <= MOST_WORK


@dataclass(frozen=True, kw_only=True)
class GradientRows:
    """Least squares of N clients, theta = basis phi in the pooled coordinates, where A_k is about the identity.

    blocks  (X_k (n_k, d) in phi's coordinates, y_k); start (N, d) in theta's
    ridge   lam of lam |theta|^2 in every R_k
    """

    blocks: tuple[tuple[np.ndarray, np.ndarray], ...]
    start: np.ndarray
    optimum: np.ndarray
    basis: np.ndarray
    ridge: float = 0.0
    batch: int = 1

    @classmethod
    def of(
        cls, blocks: Sequence[tuple[np.ndarray, np.ndarray]], *, start: np.ndarray, ridge: float = 0.0, batch: int = 1
    ) -> GradientRows:
        """Arguments as in `moments_of_rows`."""
        d = start.shape[1]
        mean = sum(x.T @ x / len(x) for x, _ in blocks) / len(blocks) + ridge * np.eye(d)
        basis, optimum = pooled_basis(mean), []
        for (x, y), origin in zip(blocks, start):
            n, r = len(x), y - x @ origin
            if ridge:
                x = np.concatenate((x, np.sqrt(n * ridge) * np.eye(d)))
                r = np.concatenate((r, -np.sqrt(n * ridge) * origin))
            optimum.append(origin + np.linalg.lstsq(x, r, rcond=None)[0])
        seen = tuple((x @ basis, y) for x, y in blocks)
        return cls(blocks=seen, start=start, optimum=np.array(optimum), basis=basis, ridge=ridge, batch=batch)

    @property
    def clients(self) -> int:
        return len(self.blocks)

    @cached_property
    def penalty(self) -> np.ndarray:
        return self.ridge * self.basis.T @ self.basis

    @cached_property
    def grams(self) -> np.ndarray:
        """mean x x' of each client, without the penalty."""
        return np.stack([x.T @ x / len(x) for x, _ in self.blocks])

    @cached_property
    def inverse(self) -> np.ndarray:
        return np.linalg.inv(self.basis)

    @property
    def gaps(self) -> np.ndarray:
        """Of the start from the minimisers, in phi."""
        return (self.start - self.optimum) @ self.inverse.T

    @property
    def excess(self) -> np.ndarray:
        A = self.grams + self.penalty
        return np.einsum("kd,kde,ke->k", self.gaps, A, self.gaps)

    def model(self) -> GramModel:
        growth, level, d = [], [], self.start.shape[1]
        for (x, y), at, gram in zip(self.blocks, self.optimum @ self.inverse.T, self.grams):
            square, mean = (x**2).sum(1), gram @ at - x.T @ y / len(x)
            growth.append(((square**2).mean() - (gram**2).sum()) / d)
            level.append((square * (y - x @ at) ** 2).mean() - mean @ mean)
        optimum, start = self.optimum @ self.inverse.T, self.start @ self.inverse.T
        scale = 1 / self.batch
        return GramModel.from_minimisers(
            optimum, start, scale * np.array(growth), scale * np.array(level), np.arange(self.clients)
        )


class RowRecursion:
    """Client i's model at rates c v, c >= 0: only clients of positive rate are read."""

    def __init__(self, rows: GradientRows, client: int, v: np.ndarray) -> None:
        kept = np.flatnonzero(v)
        at = rows.optimum[client] @ rows.inverse.T
        blocks = [rows.blocks[k] for k in kept]
        self.X = np.concatenate([x for x, _ in blocks])
        self.r = np.concatenate([y for _, y in blocks]) - self.X @ at
        self.u = v[kept] ** 2 / rows.batch
        self.w = np.concatenate([np.full(len(x), u / len(x)) for u, (x, _) in zip(self.u, blocks)])
        self.A0 = rows.grams[kept]
        ends = np.cumsum([len(x) for x, _ in blocks])[:-1]
        self.h0 = np.stack([x.T @ r / len(x) for (x, _), r in zip(blocks, np.split(self.r, ends))])
        pulls = self.h0 - rows.penalty @ at
        pulls[kept == client] = 0
        self.A, self.h = np.tensordot(v[kept], self.A0 + rows.penalty, 1), v[kept] @ pulls
        self.own, self.delta = rows.grams[client] + rows.penalty, rows.gaps[client]

    def _noise(self, C: np.ndarray, squares: np.ndarray | float) -> np.ndarray:
        """sum u_k (mean x x' (squares + x'C x) - A0_k C A0_k)."""
        q = ((self.X @ C) * self.X).sum(1) + squares
        Z = self.X * np.sqrt(np.maximum(self.w * q, 0))[:, None]
        return Z.T @ Z - np.einsum("k,kij->ij", self.u, self.A0 @ C @ self.A0)

    def excesses(self, c: float, steps: int) -> np.ndarray:
        """E e_t, t = 0..steps, or up to where it has left."""
        m, C = self.delta, np.zeros_like(self.A)
        B, found = np.eye(len(m)) - 2 * c * self.A, []
        for t in range(steps + 1):
            found.append(float(m @ self.own @ m + (self.own * C).sum()))
            if t == steps or not found[-1] <= DIVERGED * found[0]:
                break
            g = self.A0 @ m - self.h0
            noise = self._noise(C, (self.X @ m - self.r) ** 2) - np.einsum("k,ki,kj->ij", self.u, g, g)
            C, m = B @ C @ B + 4 * c**2 * noise, B @ m + 2 * c * self.h
            C = (C + C.T) / 2
        return np.array(found)

    def first(self, c: float, epsilon: float, most: int) -> tuple[float, float]:
        """The first t <= most with E e_t <= epsilon, to a fraction of a step, and E e_t there; inf where none is."""
        m, C = self.delta, np.zeros_like(self.A)
        B, start = np.eye(len(m)) - 2 * c * self.A, float(self.delta @ self.own @ self.delta)
        before = start
        for t in range(most):
            g = self.A0 @ m - self.h0
            noise = self._noise(C, (self.X @ m - self.r) ** 2) - np.einsum("k,ki,kj->ij", self.u, g, g)
            C, m = B @ C @ B + 4 * c**2 * noise, B @ m + 2 * c * self.h
            C = (C + C.T) / 2
            e = float(m @ self.own @ m + (self.own * C).sum())
            if e <= epsilon:
                return t + float(share_of_step(before, np.asarray(e), epsilon)), e
            if not e <= DIVERGED * start:
                break
            before = e
        return np.inf, np.inf

    def curve(self, rates: np.ndarray, steps: int) -> np.ndarray:
        """As `ExactRecursion.curve` of a merged recursion, rates (0, c)."""
        found = self.excesses(float(rates[-1]), steps)
        return np.concatenate((found, np.full(steps + 1 - len(found), np.inf)))

    def limit(self) -> float:
        """The c from which on c v is unstable: 1 / rho(P^-1 Q) by power iteration, to about 1e-4."""
        values, U = np.linalg.eigh(self.A)
        inverse = 1 / np.maximum(2 * (values[:, None] + values), 1e-12 * values[-1])
        X, rho = np.eye(len(values)), 0.0
        for _ in range(POWERS):
            X = 4 * self.A @ X @ self.A + 4 * self._noise(X, 0.0)
            X = U @ (inverse * (U.T @ X @ U)) @ U.T
            last, rho = rho, float(np.linalg.norm(X))
            X = X / rho
            if abs(rho - last) <= 1e-5 * rho:
                break
        return 1 / rho
