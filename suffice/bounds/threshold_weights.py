"""Fixed collaboration weights lambda_ij: thresholds, connected components, weights for a precision; the spectrum of W.

Rows are the agents i, the last axis the agents j; axes in front are a batch. b holds dissimilarities >= 0 with
b_ii = 0, or inf where none is known. W = Lambda Lambda^T for a row-stochastic Lambda.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from suffice.support.errors import InputError

RANK_TOLERANCE = 2.0**-44
"""Singular values of Lambda below this times N times the largest count as zero (a float SVD errs by N 2^-52)."""


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


class Spectrum(NamedTuple):
    """Largest and smallest non-zero eigenvalue of W, and the number of non-zero ones."""

    smax: np.ndarray
    smin: np.ndarray
    rank: np.ndarray


def spectrum(weights) -> Spectrum:
    """The spectrum of W = Lambda Lambda^T from the singular values of Lambda.

    What is non-zero is a numerical decision (RANK_TOLERANCE). Where an eigenvalue is near it, smin is not to be
    trusted: use the averaged iterate, whose bound needs smax alone.
    """
    singular = np.linalg.svd(np.asarray(weights, dtype=float), compute_uv=False)
    rank = (singular > RANK_TOLERANCE * singular.shape[-1] * singular[..., :1]).sum(-1)
    smallest = np.take_along_axis(singular, rank[..., None] - 1, -1)[..., 0]
    return Spectrum(smax=singular[..., 0] ** 2, smin=smallest**2, rank=rank)
