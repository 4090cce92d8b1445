"""Sites in a few groups, each with one model: soft assignments by annealing.

Site k is in group g with weight r_kg, proportional to pi_g exp(-E rss_k(m_g) / (2 s t)); m_g is least squares over the
rows of the group, drawn to the pooled model as if by `PULL` d rows. The temperature t falls from 4 to 1, so that a
poor start matters less; the start takes sites far apart, the next always the one with most rows times squared distance
from all before. Groups that are not needed share their sites, so the number given is one at most.
"""

from __future__ import annotations

import numpy as np

from suffice.simulate.data.folds import Messages

STEPS = 20
PULL = 0.1


def _start(fits: Messages, models: np.ndarray, metric: np.ndarray, groups: int) -> np.ndarray:
    """Models (B, G, d) of sites far apart."""
    count = np.arange(len(models))
    placed = models @ np.linalg.cholesky(metric)
    distance = ((placed - placed.mean(1, keepdims=True)) ** 2).sum(-1)
    chosen: list[np.ndarray] = []
    for group in range(groups):
        chosen.append(models[count, site := np.argmax(fits.rows * distance, axis=1)])
        seen = ((placed - placed[count, site][:, None]) ** 2).sum(-1)
        distance = seen if group == 0 else np.minimum(distance, seen)
    return np.stack(chosen, axis=1)


def clusters(
    fits: Messages,
    models: np.ndarray,
    metric: np.ndarray,
    precision: np.ndarray,
    groups: int,
    *,
    least: float,
    dispersion: float | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Models (B, N, d) and shares (N, N) of the first fit.

    `models` (B, N, d) say where to start, `metric` is A (d, d),
    `precision` (B, d, d) the ridge of the pooled model, `least` the smallest noise variance,
    `dispersion` the noise variance where it is known.
    """
    size = models.shape[-1]
    total = np.maximum(fits.rows.sum(1), 1e-300)
    everything = fits.second.sum(1) + precision
    pooled = np.linalg.solve(everything, fits.cross.sum(1)[..., None])[..., 0][:, None]
    pull = PULL * size * metric
    flat = fits.second.reshape(*fits.rows.shape, -1)
    centre, penalty, prior = _start(fits, models, metric, groups), 0.0, 0.0
    member = spread = noise = np.zeros(0)
    for step in range(STEPS):
        # rss_k(m_g) for all pairs by one product of (N, d^2) and (G, d^2)
        outer = (centre[..., None] * centre[..., None, :]).reshape(*centre.shape[:2], -1)
        rss = fits.square[:, None] - 2 * centre @ fits.cross.swapaxes(1, 2) + outer @ flat.swapaxes(1, 2)
        expected = np.maximum(rss, 0.0) + penalty
        if dispersion is not None:
            noise = np.full(len(total), dispersion)
        elif step == 0:
            noise = np.maximum(1.5 * expected.min(1).sum(1) / total, least)
        else:
            noise = np.maximum((member * expected).sum((1, 2)) / total, least)
        temperature = max(1.0, 4 * (1 - step / (STEPS / 2)))
        log = (prior - expected / (2 * noise[:, None, None])) / temperature
        member = np.exp(log - log.max(1, keepdims=True))
        member /= member.sum(1, keepdims=True)
        prior = np.log(member.sum(2, keepdims=True) + 1)
        own = (member @ flat).reshape(*centre.shape, size)
        spread = np.linalg.inv(own + pull)
        off = member @ fits.cross - (own @ pooled[..., None])[..., 0]
        centre = pooled + (spread @ off[..., None])[..., 0]
        penalty = noise[:, None, None] * (spread.reshape(*centre.shape[:2], -1) @ flat.swapaxes(1, 2))
    # shares: m_g = spread_g (sum_k r_kg c_k + pull pooled), pooled = everything^-1 sum_k c_k
    weight = member[0]  # (G, N)
    by_pooled = spread[0] @ pull @ np.linalg.inv(everything[0])
    by_group = weight * (spread[0].reshape(groups, -1) @ flat[0].T) + by_pooled.reshape(groups, -1) @ flat[0].T
    return member.swapaxes(1, 2) @ centre, weight.T @ by_group / size
