"""Least squares on clients' data: R_i(theta) = mean over rows of (x . theta - y)^2 + (r/2) |theta|^2, no factor 1/2.

The population part is a quadratic, so optimum, curvature and heterogeneity are exact. The oracle samples
rows of each client with replacement. Its noise is multiplicative: the variance grows with the
distance from the optimum, so Assumption 2 (one sigma for all theta) holds on a bounded region alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from suffice.bounds import Constants
from suffice.support.errors import InputError
from suffice.support.memory import Memory

from ..data.encoding import Coordinates
from ..moments.by_rows import MOST_FEATURES, GradientRows, passable
from ..moments.gradient_moments import RANK, GradientMoments, manageable, moments_of_rows
from ..oracle import short
from .gradient_noise import Additive
from .population import QuadraticPopulation
from .quadratic import Quadratics
from .row_model import RowModel
from .rows import Rows

MOST_SINGULAR = 500
"""A client may have fewer rows than coefficients up to so many of these."""


@dataclass(frozen=True, kw_only=True)
class LeastSquares(RowModel, QuadraticPopulation):
    """Clients have rows X_i (n_i, d) and responses y_i (n_i,).

    regularisation  r >= 0 [loss / theta^2], the same for all clients
    batch           rows that one stochastic gradient averages
    undetermined    why there are no constants where some client's rows do not determine its coefficients; `optimum` is
                    then its minimiser nearest the start
    remarks         what of the tables was left out; coordinates  what the coefficients multiply, where that is known
    """

    __repr__ = short
    data: Rows
    population: Quadratics
    regularisation: float = 0.0
    batch: int = 1
    undetermined: tuple[InputError, ...] = ()
    remarks: tuple[str, ...] = ()
    coordinates: Coordinates | None = None

    without_noise: ClassVar[str] = (
        "its rows' gradients do not vary (a single row, or rows that are fitted exactly): give more rows, merge this "
        "client with another or leave it out"
    )

    @classmethod
    def _of(
        cls, data: Rows, names: tuple[str, ...], start: np.ndarray, *, regularisation: float, batch: int
    ) -> LeastSquares:
        blocks, d = data.blocks(), data.X.shape[1]
        if not regularisation and d > MOST_SINGULAR:  # before (d, d) matrices, which may be far larger, are made
            for name, (x, _) in zip(names, blocks):
                if len(x) < d:
                    raise _undetermined([name], len(x), d)
        A = np.stack([x.T @ x / len(x) for x, _ in blocks]) + regularisation / 2 * np.eye(d)
        least, largest = np.linalg.eigvalsh(A)[:, [0, -1]].T
        found = np.flatnonzero(least <= np.maximum(1e-12 * largest, 1e-60)).tolist()
        refusal = [_undetermined([names[i] for i in found], len(blocks[found[0]][0]), d)] if found else []
        optimum = np.stack([_solve(x, target, regularisation, at) for (x, target), at in zip(blocks, start)])
        tensors = {"A": torch.from_numpy(A), "xi": torch.from_numpy(-optimum), "start": torch.from_numpy(start)}
        # what is singular has no constants, which `Quadratics.of` would refuse
        population = Quadratics(**tensors, noise=Additive.isotropic(0.0, d, len(A)), names=names)
        how: dict[str, Any] = {"regularisation": regularisation, "batch": batch}
        return cls(data=data, population=population, undetermined=tuple(refusal), **how)

    def slope(self, prediction: Tensor, y: Tensor) -> Tensor:
        return 2 * (prediction - y)

    def variance(self, theta: Tensor) -> Tensor:
        """Exact total variance of client k's stochastic gradient at given points theta (P, d), as (P, N)."""
        residual = theta @ self.data.X.T - self.data.y  # (P, rows)
        second = self.data.means(4 * residual**2 * (self.data.X**2).sum(-1))
        everywhere = theta[:, None].expand(-1, self.clients, -1)
        mean = self.gradient(everywhere) - self.regularisation * everywhere
        return (second - (mean**2).sum(-1)).clamp_min(0) / self.batch

    def constants(self) -> Constants:
        """Raises `InputError` where a client's rows do not determine its coefficients, or do not vary."""
        for refusal in self.undetermined:
            raise refusal
        return super().constants()

    # With delta = theta - theta*, e = x . theta* - y, B = mean(x x') a row's gradient is 2 (x . delta + e) x plus the
    # regularisation's, so the variance is v + 2 l . delta + delta' Q delta with
    #   v = 4 mean(e^2 |x|^2) - |g|^2, l = 4 mean(e |x|^2 x) - 2 B g, Q = 4 mean(|x|^2 x x') - 4 B^2, g = 2 mean(e x).
    # |grad R|^2 = 4 delta' A^2 delta. It is at most s + 4 M delta' A^2 delta for all delta iff 4 M A^2 - Q - l l' / (s
    # - v) >= 0, for s > v. At s = 2 v that is M = lambda_max(A^-1 (Q + l l' / v) A^-1) / 4, the least for this floor.

    def noise_growth(self) -> tuple[np.ndarray, np.ndarray]:
        """Floors 2 Var[g_i at the optimum] and the least factors that go with them."""
        floors, factors = [], []
        A, optimum = self.A.double().cpu().numpy(), self.optimum.double().cpu().numpy()
        for (x, y), a, theta in zip(self.data.blocks(), A, optimum):
            e, square, n = x @ theta - y, (x**2).sum(1), len(x)
            B, g = x.T @ x / n, 2 * e @ x / n
            v = max(4 * (e**2 * square).mean() - g @ g, 0.0)
            slope = 4 * (e * square) @ x / n - 2 * B @ g
            Q = 4 * (x * square[:, None]).T @ x / n - 4 * B @ B
            values = np.linalg.eigvalsh(a)
            # rows are orthogonal to what a does not see: there is neither noise nor slope
            inverse = np.linalg.inv(a) if values[0] > RANK * values[-1] else np.linalg.pinv(a, RANK, hermitian=True)
            grown = Q + np.outer(slope, slope) / v if v > 1e-300 else Q
            floors.append(2 * v)
            factors.append(max(np.linalg.eigvalsh(inverse @ grown @ inverse)[-1], 0.0) / 4)
        return np.array(floors) / self.batch, np.array(factors) / self.batch

    def gradient_moments(self, memory: Memory | None = None) -> GradientMoments | None:
        if self.features > MOST_FEATURES or not manageable(self.clients, self.features, memory):
            return None
        start = self.start.double().cpu().numpy()
        return moments_of_rows(self.data.blocks(), start=start, ridge=self.regularisation / 2, batch=self.batch)

    def gradient_rows(self, memory: Memory | None = None) -> GradientRows | None:
        blocks = self.data.blocks()
        if not passable([len(x) for x, _ in blocks], self.features):
            return None
        if memory is not None:
            numbers = sum(x.size for x, _ in blocks) + 4 * self.clients * self.features**2
            memory.check(f"rows of {self.clients} clients with {self.features} coefficients", 8.0 * 3 * numbers)
        start = self.start.double().cpu().numpy()
        return GradientRows.of(blocks, start=start, ridge=self.regularisation / 2, batch=self.batch)

    def with_start(self, start: Any) -> LeastSquares:
        """The same problem from another start; a minimiser that rows leave open is the one nearest to it."""
        X, y = zip(*self.data.blocks())
        again = self.of(X, y, regularisation=self.regularisation, batch=self.batch, names=self.names, start=start)
        return replace(again, remarks=self.remarks, coordinates=self.coordinates)


