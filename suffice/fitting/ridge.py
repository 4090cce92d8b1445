"""Ridge of every site for itself, and of all with the same slopes, with the penalty that is best for the network."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from suffice.simulate.data.folds import Messages

PENALTIES = np.geomspace(1e-3, 1e4, 15)


def ridge_of(size: int, penalty: float) -> np.ndarray:
    """(d, d): slopes have the penalty, the intercept is nearly free."""
    return np.diag(np.concatenate(([1e-6], np.full(size - 1, penalty))))


def alone_models(fits: Messages, penalty: float) -> np.ndarray:
    """Ridge of every site for itself, (B, N, d)."""
    return np.linalg.solve(fits.second + ridge_of(fits.size, penalty), fits.cross[..., None])[..., 0]


def best_penalty(
    fits: Messages, held_out: Messages, made: Callable[[Messages, float], np.ndarray] = alone_models
) -> float:
    """The penalty whose models, as `made` builds them, have the least held-out loss of all sites together."""
    return float(min(PENALTIES, key=lambda penalty: held_out.loss(made(fits, penalty)[1:]).sum()))


def shared_models(second: np.ndarray, cross: np.ndarray, precision: np.ndarray, scatter: float) -> np.ndarray:
    """Ridge of the rows of all sites with the same slopes, (B, N, d): the least of
        sum_k |y_k - X_k (m + delta_k e)|^2 + m'`precision` m + sum_k delta_k^2/scatter,
    e the intercept, `scatter` that of the sites' levels, 0 for a common one, `precision` (d, d) or (B, d, d). It is the
    `posterior` for a covariance of rank one, without an inverse for each site."""
    first = second[..., 0]
    kept = scatter / (1 + scatter * first[..., 0])
    information = second.sum(1) - (kept[..., None] * first).swapaxes(-1, -2) @ first
    scores = (cross - (kept * cross[..., 0])[..., None] * first).sum(1)
    centre = np.linalg.solve(information + precision, scores[..., None])[..., 0]
    models = np.repeat(centre[:, None], cross.shape[1], axis=1)
    models[..., 0] += kept * (cross[..., 0] - (first @ centre[..., None])[..., 0])
    return models
