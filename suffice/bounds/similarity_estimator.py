"""Equation (1): similarity estimated from m stochastic gradients of two clients, as printed and debiased.

Gradients are arrays (..., m, d): m stochastic gradients of one client at the same model. The two clients' arrays
broadcast: own[..., None, :, :] with (..., N, m, d) compares one client with N. A peer whose mean
gradient equals the client's own has similarity 1, even at a stationary point.
"""

from __future__ import annotations

import numpy as np

from suffice.support.errors import InputError


def similarity_estimate(*, own, peer):
    """rhat = (1 - Z_ik / Z_i)_+ with Z_ik = |mean_j (g_i^j - g_k^j)|^2 and Z_i = |mean_j g_i^j|^2.

    Not unbiased: identical clients have E Z_ik > 0, and dissimilar ones are admitted by chance.
    """
    gap, norm = _square((own - peer).mean(-2)), _square(own.mean(-2))
    return _ratio(gap, gap, norm)


def debiased_estimate(*, own, peer):
    """clip(1 - D / G, 0, 1), D = Z_ik - v_ik / m and G = Z_i - v_i / m; 0 where G <= 0. Needs m >= 2.

    v_i is the sample variance of g_i^j over j, v_ik that of g_i^j - g_k^j: E D = |grad R_i - grad R_k|^2 and
    E G = |grad R_i|^2, correlated clients included.
    """
    if own.shape[-2] < 2:
        raise InputError("own", f"{own.shape[-2]} gradient", "give at least two gradients per client")
    difference = own - peer
    gap, norm = _square(difference.mean(-2)), _square(own.mean(-2))
    return _ratio(gap, gap - _mean_variance(difference), norm - _mean_variance(own))


def _square(x):
    return (x * x).sum(-1)


def _mean_variance(gradients):
    """The unbiased estimate of the variance of the mean of m gradients."""
    m = gradients.shape[-2]
    return _square(gradients - gradients.mean(-2)[..., None, :]).sum(-1) / (m * (m - 1))


def _ratio(gap, above, below):
    """clip(1 - above / below, 0, 1) where below > 0, else 0; 1 where the gap vanishes."""
    with np.errstate(all="ignore"):
        ratio = np.where(below > 0, np.clip(1 - above / below, 0, 1), 0.0)
    return np.where(gap == 0, 1.0, ratio)
