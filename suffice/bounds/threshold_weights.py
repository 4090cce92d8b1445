"""Fixed collaboration weights lambda_ij: thresholds, connected components, weights for a precision.

Rows are the agents i, the last axis the agents j; axes in front are a batch. b holds dissimilarities >= 0 with
b_ii = 0, or inf where none is known. W = Lambda Lambda^T for a row-stochastic Lambda.
"""

from __future__ import annotations

import numpy as np

from suffice.support.errors import InputError


def threshold_weights(*, b, threshold):
    """Equal weights on the agents with b_ij <= threshold."""
    inside = np.asarray(b) <= np.asarray(threshold)[..., None]
    return inside / inside.sum(-1, keepdims=True)


def components(linked):
    """Labels (..., N) of the connected components of a graph (..., N, N): the smallest index in each."""
    linked = np.asarray(linked, dtype=bool)
    reached = linked | linked.swapaxes(-1, -2) | np.eye(linked.shape[-1], dtype=bool)
    while True:  # paths of up to 2, 4, 8, ... edges
        paths = reached.astype(np.float32)
        longer = paths @ paths > 0
        if (longer == reached).all():
            return reached.argmax(-1)
        reached = longer


def component_weights(*, b, threshold):
    """Equal weights inside each connected component of {b_ij <= threshold}: Lambda = W, a projection.

    Within a component b_ij may exceed the threshold: compute the bias of these weights, do not assume it.
    """
    labels = components(np.asarray(b) <= np.asarray(threshold)[..., None, None])
    same = labels[..., :, None] == labels[..., None, :]
    return same / same.sum(-1, keepdims=True)


def precision_weights(*, b, mu, eps, sigma2=1.0):
    """lambda_ij proportional to (c - b_ij)_+/sigma_j^2, c = sqrt(2 mu eps): All-for-one reaches eps in fewest rounds.

    The noise rounds 4 sum_j lambda_ij^2 sigma_j^2/(c - B)^2 of `sample-optimal/theorem-2-mixture-rounds` are then
    4/sum_j (c - b_ij)_+^2/sigma_j^2, and no weights have fewer.
    """
    level = np.sqrt(2 * np.asarray(mu, dtype=float) * eps)[..., None]
    closeness = np.maximum(level - np.asarray(b, dtype=float), 0) / sigma2
    total = closeness.sum(-1, keepdims=True)
    if (total == 0).any():
        at = np.argwhere(total[..., 0] == 0)[0]
        least = np.broadcast_to(np.min(b, -1, keepdims=True), total.shape)[*at, 0]
        limit = np.broadcast_to(level, total.shape)[*at, 0]
        raise InputError("eps", eps, f"no b_ij < sqrt(2 mu eps): the least is {least:.6g}, the right side {limit:.6g}")
    return closeness / total
