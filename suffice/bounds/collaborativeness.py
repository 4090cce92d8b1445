"""Collaborativeness: M and zeta of CoBo's assumption (A4) for quadratics, and the consensus distance.

f_i(x) = (x - m_i)^T H_i (x - m_i) / 2 with symmetric positive definite H_i. Further axes in front are a batch.
"""

from __future__ import annotations

import numpy as np

# --- a common minimiser: |grad f_i - grad f_j| <= M |grad f_i + grad f_j| ------------------------------------------
#
# With y = (H_i + H_j)(x - m) the gradients' difference is (H_i - H_j)(H_i + H_j)^{-1} y and their sum y: the least M
# is a spectral norm, M^2 the largest generalised eigenvalue of ((H_i - H_j)^2, (H_i + H_j)^2).


def relative_heterogeneity(*, own, peer):
    """The least M of two quadratics (..., d, d) with a common minimiser; from 1 on they are not collaborative."""
    transposed = np.linalg.solve(np.asarray(own) + peer, np.asarray(own) - peer)
    return np.linalg.norm(transposed, 2, axis=(-2, -1))


def isotropic_heterogeneity(*, curvature):
    """max_ij |a_i - a_j| / (a_i + a_j) of Hessians a_i I: the extreme pair, since a pair's M grows with a_i / a_j."""
    curvature = np.asarray(curvature, dtype=float)
    low, high = curvature.min(-1), curvature.max(-1)
    return (high - low) / (high + low)


# --- different minimisers: |grad f_i|^2 + |grad f_j|^2 >= zeta^2 ---------------------------------------------------


def least_gradient_sum(*, own, peer, shift):
    """zeta^2 = min_x |H_i (x - shift)|^2 + |H_j x|^2, shift = m_i - m_j: the residual of a least-squares problem."""
    own, peer = np.broadcast_arrays(np.asarray(own, dtype=float), np.asarray(peer, dtype=float))
    basis = np.linalg.qr(np.concatenate([own, peer], axis=-2)).Q
    target = np.concatenate([own @ np.asarray(shift)[..., None], np.zeros((*own.shape[:-1], 1))], axis=-2)
    residual = target - basis @ (np.swapaxes(basis, -1, -2) @ target)
    return (residual**2).sum((-2, -1))


# --- models --------------------------------------------------------------------------------------------------------


def consensus_distance(*, models):
    """Xi = (1/N) sum_i |x_i - xbar|^2 of models (..., N, d); the mean over all pairs of |x_i - x_j|^2 is 2 Xi."""
    models = np.asarray(models, dtype=float)
    return ((models - models.mean(-2, keepdims=True)) ** 2).sum(-1).mean(-1)
