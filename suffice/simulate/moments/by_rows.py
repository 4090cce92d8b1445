"""The exact recursion of `recursion` in factors, by passes over rows, where second moments have too many coefficients.

About client i's minimiser, q = (1, delta), half the gradient of a row (x, y) of client k without the penalty is
x (s . q) with s = (x . theta_i* - y, x). With G_k = mean x s' its mean over the rows is G_k q, and its covariance under
Z = E q q' is mean x x' (s'Z s) - G_k Z G_k'. A step at rates v_k, u_k = v_k^2 / batch, gives
    Z+ = B Z B' + 4 sum u_k [mean x x' (s'Z s) - G_k Z G_k'] in the rows and columns of delta,
with B as in `recursion`, the penalty in it. That is about 4 n d^2 multiplications for each client.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .gradient_moments import to_minimiser
from .gram_model import GramModel
from .orbits import DIVERGED, share_of_step
from .preconditioning import SHARED
from .recursion import step_limit

MOST_FEATURES = 40
"""A step by second moments, d^4 / 4 multiplications, is cheaper than one by rows up to so many coefficients."""
MOST_WORK = 2e9
"""N n d^2 is at most this: it counts what one step costs in which every client follows all others."""
AT_ONCE = 1024
"""So many rows are multiplied at a time, as they then stay in the cache."""


def passable(rows: Sequence[int], features: int) -> bool:
    """Whether all clients' `rows` (N,) are few enough to be gone through at every step."""
    return sum(rows) * float(features) ** 2 <= MOST_WORK


@dataclass(frozen=True, kw_only=True)
class GradientRows:
    """Least squares of N clients, theta = basis phi in the pooled coordinates, where A_k is about the identity.

    blocks          (X_k (n_k, d) in phi's coordinates, y_k)
    start, optimum  (N, d) in phi, the clients' minimisers
    ridge           lam of lam |theta|^2 in every R_k
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
        optimum = [at + to_minimiser(x, y - x @ at, at, ridge) for (x, y), at in zip(blocks, start)]
        given = cls(
            blocks=tuple(blocks), start=start, optimum=np.array(optimum), basis=np.eye(d), ridge=ridge, batch=batch
        )
        return given.in_basis(SHARED["pooled"](mean))

    def in_basis(self, basis: np.ndarray) -> GradientRows:
        """The same in coordinates psi, phi = basis psi."""
        back = np.linalg.inv(basis).T
        moved = {"start": self.start @ back, "optimum": self.optimum @ back, "basis": self.basis @ basis}
        return replace(self, blocks=tuple((x @ basis, y) for x, y in self.blocks), **moved)

    def plain(self) -> GradientRows:
        """The same in coordinates that are a multiple of theta, with Hessians of the identity's trace."""
        turn = np.linalg.inv(self.basis)
        size = np.sqrt((turn**2).sum() / len(turn))
        return replace(self.in_basis(turn / size), basis=np.eye(len(turn)) / size)

    @property
    def scale(self) -> float | None:
        """P where it is a multiple of the identity; None where it is a matrix."""
        first = self.basis[0, 0]
        return float(first**2) if np.array_equal(self.basis, first * np.eye(len(self.basis))) else None

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

    @property
    def A(self) -> np.ndarray:
        return self.grams + self.penalty

    @property
    def excess(self) -> np.ndarray:
        gaps = self.start - self.optimum
        return np.einsum("kd,kde,ke->k", gaps, self.A, gaps)

    def curve(self, client: int, v: np.ndarray, unit: float, rates: np.ndarray, steps: int) -> np.ndarray:
        """E e_t for t = 0..steps, as `ExactRecursion.curve` of the recursion merged at rates v, at rates (0, c)."""
        known = list(RowRecursion(self, client, v, unit).excesses(float(rates[-1]), steps))
        return np.pad(known, (0, steps + 1 - len(known)), constant_values=np.inf)

    def models(self) -> list[GramModel]:
        """For each client the model with identity Hessians that stands for these rows in a search.

        The trace of a gradient's covariance is, at a model that is s I about its mean, linear in s, with the slope
        mean |x|^4 - |A_k|^2, of which each coordinate has 1/d; and at client k's minimiser it is
        mean |x|^2 r^2 - |g_k|^2.
        """
        growth, level, d = [], [], self.start.shape[1]
        for (x, y), at, gram in zip(self.blocks, self.optimum, self.grams):
            square, slope = (x**2).sum(1), gram @ at - x.T @ y / len(x)
            growth.append(((square**2).mean() - (gram**2).sum()) / d)
            level.append((square * (y - x @ at) ** 2).mean() - slope @ slope)
        noise = (np.array(one) / self.batch for one in (growth, level))
        return GramModel.from_minimisers(self.optimum, self.start, *noise)


