"""Logistic losses as quadratic functions about each site's present model, so that the rule for least squares applies.

With p the probabilities at theta_0, the negative log-likelihood of a class is taken for
    l(theta) ~ l(theta_0) - g'(theta - theta_0) + (theta - theta_0)'H(theta - theta_0)/2,   g = X'(y - p),   H =
    X'diag(h)X,
so that 2 l = q - 2 c'theta + theta'S theta with S = H, c = g + H theta_0 and q = 2 l(theta_0) + 2 g'theta_0 + theta_0'H
theta_0: the residual sum of squares of a message, with noise of variance 1.

h = (p - 1/2) / log(p / (1 - p)) is the curvature of Jaakkola and Jordan's bound (Statistics and Computing 10, 2000),
not p (1 - p): for two classes the quadratic function is then above the loss everywhere, so that a fold's models, one
step away from those of all rows, cannot overshoot where classes are nearly separated. Both are 1/4 at p = 1/2. Each of
several classes has its own block, the couplings between classes being left out of H; g is exact, so that repeated
rounds end where the true gradient says.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .messages import FOLDS, Messages


def curvature(p: np.ndarray) -> np.ndarray:
    """h of probabilities."""
    logit = np.log(np.maximum(p, 1e-12)) - np.log(np.maximum(1 - p, 1e-12))
    small = np.abs(logit) < 1e-3
    return np.where(small, 0.25, (p - 0.5) / np.where(small, 1.0, logit))


def probabilities(scores: np.ndarray) -> np.ndarray:
    """Of linear predictors (n, 1), of the second class, or (n, K), of each: (n, 1) or (n, K)."""
    if scores.shape[1] == 1:
        return 1 / (1 + np.exp(-np.clip(scores, -500, 500)))
    shifted = np.exp(scores - scores.max(1, keepdims=True))
    return shifted / shifted.sum(1, keepdims=True)


def log_losses(scores: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """-log of the probability of the class that a row has, (n,); `Y` (n, K) ones and zeros."""
    if scores.shape[1] == 1:
        return np.logaddexp(0.0, np.where(Y[:, 0] > 0, -scores[:, 0], scores[:, 0]))
    top = scores.max(1)
    return top + np.log(np.exp(scores - top[:, None]).sum(1)) - (scores * Y).sum(1)


def local_quadratics(
    rows: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]], models: np.ndarray
) -> list[Messages]:
    """Messages of each class, from each site's X (n, d) with a column of ones, Y (n, K), weights (n,) and folds (n,),
    at the sites' models (K, N, d)."""
    outputs, sites, size = models.shape
    second = np.zeros((outputs, FOLDS + 1, sites, size, size))
    cross, square = np.zeros((outputs, FOLDS + 1, sites, size)), np.zeros((outputs, FOLDS + 1, sites))
    count = np.zeros((FOLDS + 1, sites))
    for k, (X, Y, weights, folds) in enumerate(rows):
        theta = models[:, k]
        scores = X @ theta.T
        p = probabilities(scores)
        curved = weights[:, None] * curvature(p)
        losses = weights * log_losses(scores, Y) / outputs
        for f in range(FOLDS):
            mine = folds == f
            if not mine.any():
                continue
            x, w = X[mine], weights[mine]
            count[f, k] = w.sum()
            for j in range(outputs):
                H = (x * curved[mine, j, None]).T @ x
                g = x.T @ (w * (Y[mine, j] - p[mine, j]))
                second[j, f, k], cross[j, f, k] = H, g + H @ theta[j]
                square[j, f, k] = 2 * losses[mine].sum() + 2 * g @ theta[j] + theta[j] @ H @ theta[j]
    return [Messages(second=second[j], cross=cross[j], square=square[j], rows=count) for j in range(outputs)]
