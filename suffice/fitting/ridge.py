"""Ridge of every site for itself, with the penalty that is best for the whole network."""

from __future__ import annotations

import numpy as np

from suffice.simulate.data.folds import Messages

PENALTIES = np.geomspace(1e-3, 1e4, 15)


def alone_models(fits: Messages, penalty: float) -> np.ndarray:
    """Ridge of every site for itself, (B, N, d)."""
    pull = np.diag(np.concatenate(([1e-6], np.full(fits.size - 1, penalty))))
    return (np.linalg.inv(fits.second + pull) @ fits.cross[..., None])[..., 0]


def best_penalty(fits: Messages, held_out: Messages) -> float:
    """Of `alone_models`, that of the least held-out loss of all sites together."""
    return float(min(PENALTIES, key=lambda penalty: held_out.loss(alone_models(fits, penalty)[1:]).sum()))