class RowRecursion:
    """Client i's model at rates c v, c >= 0; its excess in units of so much loss. Only clients of positive rate are
    read."""

    def __init__(self, rows: GradientRows, client: int, v: np.ndarray, unit: float = 1.0) -> None:
        peers, minimiser = np.flatnonzero(v), rows.optimum[client]
        blocks = [(x, np.column_stack((x @ minimiser - y, x))) for x, y in (rows.blocks[k] for k in peers)]
        self.means = np.stack([x.T @ s / len(x) for x, s in blocks])  # G_k without the penalty
        G = self.means + rows.penalty @ np.column_stack((minimiser, np.eye(len(minimiser))))
        G[peers == client, :, 0] = 0
        self.mean, u = np.tensordot(v[peers], G, 1), v[peers] ** 2 / rows.batch
        self.weights = np.concatenate([np.full(len(x), share / len(x)) for share, (x, _) in zip(u, blocks)])
        self.rows = np.concatenate([s for _, s in blocks])
        self.rough = self.rows.astype(np.float32)
        self.summed = (u[:, None, None] * self.means).swapaxes(0, 1).reshape(len(self.mean), -1)  # u_k G_k side by side
        self.hessian, self.start = rows.A[client] / unit, np.append(1, rows.start[client] - minimiser)

    def _noise(self, Z: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """sum_k u_k (mean x x' (s'Z s) - G_k Z G_k') of the `rows` s, perhaps rough."""
        seen, scratch = Z.astype(rows.dtype), np.empty((min(AT_ONCE, len(rows)), len(Z)), dtype=rows.dtype)
        total = -(self.summed @ (Z @ self.means.swapaxes(1, 2)).reshape(-1, len(Z) - 1))
        for first in range(0, len(rows), AT_ONCE):
            s, product = rows[first : first + AT_ONCE], scratch[: len(rows) - first]
            spread = np.einsum("nd,nd->n", np.matmul(s, seen, out=product), s)
            weight = (self.weights[first : first + AT_ONCE] * spread).astype(s.dtype)[:, None]
            if weight.min() < 0:  # Z is no second moment
                total += np.multiply(s, weight, out=product)[:, 1:].T @ s[:, 1:]
            else:  # a matrix by its own transpose: half the multiplications
                x = np.multiply(s, np.sqrt(weight), out=product)[:, 1:]
                total += x.T @ x
        return total

    def _after(self, Z: np.ndarray, c: float, rows: np.ndarray) -> np.ndarray:
        """The second moment one step later."""
        B = np.eye(len(Z))
        B[1:] -= 2 * c * self.mean
        after = B @ Z @ B.T
        after[1:, 1:] += 4 * c**2 * self._noise(Z, rows)
        return (after + after.T) / 2

    def excesses(self, c: float, steps: int, *, rough: bool = False) -> Iterator[float]:
        """E e_t for t = 0..steps, none after one that has left; `rough` ones are right to about 1e-7."""
        Z, ceiling = np.outer(self.start, self.start), np.inf
        for t in range(steps + 1):
            if t:
                Z = self._after(Z, c, self.rough if rough else self.rows)
            excess = float((self.hessian * Z[1:, 1:]).sum())
            yield excess
            ceiling = ceiling if t else DIVERGED * excess
            if not excess <= ceiling:
                return

    def first(self, c: float, most: int, *, rough: bool = False) -> tuple[float, float]:
        """The first t <= most with E e_t <= 1, to a fraction of a step, and E e_t there; inf where none is."""
        before = np.inf
        for t, excess in enumerate(self.excesses(c, most, rough=rough)):
            if t and excess <= 1:
                return t - 1 + float(share_of_step(before, excess)), excess
            before = excess
        return np.inf, np.inf

    def limit(self) -> float:
        """The c from which on c v is unstable."""
        return step_limit(self.mean[:, 1:], lambda S: self._noise(np.pad(S, ((1, 0), (1, 0))), self.rough), 1e-3)
