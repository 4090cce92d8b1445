"""Fixed collaboration weights lambda_ij: thresholds, connected components, weights for a precision.

Rows are the agents i, the last axis the agents j; axes in front are a batch. b holds dissimilarities >= 0 with
b_ii = 0, or inf where none is known. W = Lambda Lambda^T for a row-stochastic Lambda.
"""

from __future__ import annotations

import numpy as np


def threshold_weights(*, b, threshold):
    """Equal weights on the agents with b_ij <= threshold."""
    inside = np.asarray(b) <= np.asarray(threshold)[..., None]
    return inside / inside.sum(-1, keepdims=True)


def components(linked) -> np.ndarray:
    """Labels (..., N) of the connected components of graphs (..., N, N)."""
    from scipy.sparse.csgraph import connected_components

    linked = np.asarray(linked)
    graphs = linked.reshape(-1, *linked.shape[-2:])
    labels = [connected_components(graph, directed=False)[1] for graph in graphs]
    return np.reshape(labels, linked.shape[:-1])


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
    return closeness / closeness.sum(-1, keepdims=True)
