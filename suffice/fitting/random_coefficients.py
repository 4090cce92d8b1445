"""Random coefficients: theta_k ~ N(m, Omega) with Omega learnt, by expectation and maximisation from messages.

One step takes the posterior means and covariances of `posterior`, the second moment of the sites about their centre
    E = sum_k (theta_k - m)(theta_k - m)' + s (V_k + G_k C G_k'),   G_k = V_k S_k,
and sets Omega = (E + nu diag(E)/N) / (N + nu), nu = d + 1: the most likely covariance, drawn to its own diagonal with
the weight of nu sites. A site where column i or j never varies adds Omega_ij itself to E, the expected value of what it
says nothing about. Without it few sites feign correlations (Omega has d(d + 1)/2 numbers); the diagonal, unlike a
multiple of a fixed matrix, lets an intercept scatter that slopes do not share. Scaling a column scales the answer.

The noise is one variance for all sites, or one each, (E rss_k + h s)/(n_k + h) with s their harmonic mean and h = 10
rows: a site's own residuals, trusted once it has more than ten.
"""

from __future__ import annotations

import numpy as np

from suffice.simulate.data.folds import Messages

from .posterior import posterior, root_of

STEPS = 20
"""Steps from the start, a fixed number: they are part of the rule, and do not ask for convergence."""
OWN_NOISE = 10.0
"""A site's noise is estimated from its own rows and the common noise, which counts for so many rows."""


def random_coefficients(
    fits: Messages,
    scatter: np.ndarray,
    noise: float,
    precision: np.ndarray,
    *,
    least: float,
    own_noise: bool,
    known: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Models (B, N, d) and centres (B, 1, d) after `STEPS` steps from Omega = `scatter` (d, d) and variance `noise` in
    all B fits, and of the first fit Omega (d, d) and the variances (1, N). Variances are at least `least`; a `known`
    one stays as it is."""
    count, sites = fits.rows.shape
    size = scatter.shape[0]
    total = np.maximum(fits.rows.sum(1), 1e-300)
    variance = np.full((count, sites), noise)
    omega = np.tile(scatter, (count, 1, 1))
    shrink = size + 1
    varying = fits.varying.astype(float)
    unseen = sites - varying.swapaxes(1, 2) @ varying
    for step in range(STEPS + 1):
        found = posterior(fits, root_of(omega)[:, None], precision, variance)
        if step == STEPS:
            return found.models, found.centre, omega[0], variance[:1]
        apart = found.models - found.centre
        spread = found.within + found.gain @ found.spread @ found.gain.swapaxes(-1, -2)
        moment = (apart[..., None] * apart[..., None, :] + spread).sum(1) + unseen * omega
        own = np.diagonal(moment, axis1=1, axis2=2)[:, :, None] * np.eye(size) / sites
        omega = (moment + shrink * own) / (sites + shrink)
        if known:
            continue
        # tr S (V + F C F') = tr V S + tr W C F', as S F = W
        uncertain = ((found.information @ found.spread) * (np.eye(size) - found.gain)).sum((-2, -1))
        rss = fits.loss(found.models) + variance * (np.trace(found.gain, axis1=-2, axis2=-1) + uncertain)
        if own_noise:
            common = 1 / (1 / variance).mean(1, keepdims=True)
            variance = np.maximum((rss + OWN_NOISE * common) / (fits.rows + OWN_NOISE), least)
        else:
            variance = np.repeat(np.maximum(rss.sum(1) / total, least)[:, None], sites, axis=1)
    raise AssertionError
