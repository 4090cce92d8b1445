"""Ridge of every site for itself, and of all with the same slopes, with the penalty that is best for the network."""

from __future__ import annotations

import numpy as np

from suffice.simulate.data.folds import Messages

PENALTIES = np.geomspace(1e-3, 1e4, 15)


def alone_models(fits: Messages, penalty: float) -> np.ndarray:
    """Ridge of every site for itself, (B, N, d)."""
    pull = np.diag(np.concatenate(([1e-6], np.full(fits.size - 1, penalty))))
    return np.linalg.solve(fits.second + pull, fits.cross[..., None])[..., 0]


def best_penalty(fits: Messages, held_out: Messages) -> float:
    """Of `alone_models`, that of the least held-out loss of all sites together."""
    return float(min(PENALTIES, key=lambda penalty: held_out.loss(alone_models(fits, penalty)[1:]).sum()))


def shared_models(fits: Messages, penalty: float, scatter: float) -> np.ndarray:
    """Ridge of the rows of all sites with the same slopes, (B, N, d): the least of
        sum_k |y_k - X_k (m + delta_k e)|^2 + penalty |slopes of m|^2 + sum_k delta_k^2/scatter,
    e the intercept, `scatter` that of the sites' levels, 0 for a common one. It is the `posterior` for a covariance of
    rank one, without an inverse for each site."""
    S, c = fits.second, fits.cross
    kept = scatter / (1 + scatter * S[..., 0, 0])
    first = S[..., 0]
    information = S.sum(1) - (kept[..., None, None] * first[..., None] * first[..., None, :]).sum(1)
    pull = np.diag(np.concatenate(([1e-6], np.full(fits.size - 1, penalty))))
    scores = (c - (kept * c[..., 0])[..., None] * first).sum(1)
    centre = np.linalg.solve(information + pull, scores[..., None])[..., 0]
    models = np.repeat(centre[:, None], fits.sites, axis=1)
    models[..., 0] += kept * (c[..., 0] - (first @ centre[..., None])[..., 0])
    return models


def best_shared(fits: Messages, held_out: Messages, levels: bool) -> float:
    """Of `shared_models` the penalty of the least held-out loss, `levels` drawn to a common one by the same penalty."""
    return float(min(PENALTIES, key=lambda one: held_out.loss(shared_models(fits, one, levels / one)[1:]).sum()))
