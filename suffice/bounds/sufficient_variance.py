"""Definition 2: the sufficient variance of a client, and what it is at most.

All reduce over the last axis (the peers k).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .collaboration_criteria import TOLERANCE, Binary, Criterion


def combined_variance(*, values, sigma2):
    """sigma_f^2 = 1 / sum_k f_k / sigma_k^2 for values f_k = f(r_k) (Definition 1)."""
    return 1 / (values / sigma2).sum(-1)


def sufficient_variance(criterion: Criterion, *, similarity: Any, sigma2: Any) -> Any:
    """sigma_suf^2 = 1 / sum_k psi(rho_k) / sigma_k^2 (Definition 2, with similarities bounded below by rho)."""
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
