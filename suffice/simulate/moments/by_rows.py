"""The exact recursion of `recursion` by passes over rows, where second moments have too many coefficients.

About client i's minimiser, delta = theta - theta_i*, a row (x, y) of client k has the residual r = y - x . theta_i*;
half its gradient without the penalty is x (x . delta - r). With A_k = mean x x' and h_k = mean x r its mean over the
rows is g_k = A_k delta - h_k, and its covariance mean x x' (x . delta - r)^2 - g_k g_k'. Let delta have the mean m and
the covariance C, so that E (x . delta - r)^2 = (x . m - r)^2 + x'C x. A step at rates v_k, u_k = v_k^2 / batch, gives
    m+ = B m + 2 h,
    C+ = B C B + 4 sum u_k [mean x x' ((x . m - r)^2 + x'C x) - A_k C A_k - g_k g_k'],   g_k at delta = m,
with B and h as in `recursion`, the penalty in both of them. That is about 4 n d^2 multiplications for each client.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .gradient_moments import RANK, to_minimiser
from .gram_model import GramModel
from .orbits import DIVERGED, share_of_step
from .packed import pack, unpack
from .preconditioning import SHARED
from .recursion import largest

MOST_FEATURES = 40
"""A step by second moments, d^4 / 4 multiplications, is cheaper than one by rows up to so many coefficients."""
MOST_WORK = 2e9
"""N n d^2 is at most this: it counts what one step costs in which every client follows all others."""
AT_ONCE = 1024
"""So many rows are multiplied at a time, as they then stay in the cache."""


def passable(rows: Sequence[int], features: int) -> bool:
    """Whether that many rows may be gone through at every step."""
    return sum(rows) * float(features) ** 2 <= MOST_WORK


@dataclass(frozen=True, kw_only=True)
class GradientRows:
    """Least squares of N clients, theta = basis phi in the pooled coordinates, where A_k is about the identity.

    blocks   (X_k (n_k, d) in phi's coordinates, y_k)
    start    (N, d) in theta's, like the clients' minimisers, optimum (N, d)
    ridge    lam of lam |theta|^2 in every R_k
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
        basis = SHARED["pooled"](mean)
        optimum = [at + to_minimiser(x, y - x @ at, at, ridge) for (x, y), at in zip(blocks, start)]
        seen = tuple((x @ basis, y) for x, y in blocks)
        return cls(blocks=seen, start=start, optimum=np.array(optimum), basis=basis, ridge=ridge, batch=batch)

    def plain(self) -> GradientRows:
        """The same in coordinates that are a multiple of theta, with Hessians of the identity's trace."""
        size = np.sqrt(np.trace(self.inverse.T @ self.inverse) / len(self.basis))
        turn = self.inverse / size
        return replace(self, blocks=tuple((x @ turn, y) for x, y in self.blocks), basis=np.eye(len(turn)) / size)

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

    def curve(self, client: int, v: np.ndarray, unit: float, rates: np.ndarray, steps: int) -> np.ndarray:
        """As `ExactRecursion.curve` of the recursion merged at rates v, at rates (0, c)."""
        known = list(RowRecursion(self, client, v, unit).excesses(float(rates[-1]), steps))
        return np.pad(known, (0, steps + 1 - len(known)), constant_values=np.inf)

    def models(self) -> list[GramModel]:
        """By client the model with identity Hessians that stands for these rows in a search.

        The trace of a gradient's covariance is, at a model that is s I about its mean, linear in s, with the slope
        mean |x|^4 - |A_k|^2, of which each coordinate has 1/d; and at client k's minimiser it is
        mean |x|^2 r^2 - |g_k|^2.
        """
        optimum, start = self.optimum @ self.inverse.T, self.start @ self.inverse.T
        growth, level, d = [], [], self.start.shape[1]
        for (x, y), at, gram in zip(self.blocks, optimum, self.grams):
            square, slope = (x**2).sum(1), gram @ at - x.T @ y / len(x)
            growth.append(((square**2).mean() - (gram**2).sum()) / d)
            level.append((square * (y - x @ at) ** 2).mean() - slope @ slope)
        scale = 1 / self.batch
        return GramModel.from_minimisers(optimum, start, scale * np.array(growth), scale * np.array(level))


class RowRecursion:
    """Client i's model at rates c v, c >= 0, in eigenvectors of A = sum v_k A_k, the penalty being added to each A_k;
    its excess in units of so much loss.

    Only clients of positive rate are read.
    """

    def __init__(self, rows: GradientRows, client: int, v: np.ndarray, unit: float = 1.0) -> None:
        peers, minimiser = np.flatnonzero(v), rows.optimum[client] @ rows.inverse.T
        rates, grams, blocks = v[peers], rows.grams[peers], [rows.blocks[k] for k in peers]
        self.eigenvalues, U = np.linalg.eigh(np.tensordot(rates, grams + rows.penalty, 1))
        # h_k at theta_i*, and minus half the gradients there: client i's own is 0 but for rounding
        slopes = np.stack([x.T @ (y - x @ minimiser) / len(x) for x, y in blocks])
        pulls = slopes - rows.penalty @ minimiser
        pulls[peers == client] = 0
        self.slopes, self.pull = slopes @ U, rates @ pulls @ U

        X, y = (np.concatenate(parts) for parts in zip(*blocks))
        self.residuals = y - X @ minimiser
        self.u, turned = rates**2 / rows.batch, U.T @ grams @ U
        self.weights = np.concatenate([np.full(len(x), share / len(x)) for share, (x, _) in zip(self.u, blocks)])
        self.x, self.grams = X @ U, turned
        self.rough = self.x.astype(np.float32)
        self.summed = (self.u[:, None, None] * turned).swapaxes(0, 1).reshape(len(U), -1)  # u_k A_k side by side

        self.hessian = U.T @ (rows.grams[client] + rows.penalty) @ U / unit
        self.start = rows.gaps[client] @ U

    def _noise(self, C: np.ndarray, squares: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """sum_k u_k (mean x x' (squares + x'C x) - A_k C A_k), of one square for each of the `rows`, perhaps rough."""
        seen, scratch = C.astype(rows.dtype), np.empty((min(AT_ONCE, len(rows)), len(C)), dtype=rows.dtype)
        total = -(self.summed @ np.matmul(C, self.grams).reshape(-1, len(C)))
        for first in range(0, len(rows), AT_ONCE):
            part = slice(first, first + AT_ONCE)
            x, product = rows[part], scratch[: len(rows) - first]
            spread = np.einsum("nd,nd->n", np.matmul(x, seen, out=product), x)
            weight = (self.weights[part] * (spread + squares[part])).astype(x.dtype)[:, None]
            if weight.min() < 0:  # C is no covariance
                total += np.multiply(x, weight, out=product).T @ x
            else:  # a matrix by its own transpose: half the multiplications
                np.multiply(x, np.sqrt(weight), out=product)
                total += product.T @ product
        return total

    def _after(self, m: np.ndarray, C: np.ndarray, c: float, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of delta one step later."""
        g = self.grams @ m - self.slopes
        drawn = self._noise(C, (self.x @ m - self.residuals) ** 2, rows) - (g.T * self.u) @ g
        B = 1 - 2 * c * self.eigenvalues
        C = B[:, None] * C * B + 4 * c**2 * drawn
        return B * m + 2 * c * self.pull, (C + C.T) / 2

    def excesses(self, c: float, steps: int, *, rough: bool = False) -> Iterator[float]:
        """E e_t for t = 0..steps, none after one that has left; `rough` ones are right to about 1e-7."""
        m, C, ceiling = self.start, np.zeros_like(self.hessian), np.inf
        for t in range(steps + 1):
            if t:
                m, C = self._after(m, C, c, self.rough if rough else self.x)
            excess = float(m @ self.hessian @ m + (self.hessian * C).sum())
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
        """The c from which on c v is unstable: 1 / rho(P^-1 Q), P and Q as in `recursion`.

        In eigenvectors of A, of eigenvalues a, P multiplies the entry (i, j) of a matrix by 2 (a_i + a_j), and A X A is
        a_i a_j X_ij. Lanczos's method asks for P^-1/2 Q P^-1/2, on the range of A alone.
        """
        a = self.eigenvalues
        seen = a / a[-1] > RANK
        root = np.where(seen[:, None] & seen, 1 / np.sqrt(np.maximum(2 * (a[:, None] + a), 1e-300)), 0)
        no_squares = np.zeros(len(self.residuals))

        def apply(y: np.ndarray) -> np.ndarray:
            X = root * unpack(y, len(root))
            return pack(root * (4 * a[:, None] * X * a + 4 * self._noise(X, no_squares, self.rough)))

        return 1 / largest(apply, pack(np.eye(len(root)) * root), 1e-3)
