"""Logistic regression of a LIBSVM file cut into clients, and FLIX on it: what scafflix-1 runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix, hstack
from scipy.special import expit

from suffice.support.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Regression:
    """Clients' rows X[i] (n_i, d), intercept first, and labels y[i] (n_i,) of +-1."""

    X: tuple[csr_matrix, ...]
    y: tuple[np.ndarray, ...]
    mu: float = 0.1

    @classmethod
    def read(cls, folder: Path, name: str, edition: str, *, clients: int = 8, mu: float = 0.1) -> Regression:
        """The LIBSVM file `name` (or NAME_pm1, with labels +-1) of `folder`; `InputError` if it is none."""
        from sklearn.datasets import load_svmlight_file

        path = folder / f"{name}_pm1" if (folder / f"{name}_pm1").is_file() else folder / name
        try:
            rows, labels = load_svmlight_file(str(path))[:2]
        except OSError as error:
            raise InputError("data", str(path), (error.strerror or "unreadable").lower()) from None
        except ValueError:
            raise InputError("data", str(path), "no LIBSVM file: lines read label index:value ...") from None
        if rows.shape[0] < clients or len(np.unique(labels)) != 2:
            raise InputError("data", str(path), f"give at least {clients} rows with two different labels")
        if labels.min() == 0:  # some copies write 0 for -1
            labels = np.where(labels == 0, -1.0, labels)
        positive = labels != -1 if edition == "published" else labels == labels.max()
        X = csr_matrix(hstack([np.ones((rows.shape[0], 1)), rows]))
        parts = np.array_split(np.arange(rows.shape[0]), clients)
        y = tuple(np.where(positive[part], 1.0, -1.0) for part in parts)
        return cls(X=tuple(X[part] for part in parts), y=y, mu=mu)

    @property
    def clients(self) -> int:
        return len(self.X)

    @property
    def features(self) -> int:
        shape = self.X[0].shape
        assert shape is not None
        return shape[1]

    @property
    def sizes(self) -> list[int]:
        return [len(y) for y in self.y]

    @cached_property
    def _transposed(self) -> tuple[csr_matrix, ...]:
        return tuple(csr_matrix(X.T) for X in self.X)

    def smoothness(self, edition: str) -> np.ndarray:
        """L_i (N,) of the edition."""
        if edition == "stated":
            return np.array([X.multiply(X).sum() / (4 * n) + self.mu for X, n in zip(self.X, self.sizes)])
        return np.array(
            [
                (np.linalg.eigvalsh(csr_matrix(X.T @ X).toarray())[-1] + self.mu) / (4 * n)
                for X, n in zip(self.X, self.sizes)
            ]
        )

    def steps(self, edition: str) -> tuple[np.ndarray, float]:
        """Scafflix's gamma_i (N,) and p."""
        L = self.smoothness(edition)
        worst = L.mean() if edition == "published" else L.max()
        gamma = np.full_like(L, 1 / L.mean()) if edition == "published" else 1 / L
        return gamma, float(1 / np.sqrt(worst / self.mu))

    def gradient(self, i: int, x: np.ndarray) -> np.ndarray:
        """grad f_i at the columns of x (d, m)."""
        y = self.y[i][:, None]
        return self._transposed[i] @ (-y * expit(-y * (self.X[i] @ x))) / len(y) + self.mu * x

    def value(self, i: int, x: np.ndarray) -> np.ndarray:
        """f_i at the columns of x, (m,)."""
        return np.logaddexp(0, -self.y[i][:, None] * (self.X[i] @ x)).mean(0) + self.mu / 2 * (x**2).sum(0)

    @cached_property
    def _condensed(self) -> tuple[tuple[csr_matrix, np.ndarray, np.ndarray], ...]:
        """Of each client, what has the same losses in fewer entries: signed rows, how often each occurs, and a base.

        A column that is mostly 1 is mostly 0 once 1 is taken off it; the first column then stands for what was taken
        off, base . x. Half of mushrooms' entries go, and a quarter of w8a's rows, which occur more than once.
        """
        found = []
        for X, y in zip(self.X, self.y):
            base = (np.asarray(csr_matrix(X == 1).sum(0)).ravel() > len(y) / 2).astype(float)
            every = csr_matrix(np.ones((len(y), 1)))
            rows = csr_matrix(hstack([every, X - every @ csr_matrix(base)]).multiply(y[:, None]))
            rows.eliminate_zeros()
            rows.sort_indices()
            ends = zip(rows.indptr, rows.indptr[1:])
            occurs: dict[bytes, list[int]] = {}
            for j, (a, b) in enumerate(ends):
                occurs.setdefault(rows.indices[a:b].tobytes() + rows.data[a:b].tobytes(), []).append(j)
            times = np.array([len(at) for at in occurs.values()], dtype=float)
            first = np.array([at[0] for at in occurs.values()])
            # rows of one kind together: the processor then foresees where a row ends
            order = np.lexsort((np.diff(rows.indptr)[first], times))
            found.append((rows[first[order]], times[order], base))
        return tuple(found)

    def slopes(
        self, i: int, alpha: np.ndarray, x: np.ndarray, *, value: bool = False
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """alpha grad f_i (m, d) of FLIX at the rows of x (m, d), each with its alpha (m,), and with `value` f_i (m,).

        Compiled where this machine has a compiler.
        """
        from suffice.simulate.kernels import Unavailable, logistic_means

        rows, times, base = self._condensed[i]
        flix = {"alpha": alpha, "anchor": self.anchors[i], "mu": self.mu}
        try:
            return logistic_means(rows, x, times=times, base=base, **flix, value=value)
        except Unavailable:
            share = alpha[:, None]
            points = (share * x + (1 - share) * self.anchors[i]).T
            return share * self.gradient(i, points).T, self.value(i, points) if value else None

    def measured(self, alpha: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """f (m,) and every client's alpha grad f_i (N, m, d) of FLIX at the rows of x (m, d), each with its alpha."""
        slopes, heights = zip(*(self.slopes(i, alpha, x, value=True) for i in range(self.clients)))
        return np.mean(heights, axis=0), np.stack(slopes)

    def hessian(self, i: int, x: np.ndarray) -> np.ndarray:
        """The Hessian of f_i at x (d,)."""
        margin = self.X[i] @ x
        weight = expit(margin) * expit(-margin) / len(margin)
        weighted = csr_matrix(self.X[i].multiply(weight[:, None]))
        return csr_matrix(self._transposed[i] @ weighted).toarray() + self.mu * np.eye(self.features)

    @cached_property
    def anchors(self) -> np.ndarray:
        """x_i* (N, d), by Newton's method to a gradient below 1e-12."""
        return np.stack([self._minimum((i,), 1.0, np.zeros((1, self.features))) for i in range(self.clients)])

    def minimum(self, alpha: float, anchors: np.ndarray) -> np.ndarray:
        """x* of FLIX (d,)."""
        return self._minimum(tuple(range(self.clients)), alpha, anchors)

    def _minimum(self, clients: tuple[int, ...], alpha: float, anchors: np.ndarray) -> np.ndarray:
        x = anchors.mean(0)
        for _ in range(50):
            points = [alpha * x + (1 - alpha) * anchor for anchor in anchors]
            gradient = sum(self.gradient(i, at[:, None])[:, 0] for i, at in zip(clients, points))
            if np.linalg.norm(gradient) < 1e-12 * len(clients):
                break
            hessian = sum(self.hessian(i, at) for i, at in zip(clients, points))
            x = x - np.linalg.solve(alpha * hessian, gradient)
        return x
