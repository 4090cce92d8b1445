"""Exact recursions of many numbers on subspaces of few, on which a search finds almost the same times at a tenth of
the cost.

The second moments (S, D = d(d+1)/2 numbers) obey S+ = K S + source with a symmetric K, and the excess is l . S_t. The
subspace holds what solves ((1 + sigma) I - K) x = b at several sigma and rates, b once the source's and start's
transform and once l: a projection on it matches sum_t e_t / (1 + sigma)^(t+1) and its derivative by sigma (rational
Krylov). 1 and the mean are kept whole, so that the projected map is as block-triangular and as stable as the full one.
Between the rates that a subspace is about times differ by some in ten thousand, beyond them by 2 %: what is found is to
be timed on the full recursion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .batched import MapsTrial, MomentMaps

SHIFTS = np.geomspace(2e-4, 0.5, 5)
"""sigma: excesses that fall by so much a step."""


def subspaces(M: np.ndarray, starts: np.ndarray, losses: np.ndarray, features: int) -> np.ndarray:
    """Orthonormal columns (G, n, r) for step matrices M (G, K, n, n) and what is between them, starts and losses
    (G, n): on them the first two excesses are exact."""
    s, n = 1 + features, M.shape[-1]
    seen = []
    for step, start, loss in zip(M, starts, losses):
        columns = [start[None, s:], loss[None, s:]]
        for one in step:
            small = (1 + SHIFTS)[:, None, None] * np.eye(s) - one[:s, :s]
            mean = np.linalg.solve(small, np.broadcast_to(start[:s], (len(SHIFTS), s))[..., None])[..., 0]
            source = (start[s:] + mean @ one[s:, :s].T).astype(M.dtype)
            for shift, b in zip(SHIFTS.astype(M.dtype), source):
                full = -one[s:, s:]
                full.flat[:: n - s + 1] += 1 + shift
                columns.append(_solved(full, np.stack((b, loss[s:].astype(M.dtype)), axis=-1)).T)
        seen.append(np.concatenate(columns).T)
    X = np.stack(seen).astype(float)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)
    basis = np.zeros((len(X), n, s + X.shape[-1]))
    basis[:, :s, :s] = np.eye(s)
    basis[:, s:, s:] = np.linalg.qr(X)[0]
    return basis


def _solved(K: np.ndarray, b: np.ndarray) -> np.ndarray:
    """K^-1 b of a symmetric K, which is positive definite where rates are stable."""
    from scipy.linalg import cho_factor, cho_solve

    try:
        return cho_solve(cho_factor(K, check_finite=False), b, check_finite=False)
    except np.linalg.LinAlgError:
        return np.linalg.solve(K, b)


@dataclass(frozen=True, kw_only=True)
class ReducedMaps:
    """`full` on subspaces: its start and loss (G, r) there, W as of `subspaces`."""

    full: MomentMaps
    W: np.ndarray
    start: np.ndarray
    loss: np.ndarray

    @classmethod
    def along(
        cls, maps: MomentMaps, V: np.ndarray, lengths: np.ndarray
    ) -> tuple[ReducedMaps, tuple[np.ndarray, np.ndarray]]:
        """For rates about `lengths` (K,) times V (G, 1, N), and their expansion at V."""
        M1, M2 = maps.expansion(V)
        c = lengths.astype(M1.dtype)[:, None, None]
        M = np.eye(M1.shape[-1], dtype=M1.dtype) + c * M1 + c**2 * M2
        W = subspaces(M, maps.start, maps.loss, maps.features).astype(maps.start.dtype)
        start, loss = ((one[:, None] @ W)[:, 0] for one in (maps.start, maps.loss))
        found = cls(full=maps, W=W, start=start, loss=loss)
        return found, (found.on(M1), found.on(M2))

    def __getitem__(self, groups: Any) -> ReducedMaps:
        return replace(self, **{name: getattr(self, name)[groups] for name in ("full", "W", "start", "loss")})

    def on(self, M: np.ndarray) -> np.ndarray:
        """Matrices (G, K, n, n) there, (G, K, r, r)."""
        W = self.W[:, None]
        return W.swapaxes(-1, -2) @ (M @ W)

    def expansion(self, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As of `MomentMaps`, (G, K, r, r) each."""
        first, second = self.full.expansion(V)
        return self.on(first), self.on(second)

    def trial(self, V: np.ndarray, steps: int) -> ReducedTrial:
        return ReducedTrial(reduced=self, V=V, steps=steps)


class ReducedTrial(MapsTrial):
    """As `MapsTrial`, on subspaces: rates that are stable there may be a hair beyond their limit."""

    def __init__(self, *, reduced: ReducedMaps, V: np.ndarray, steps: int) -> None:
        self.maps, self.V, self.W = reduced.full, V, reduced.W[:, None]
        self.step, self.start, self.loss = reduced.on(reduced.full.matrices(V)), reduced.start, reduced.loss
        self.follow(steps)

    def lifted(self, P: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        outer = P @ Z.swapaxes(-1, -2)
        return self.W @ outer, np.broadcast_to(self.W, (*outer.shape[:2], *self.W.shape[-2:]))
