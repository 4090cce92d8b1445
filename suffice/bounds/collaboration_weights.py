"""Definition 1: the weights with which a client averages its peers' gradients.

They reduce over the last axis (the peers k) and, `sigma2` being positive, work on NumPy arrays and torch tensors, so
that simulation and theory share them.
"""

from __future__ import annotations

from typing import Any

from .collaboration_criteria import Criterion
from .sufficient_variance import combined_variance


def collaboration_weights(criterion: Criterion, *, similarity: Any, sigma2: Any) -> Any:
    """alpha_k = phi(r_k) / sigma_k^2 / sum_l psi(r_l) / sigma_l^2 (Definition 1); then sum_k alpha_k r_k = 1."""
    phi = criterion.phi(similarity)
    return phi / sigma2 * combined_variance(values=phi * similarity, sigma2=sigma2)[..., None]