def _undetermined(labels: Sequence[str], rows: int, d: int) -> InputError:
    """The error for the clients `labels`, of which the first has so many rows; the others are only named."""
    # a single row has no noise to plan with, so that regularising would only lead to the next refusal
    remedy = (
        "merge this client with another or leave it out"
        if rows == 1
        else "drop constant or duplicated columns, use fewer predictors, merge clients, or regularise"
    )
    more = f"; likewise {', '.join(labels[1:6])}{', ...' if len(labels) > 6 else ''}" if len(labels) > 1 else ""
    return InputError(
        f"mu of client {labels[0]}", 0, f"its {rows} rows do not determine {d} coefficients{more}: {remedy}"
    )


def _solve(x: np.ndarray, y: np.ndarray, ridge: float, start: np.ndarray) -> np.ndarray:
    """The minimiser, as least squares on rows extended by sqrt(n r / 2) I with response 0; of several the nearest."""
    d = x.shape[1]
    if ridge:
        x, y = np.concatenate((x, np.sqrt(len(x) * ridge / 2) * np.eye(d))), np.concatenate((y, np.zeros(d)))
    found, _, rank, _ = np.linalg.lstsq(x, y, rcond=None)
    return found if rank == d else start + np.linalg.lstsq(x, y - x @ start, rcond=None)[0]
