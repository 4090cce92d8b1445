"""Where searches for rates start: directions for all peers, and the rates that are best for a single step."""

from __future__ import annotations

import numpy as np

from suffice.simulate.moments.gradient_moments import moments_at
from suffice.simulate.moments.recursion import ExactRecursion

ROUNDING = 1e-14
"""Of the norms: slopes below are none."""


def start_directions(optimum: np.ndarray, A: np.ndarray, i: int, allowed: np.ndarray) -> np.ndarray:
    """Starts of sum 1, (F, N): those of the race first (equal, nearest half, nine tenths its own), then families."""
    gap = optimum - optimum[i]
    distance = np.einsum("kd,de,ke->k", gap, A, gap)
    distance[i] = -1
    order = np.argsort(distance, kind="stable")
    order = order[allowed[order]]
    n, own = len(order), np.eye(len(allowed))[i]

    def nearest(size: int) -> np.ndarray:
        equal = np.zeros(len(allowed))
        equal[order[:size]] = 1 / size
        return equal

    if n == 1:
        return nearest(1)[None]
    sizes = sorted({2**j for j in range(20) if 2**j < n} - {-(-n // 2)})
    found = [nearest(n), nearest(-(-n // 2))]
    if allowed[i]:
        found += [0.9 * own + 0.1 * nearest(n), *(own / 2 + nearest(size) / 2 for size in (*sizes[2:], n))]
    return np.stack([*found, *map(nearest, sizes)])


def with_direction(directions: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Directions (F, N) and behind them that of rates v; as they are where there is one only."""
    return np.vstack((directions, v / v.sum() if v.any() else directions[0])) if len(directions) > 1 else directions


def one_step(recursion: ExactRecursion, allowed: np.ndarray) -> tuple[np.ndarray, float]:
    """The rates (N,) of allowed peers with the least E e_1, and that [loss].

    It is a convex quadratic of the rates, with m = E delta_0: the square of A_i^1/2 (m - 2 sum v_k (A_k m - h_k)), and
    what the clients' noises add, 4 v_k^2 <A_i, C_k> / batch each. Non-negative least squares minimise it.
    """
    moments, i, d = recursion.moments, recursion.client, recursion.features
    m, (values, U) = recursion.start[1 : 1 + d], np.linalg.eigh(moments.A[i])
    root = np.sqrt(np.maximum(values, 0))[:, None] * U.T
    noises = 4 / moments.batch * (moments.noise @ moments_at(moments.start[i])) @ recursion.loss[1 + d :]
    along = 2 * root @ (moments.A @ m - recursion.h).T
    system = np.vstack((along, np.diag(np.sqrt(np.maximum(noises, 0)))))[:, allowed]
    v, target = np.zeros(moments.clients), np.concatenate((root @ m, np.zeros(moments.clients)))
    v[allowed] = nonnegative(system, target)
    return v, float(((system @ v[allowed] - target) ** 2).sum())


def nonnegative(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The least squares of y by columns of X with coefficients >= 0 (Lawson and Hanson 1974, chapter 23)."""
    v, free, scale = np.zeros(X.shape[1]), np.zeros(X.shape[1], dtype=bool), np.linalg.norm(X, axis=0)
    for _ in range(3 * len(v)):
        slope = np.where(free, 0.0, X.T @ (y - X @ v))
        if not (slope > ROUNDING * np.linalg.norm(y) * scale).any():
            break
        free[np.argmax(slope / np.where(scale > 0, scale, 1))] = True
        while True:
            new = np.zeros(len(v))
            new[free] = np.linalg.lstsq(X[:, free], y)[0]
            leaving = free & (new <= 0)
            if not leaving.any():
                break
            steps = v[leaving] / np.maximum(v[leaving] - new[leaving], 1e-300)
            v = v + steps.min() * (new - v)
            free[np.flatnonzero(leaving)[steps == steps.min()]] = False
        v = new
    return v
