"""Even, Massoulie, Scaman (2022): sample optimality of All-for-one and All-for-all.

Notation: N agents, f_i mu-strongly convex and L-smooth (L is `beta`), kappa = L/mu, x_i* the minimiser of f_i,
sigma^2 the total variance of one stochastic gradient. One round (T of them, K in print) draws one sample at every
agent. Dissimilarity is strong if |grad f_i(x) - grad f_j(x)| <= b_ij for all x, weak if |grad f_j(x_i*)| <= b_ij for
all i and j; either way f_i(x_j*) - f_i* <= b_ij^2/(2 mu). b_ij^2/mu is a loss: thresholds read b_ij^2 <= mu eps.
"""

from __future__ import annotations

from . import (
    averaged_iterate,
    best_weights,
    definitions,
    estimated_clusters,
    estimated_rows,
    growing_noise,
    last_iterate,
    loss_contraction,
    lower_bound,
    peer_excess,
    theorem_2,
    theorem_3,
    two_stages,
)
from .statements import STATEMENTS as STATEMENTS

THEOREMS = (
    *peer_excess.THEOREMS,
    *lower_bound.THEOREMS,
    *theorem_2.THEOREMS,
    *best_weights.THEOREMS,
    *last_iterate.THEOREMS,
    *theorem_3.THEOREMS,
    *averaged_iterate.THEOREMS,
    *estimated_clusters.THEOREMS,
    *loss_contraction.THEOREMS,
    *two_stages.THEOREMS,
    *growing_noise.THEOREMS,
    *estimated_rows.THEOREMS,
)
DEFINITIONS = (*peer_excess.DEFINITIONS, *lower_bound.DEFINITIONS, *definitions.DEFINITIONS)
