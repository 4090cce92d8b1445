"""Smoothness and strong convexity: of quadratics both, of least squares and logistic losses beta from features alone.

mu I <= Hessian <= beta I everywhere: a loss is mu-strongly convex and beta-smooth, in [loss / theta^2], and then PL(mu)
as well, |grad R|^2 >= 2 mu (R - min R). Of a logistic loss mu is r; `simulate.problems.nonconvex` has losses with PL
alone.

Least squares: f(x) = (1/(2 n)) |A x - y|^2 + (r/2) |x|^2. Logistic: f(x) = (1/n) sum_j log(1 + exp(-y_j a_j^T x))
+ (r/2) |x|^2, a pure number. Features are (..., n, d), the regularisation r is (...).
"""

from __future__ import annotations

import numpy as np


def quadratic_constants(A) -> tuple[np.ndarray, np.ndarray]:
    """mu and beta (...,) of (theta + xi)^T A (theta + xi), A (..., d, d) symmetric: the Hessian is 2 A."""
    eigenvalues = 2 * np.linalg.eigvalsh(np.asarray(A, dtype=float))
    return eigenvalues[..., 0], eigenvalues[..., -1]


def _second_moment(features) -> np.ndarray:
    """Largest eigenvalue of A^T A / n, from the smaller of the two Gram matrices."""
    A = np.asarray(features, dtype=float)
    n, d = A.shape[-2:]
    gram = A.swapaxes(-1, -2) @ A if d <= n else A @ A.swapaxes(-1, -2)
    return np.linalg.eigvalsh(gram)[..., -1] / n


def _squared_rows(features) -> np.ndarray:
    """|a_j|^2, one per sample."""
    return (np.asarray(features, dtype=float) ** 2).sum(-1)


# The Hessian of least squares is A^T A / n + r I. That of the logistic loss is A^T S A / n + r I with S diagonal,
# 0 < s_j <= 1/4, and s_j = 1/4 at x = 0: the constants below are attained. One sample has A = a_j^T.


def least_squares_smoothness(*, features, regularisation):
    """lambda_max(A^T A) / n + r."""
    return _second_moment(features) + regularisation


def logistic_smoothness(*, features, regularisation):
    """lambda_max(A^T A) / (4 n) + r."""
    return _second_moment(features) / 4 + regularisation


def least_squares_sample_smoothness(*, features, regularisation):
    """max_j |a_j|^2 + r: every sample's loss is smooth with this constant."""
    return _squared_rows(features).max(-1) + regularisation


def logistic_sample_smoothness(*, features, regularisation):
    """max_j |a_j|^2 / 4 + r: every sample's loss is smooth with this constant."""
    return _squared_rows(features).max(-1) / 4 + regularisation


def logistic_smoothness_by_trace(*, features, regularisation):
    """(1/(4 n)) sum_j |a_j|^2 + r: the trace in place of the largest eigenvalue."""
    return _squared_rows(features).mean(-1) / 4 + regularisation


# The released code adds r I to A^T A before it divides by n (by 4 n): the regulariser shrinks with the sample size,
# and the step 1/L may exceed twice the stable one.


def least_squares_smoothness_released(*, features, regularisation):
    """lambda_max(A^T A + r I) / n."""
    return _second_moment(features) + regularisation / np.shape(features)[-2]


def logistic_smoothness_released(*, features, regularisation):
    """lambda_max(A^T A + r I) / (4 n)."""
    return _second_moment(features) / 4 + regularisation / (4 * np.shape(features)[-2])
