"""Definitions 1 and 2: weights, sufficient cluster and sufficient variance.

All reduce over the last axis (the peers k) and, `sigma2` being positive, work on NumPy arrays; the
weights of Definition 1 work on torch tensors too, so that simulation and theory share them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .criteria import TOLERANCE, Binary, Criterion
from .heterogeneity import Heterogeneity


def combined_variance(*, values: Any, sigma2: Any) -> Any:
    """sigma_f^2 = 1 / sum_k f_k / sigma_k^2 for values f_k = f(r_k) (Definition 1)."""
    return 1 / (values / sigma2).sum(-1)


def collaboration_weights(criterion: Criterion, *, similarity: Any, sigma2: Any) -> Any:
    """alpha_k = phi(r_k) / sigma_k^2 / sum_l psi(r_l) / sigma_l^2 (Definition 1); then sum_k alpha_k r_k = 1."""
    phi = criterion.phi(similarity)
    return phi / sigma2 * combined_variance(values=phi * similarity, sigma2=sigma2)[..., None]


def sufficient_variance(criterion: Criterion, *, similarity: Any, sigma2: Any) -> Any:
    """1 / sum_k psi(rho_k) / sigma_k^2 (Definition 2, with similarities bounded below by rho)."""
    return combined_variance(values=criterion.psi(similarity), sigma2=sigma2)


def tight_variance(criterion: Criterion, *, similarity: Any, sigma2: Any) -> Any:
    """The largest V = sum_k alpha_k^2 sigma_k^2 over all similarities r >= rho, if peers can have any mass.

    Never above Definition 2's value.

    Binary weights give V = S / P^2 with S = sum a_k and P = sum a_k r_k over the members.
    V falls when a member's r_k rises, so members sit at rho_k; a peer of mass x that joins at r = lambda
    turns it into (S + x) / (P + lambda x)^2, which is largest at x = 0 if P <= 2 lambda S and otherwise at
    lambda x = P - 2 lambda S with value 1 / (4 lambda (P - lambda S)). Other criteria keep Definition 2.
    """
    if not isinstance(criterion, Binary):
        return sufficient_variance(criterion, similarity=similarity, sigma2=sigma2)
    threshold = criterion.threshold
    member = similarity >= threshold * (1 - TOLERANCE)
    S = (member / sigma2).sum(-1)
    P = (member * similarity / sigma2).sum(-1)
    with np.errstate(all="ignore"):
        joined = 1 / (4 * threshold * (P - threshold * S))
    return np.where(2 * threshold * S >= P, S / P**2, joined)[()]


def best_threshold(*, similarity: Any, sigma2: Any) -> Any:
    """The binary threshold of least sufficient variance.

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
    """Members k with psi(rho_k) > 0 (Definition 2), a boolean array."""
    return criterion.psi(similarity) > 0


def entry_precisions(heterogeneity: Heterogeneity, *, mu: Any, threshold: float) -> np.ndarray:
    """The precision (N, N) from which on peer k is in client i's sufficient cluster: rho_ik >= threshold.

    The level of the squared gradient that PL guarantees at precision eps is 2 mu eps. 0: at every
    precision; inf: never. For a criterion that is positive on (0, 1] take threshold = 0 (then the
    cluster is open: k enters just above).
    """
    return heterogeneity.entry_level(threshold) / (2 * np.asarray(mu, dtype=float)[:, None])
