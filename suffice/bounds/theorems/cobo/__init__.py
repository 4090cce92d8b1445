"""Hashemi, He, Jaggi (2024): CoBo, collaborative learning by bilevel optimisation.

    w_ij+ = clip_[0,1](w_ij + gamma <g_i(z_ij), g_j(z_ij)>),  z_ij = (x_i + x_j)/2,
    x_i+  = x_i - eta (g_i(x_i) + rho sum_k w_ik+ (x_i - x_k)).

Notation: f_ij = (f_i + f_j)/2; a cluster has c clients, mean loss fbar and mean model xbar; w* is 1 inside the
clusters and 0 between them. L is printed for the smoothness constant, here `beta`; Delta for the excess of the
cluster's mean loss at the start, here `e0`.
"""

from __future__ import annotations

from . import assumption_4, descent, random_iterate, selection, theorem_1, theorem_1_printed, theorem_1_star
from .best_tilt import best_tilt as best_tilt
from .best_tilt import largest_share_kept as largest_share_kept
from .statements import STATEMENTS as STATEMENTS
from .theorem_1 import tuned_step as tuned_step
from .theorem_1_star import star_step as star_step

THEOREMS = (
    *assumption_4.THEOREMS,
    *descent.THEOREMS,
    *theorem_1_printed.THEOREMS,
    *theorem_1.THEOREMS,
    *selection.THEOREMS,
    *theorem_1_star.THEOREMS,
    *random_iterate.THEOREMS,
)
DEFINITIONS = assumption_4.DEFINITIONS
