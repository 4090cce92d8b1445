"""All-for-one with its precision learnt from data: site i minimises sum_k w_ik R_k over its own and similar sites'
rows.

w_ik = (1 - gap_ik / eps)_+ with the debiased gap |th_i - th_k|_A^2 - V_i - V_k, V the variance of a site's estimate:
two sites of one population are V_i + V_k apart on average, not 0. Estimates are drawn to the pooled model as if by
half a row, which a site of any size can afford. The precision eps is a multiple of the mean squared distance; each
multiple is a candidate, and scores choose among them. The weighting is that of the papers' Definition 2 with gradients
at the other's model replaced by what is known of them, the distance.
"""

from __future__ import annotations

import numpy as np

from suffice.simulate.data.folds import Messages

PRECISIONS = (0.1, 0.3, 1.0)
HALF_A_ROW = 0.5


def all_for_one(
    fits: Messages, metric: np.ndarray, precision: np.ndarray, dispersion: float | None = None
) -> list[tuple[float, np.ndarray, np.ndarray]]:
    """For each multiple of the mean squared distance before debiasing: models (B, N, d) and shares (N, N)."""
    count, sites, size = fits.cross.shape
    everything = fits.second.sum(1) + precision
    pooled = np.linalg.solve(everything, fits.cross.sum(1)[..., None])[..., 0][:, None]
    spread = np.linalg.inv(fits.second + HALF_A_ROW * metric)
    off = fits.cross - (fits.second @ pooled[..., None])[..., 0]
    models = pooled + (spread @ off[..., None])[..., 0]
    hat = spread @ fits.second
    free = fits.rows.sum(1) - np.trace(hat, axis1=-2, axis2=-1).sum(1)
    noise = np.maximum(fits.loss(models).sum(1), 0.0) / np.maximum(free, 0.2 * fits.rows.sum(1) + 1e-300)
    noise = noise if dispersion is None else np.full_like(noise, dispersion)
    variance = noise[:, None] * (metric * (hat @ spread)).sum((-2, -1))
    placed = models @ np.linalg.cholesky(metric)
    square = (placed**2).sum(-1)
    raw = np.maximum(square[:, :, None] + square[:, None] - 2 * placed @ placed.swapaxes(1, 2), 0.0)
    typical = raw.sum((1, 2)) / max(sites * (sites - 1), 1)
    gap = np.maximum(raw - variance[:, :, None] - variance[:, None], 0.0)
    gap[:, np.arange(sites), np.arange(sites)] = 0.0
    flat = fits.second.reshape(count, sites, -1)
    answer = []
    for multiple in PRECISIONS:
        weights = np.maximum(1 - gap / np.maximum(multiple * typical, 1e-300)[:, None, None], 0.0)
        second = (weights @ flat).reshape(count, sites, size, size)
        inverse = np.linalg.inv(second + precision[:, None])
        models = (inverse @ (weights @ fits.cross)[..., None])[..., 0]
        shares = (inverse[0].reshape(sites, -1) @ flat[0].T) / size
        answer.append((multiple, models, shares * weights[0]))
    return answer
