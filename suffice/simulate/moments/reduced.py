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

import numpy as np

SHIFTS = np.geomspace(2e-4, 0.5, 5)
"""sigma: excesses that fall by so much a step."""


def subspaces(M: np.ndarray, start: np.ndarray, loss: np.ndarray, features: int) -> np.ndarray:
    """Orthonormal columns (n, r) for step matrices M (K, n, n) and what is between them: on them the first two excesses
    are exact."""
    s, n = 1 + features, M.shape[-1]
    columns = [start[s:], loss[s:]]
    for one in M:
        for shift in SHIFTS:
            mean = np.linalg.solve((1 + shift) * np.eye(s) - one[:s, :s], start[:s])
            full = (1 + shift) * np.eye(n - s) - one[s:, s:]
            columns += [*_solved(full, np.stack((start[s:] + one[s:, :s] @ mean, loss[s:]), axis=-1)).T]
    X = np.stack(columns, axis=-1)
    X /= np.maximum(np.linalg.norm(X, axis=0), 1e-300)
    basis = np.zeros((n, s + X.shape[-1]))
    basis[:s, :s] = np.eye(s)
    basis[s:, s:] = np.linalg.qr(X)[0]
    return basis


def _solved(K: np.ndarray, b: np.ndarray) -> np.ndarray:
    """K^-1 b of a symmetric K, which is positive definite where rates are stable."""
    from scipy.linalg import cho_factor, cho_solve

    try:
        return cho_solve(cho_factor(K, check_finite=False), b, check_finite=False)
    except np.linalg.LinAlgError:
        return np.linalg.solve(K, b)
