"""The exact recursion of `recursion` by passes over rows, where second moments have too many coefficients.

With C the covariance of delta and m its mean, a step at rates v gives m+ = B m + 2 h and
    C+ = B C B + 4 sum u_k [mean x x' ((x'm - r)^2 + x'C x) - g_k g_k' - A0_k C A0_k],  g_k = A0_k m - h0_k,
r = y - x . theta_i* the residuals of client k's rows at client i's minimiser: about 4 n d^2 multiplications a client.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from .gradient_moments import RANK
from .gram_model import GramModel
from .packed import pack, unpack
from .preconditioning import pooled_basis
from .recursion import DIVERGED, largest, share_of_step

MOST_FEATURES = 40
"""Coefficients up to which a step by second moments, d^4 / 4 multiplications, is cheaper than one by rows."""
MOST_WORK = 2e9
"""Of N n d^2: a step of all clients that follow all others once."""
AT_ONCE = 1024
"""Rows."""


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
    """Client i's model at rates c v, c >= 0: only clients of positive rate are read; in eigenvectors of A."""

    def __init__(self, rows: GradientRows, client: int, v: np.ndarray) -> None:
        kept, at = np.flatnonzero(v), rows.optimum[client] @ rows.inverse.T
        self.A, U = np.linalg.eigh(np.tensordot(v[kept], rows.grams[kept] + rows.penalty, 1))
        blocks = [rows.blocks[k] for k in kept]
        h0 = np.stack([x.T @ (y - x @ at) / len(x) for x, y in blocks])
        pulls = h0 - rows.penalty @ at
        pulls[kept == client] = 0
        self.h, self.h0 = v[kept] @ pulls @ U, h0 @ U
        self.X = np.concatenate([x for x, _ in blocks])
        self.r = np.concatenate([y for _, y in blocks]) - self.X @ at
        self.X = self.X @ U
        self.u = v[kept] ** 2 / rows.batch
        self.w = np.concatenate([np.full(len(x), u / len(x)) for u, (x, _) in zip(self.u, blocks)])
        self.A0 = U.T @ rows.grams[kept] @ U
        self.sums = (self.u[:, None, None] * self.A0).swapaxes(0, 1).reshape(len(U), -1)  # u_k A0_k side by side
        self.single = tuple(one.astype(np.float32) for one in (self.X, self.A0, self.sums))
        self.own, self.delta = U.T @ (rows.grams[client] + rows.penalty) @ U, rows.gaps[client] @ U

    def _noise(self, C: np.ndarray, squares: np.ndarray | None, *, single_precision: bool) -> np.ndarray:
        """sum u_k (mean x x' (squares + x'C x) - A0_k C A0_k); `single_precision` in single precision."""
        X, A0, sums = self.single if single_precision else (self.X, self.A0, self.sums)
        seen, scratch = C.astype(X.dtype), np.empty((min(AT_ONCE, len(X)), len(C)), dtype=X.dtype)
        total = -(sums @ np.matmul(seen, A0).reshape(-1, len(C)))
        for first in range(0, len(X), AT_ONCE):  # as many as stay in the cache
            part = slice(first, first + AT_ONCE)
            x, Z = X[part], scratch[: len(X) - first]
            q = np.einsum("nd,nd->n", np.matmul(x, seen, out=Z), x)
            weight = (self.w[part] * (q if squares is None else q + squares[part])).astype(X.dtype)[:, None]
            if weight.min() < 0:  # C is no covariance
                total += np.multiply(x, weight, out=Z).T @ x
            else:  # half the products
                np.multiply(x, np.sqrt(weight), out=Z)
                total += Z.T @ Z
        return total

    def excesses(self, c: float, *, single_precision: bool = False) -> Iterator[float]:
        """E e_t, t = 0, 1, ...; with `single_precision` noise is added up in it: right to about 1e-7."""
        m, C, B = self.delta, np.zeros_like(self.own), 1 - 2 * c * self.A
        while True:
            yield float(m @ self.own @ m + (self.own * C).sum())
            g = self.A0 @ m - self.h0
            noise = self._noise(C, (self.X @ m - self.r) ** 2, single_precision=single_precision) - (g.T * self.u) @ g
            C, m = B[:, None] * C * B + 4 * c**2 * noise, B * m + 2 * c * self.h
            C = (C + C.T) / 2

    def first(self, c: float, epsilon: float, most: int, *, single_precision: bool = False) -> tuple[float, float]:
        """The first t <= most with E e_t <= epsilon, to a fraction of a step, and E e_t there; inf where none is."""
        start = before = 0.0
        for t, e in enumerate(islice(self.excesses(c, single_precision=single_precision), most + 1)):
            start = e if t == 0 else start
            if t and e <= epsilon:
                return t - 1 + float(share_of_step(before, np.asarray(e), epsilon)), e
            if not e <= DIVERGED * start:
                break
            before = e
        return np.inf, np.inf

    def curve(self, rates: np.ndarray, steps: int) -> np.ndarray:
        """As `ExactRecursion.curve` of a merged recursion, rates (0, c)."""
        found = np.full(steps + 1, np.inf)
        for t, e in enumerate(islice(self.excesses(float(rates[-1])), steps + 1)):
            found[t] = e
            if not e <= DIVERGED * found[0]:
                break
        return found

    def limit(self) -> float:
        """The c from which on c v is unstable: 1 / rho(P^-1 Q)."""
        P = 2 * (self.A[:, None] + self.A)
        seen = self.A / self.A[-1] > RANK
        root = np.where(seen[:, None] & seen, 1 / np.sqrt(np.maximum(P, 1e-300)), 0)

        def apply(y: np.ndarray) -> np.ndarray:
            X = root * unpack(y, len(root))
            return pack(root * (4 * self.A[:, None] * X * self.A + 4 * self._noise(X, None, single_precision=True)))

        return 1 / largest(apply, pack(np.eye(len(root)) * root))
