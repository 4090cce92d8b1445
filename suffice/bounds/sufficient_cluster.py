"""Definition 2: who is in a client's sufficient cluster, at which threshold, from which precision on.

All reduce over the last axis (the peers k). Exact plans choose their peers in `suffice.planning.exact`; a plan's own
cluster is that of `suffice.planning.client_plan`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .collaboration_criteria import Criterion
from .gradient_dissimilarity import Heterogeneity


def best_threshold(*, similarity, sigma2):
    """Find the binary threshold of least sufficient variance.

    lambda sum_{rho_k >= lambda} a_k rho_k grows linearly between consecutive similarities, so its maximiser is
    one of them: the j-th largest, j maximising rho_(j) sum_{l <= j} a_(l) rho_(l). Ties take the larger one.
    """
    similarity = np.asarray(similarity, dtype=float)
    order = np.argsort(-similarity, axis=-1, kind="stable")
    ranked = np.take_along_axis(similarity, order, -1)
    mass = np.take_along_axis(np.broadcast_to(1 / sigma2, similarity.shape), order, -1)
    best = np.argmax(ranked * np.cumsum(mass * ranked, axis=-1), axis=-1)
    return np.take_along_axis(ranked, best[..., None], -1)[..., 0][()]


def sufficient_cluster(criterion: Criterion, *, similarity: Any) -> Any:
    """Members k have psi(rho_k) > 0 (Definition 2); a boolean array says which these are."""
    return criterion.psi(similarity) > 0


def entry_precisions(heterogeneity: Heterogeneity, *, mu: Any, threshold: float) -> np.ndarray:
    """The precision (N, N) from which on peer k is in client i's sufficient cluster: rho_ik >= threshold.

    The level of the squared gradient that PL guarantees at precision eps is 2 mu eps. 0: at every
    precision; inf: never. For a criterion that is positive on (0, 1] take threshold = 0 (then the
    cluster is open: k enters just above).
    """
    return heterogeneity.entry_level(threshold) / (2 * np.asarray(mu, dtype=float)[:, None])
