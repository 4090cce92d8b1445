"""Logistic regression on a LIBSVM file cut into clients, and FLIX on it: what scafflix-1 runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_matrix
from scipy.special import expit
from torch import Tensor

from suffice.simulate import Logistic
from suffice.simulate.data.libsvm import read_libsvm
from suffice.simulate.data.memory import Memory
from suffice.simulate.kernels import Unavailable, logistic_means
from suffice.support.errors import InputError


@dataclass(frozen=True, kw_only=True)
class SparseLogistic(Logistic):
    """A `Logistic` of exact gradients alone, over sparse rows, compiled where this machine has a compiler."""

    @classmethod
    def read(cls, folder: Path, name: str, edition: str, *, clients: int, mu: float) -> SparseLogistic:
        """The LIBSVM file `name` (or NAME_pm1, with labels +-1) of `folder` in contiguous parts, an intercept first.

        All models start at 1. Raises `InputError`.
        """
        path = folder / f"{name}_pm1" if (folder / f"{name}_pm1").is_file() else folder / name
        (table,) = read_libsvm([path], Memory())
        labels = np.where(table.y == 0, -1.0, table.y)  # some copies write 0 for -1
        if len(labels) < clients or len(np.unique(labels)) != 2:
            raise InputError("data", str(path), f"give at least {clients} rows with two different labels")
        y = np.where(labels != -1 if edition == "published" else labels == labels.max(), 1.0, -1.0)
        X = np.insert(table.X, 0, 1.0, axis=1)
        start = np.ones(X.shape[1])
        return cls.of(np.array_split(X, clients), np.array_split(y, clients), regularisation=mu, start=start)

    def steps(self, edition: str) -> tuple[np.ndarray, float]:
        """Scafflix's gamma_i (N,) and p, from the edition's L_i."""
        mu = self.regularisation
        if edition == "stated":
            L = np.array([(X**2).sum() / (4 * len(X)) + mu for X, _ in self.data.blocks()])
            return 1 / L, float(1 / np.sqrt(L.max() / mu))
        L = np.array([(np.linalg.eigvalsh(X.T @ X)[-1] + mu) / (4 * len(X)) for X, _ in self.data.blocks()])
        return np.full_like(L, 1 / L.mean()), float(1 / np.sqrt(L.mean() / mu))

    @cached_property
    def _rows(self) -> list[tuple[csr_matrix, np.ndarray]]:
        """Each client's rows, signed by their labels, and how often each occurs: of w8a a quarter occur again."""
        found = []
        for X, y in self.data.blocks():
            rows, times = np.unique(X * y[:, None], axis=0, return_counts=True)
            # rows of one kind together: the processor then foresees where a row ends
            order = np.lexsort((np.count_nonzero(rows, axis=1), times))
            found.append((csr_matrix(rows[order]), times[order].astype(float)))
        return found

    @cached_property
    def measured(self) -> Any:
        """R_i(theta_i) (S, N) and grad R_i(theta_i) (S, N, d): those of the last theta are remembered, for the next
        step starts where a figure has measured."""
        return lru_cache(maxsize=1)(self._measured)

    def _measured(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        values, slopes = theta.new_empty(theta.shape[:2]), torch.empty_like(theta)
        mu = self.regularisation
        for i, (rows, times) in enumerate(self._rows):
            x, total = theta[:, i].numpy(), times.sum()
            try:
                slope, value = logistic_means(rows, x, times=times, mu=mu)
            except Unavailable:
                margin = rows @ x.T  # (n, S)
                slope = mu * x - (rows.T @ (times[:, None] * expit(-margin))).T / total
                value = times @ np.logaddexp(0, -margin) / total + mu / 2 * (x**2).sum(1)
            slopes[:, i], values[:, i] = torch.from_numpy(slope), torch.from_numpy(value)
        return values, slopes

    def gradient(self, theta: Tensor) -> Tensor:
        return self.measured(theta)[1]

    def draw(self, *_: Any, **__: Any) -> Tensor:
        return self.start.new_empty(0)  # no step takes sampled rows

    def least(self, alpha: float) -> float:
        """The minimum over x of mean_i R_i(alpha x + (1 - alpha) x_i*): alpha x = z is as free as x."""
        from scipy.optimize import minimize

        def at(z: np.ndarray) -> tuple[float, np.ndarray]:
            values, slopes = self.measured(torch.from_numpy(z) + (1 - alpha) * self.optimum[None])
            return float(values.mean()), slopes.mean(1)[0].numpy()

        # a slope of 1e-9 leaves (1e-9)^2 / (2 mu), which is less than the rounding of a loss
        options: dict[str, Any] = {"gtol": 1e-9, "ftol": 0.0, "maxcor": 50, "maxiter": 5000}
        return minimize(at, alpha * self.optimum.mean(0).numpy(), jac=True, method="L-BFGS-B", options=options).fun
