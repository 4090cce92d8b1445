"""Logistic losses as quadratic functions about each site's present model, so that the rule for least squares applies.

With p the probabilities at theta_0, the negative log-likelihood of a class is taken for
    l(theta) ~ l(theta_0) - g'(theta - theta_0) + (theta - theta_0)'H(theta - theta_0)/2,   g = X'(y - p),   H =
    X'diag(h)X,
so that 2 l = q - 2 c'theta + theta'S theta with S = H, c = g + H theta_0 and q = 2 l(theta_0) + 2 g'theta_0 + theta_0'H
theta_0: the residual sum of squares of a message, with noise of variance 1.

h is p (1 - p), or half the curvature b = (p - 1/2) / log(p / (1 - p)) of Jaakkola and Jordan's bound (Statistics and
Computing 10, 2000) where that is more. For two classes the quadratic function with b is above the loss everywhere, so
that with h >= b/2 the minimiser of the quadratic function and a quadratic prior of precision P loses less than theta_0:
for its step v, g'v = v'(H + P)v in gradients of the penalised loss, which falls by at least v'(H + P/2 - X'diag(b/2)X)v
>= 0. Newton's own p (1 - p) overshoots where classes are nearly separated; b alone takes many rounds there. Each of
several classes has its own block, the couplings between classes being left out of H; g is exact, so that repeated
rounds end where the true gradient says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from suffice.simulate.data.folds import Messages


def bound_curvature(p: np.ndarray) -> np.ndarray:
    """b of probabilities."""
    logit = np.log(np.maximum(p, 1e-12)) - np.log(np.maximum(1 - p, 1e-12))
    small = np.abs(logit) < 1e-3
    return np.where(small, 0.25, (p - 0.5) / np.where(small, 1.0, logit))


def probabilities(scores: np.ndarray) -> np.ndarray:
    """Probabilities of linear predictors (n, 1), of the second class, or (n, K), of each: (n, 1) or (n, K)."""
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


@dataclass(frozen=True, kw_only=True)
class LocalQuadratics:
    """The quadratic functions of one class: `fits` as in `Messages.fits`, of all rows and without each fold, and the
    folds `held_out`, each about the models that were fitted without it; `metric` (d, d) that of a row where classes are
    equally probable, so that priors do not widen as models grow sure."""

    fits: Messages
    held_out: Messages
    metric: np.ndarray


def local_quadratics(
    rows: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]], models: np.ndarray
) -> list[LocalQuadratics]:
    """The quadratic functions of each class, from each site's X (n, d) with a column of ones, Y (n, K) and folds (n,),
    about `models` (K, 1 + folds, N, d), of all rows and without each fold.

    What is fitted without a fold expands about models that never saw it: about those of all rows, which did, held-out
    losses would praise whatever candidate stays close to them.
    """
    outputs, fits, sites, size = models.shape
    second, cross = np.zeros((2, outputs, fits, sites, size, size)), np.zeros((2, outputs, fits, sites, size))
    square, count = np.zeros((2, outputs, fits, sites)), np.zeros((2, fits, sites))
    for k, (X, Y, folds) in enumerate(rows):
        for b in range(fits):
            theta = models[:, b, k]
            scores = X @ theta.T
            p = probabilities(scores)
            curved = np.maximum(p * (1 - p), bound_curvature(p) / 2)
            residual = Y - p
            losses = log_losses(scores, Y) / outputs
            for part, mine in enumerate((folds != b - 1, folds == b - 1)):
                x = X[mine]
                count[part, b, k] = mine.sum()
                for j in range(outputs):
                    H, g = (x * curved[mine, j, None]).T @ x, x.T @ residual[mine, j]
                    second[part, j, b, k], cross[part, j, b, k] = H, g + H @ theta[j]
                    square[part, j, b, k] = 2 * losses[mine].sum() + 2 * g @ theta[j] + theta[j] @ H @ theta[j]
    even = 1 / max(outputs, 2)
    metric = sum(X.T @ X for X, _, _ in rows) / count[0, 0].sum() * even * (1 - even)
    metric += 1e-6 * np.eye(size)

    def messages(part: int, j: int) -> Messages:
        sums = {"second": second[part, j], "cross": cross[part, j], "square": square[part, j], "rows": count[part]}
        return Messages(**{name: of[part:] for name, of in sums.items()})  # nothing is held out from the first fit

    return [LocalQuadratics(metric=metric, fits=messages(0, j), held_out=messages(1, j)) for j in range(outputs)]
