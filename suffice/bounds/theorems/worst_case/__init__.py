"""Sharp results beyond the papers: pairs of quadratics, one step of All-for-one, many steps.

Notation: g_i = grad R_i(theta_{t-1}), A = sum_k alpha_k, A_- = sum_k alpha_k (1 - sqrt(1 - r_k)) with
|g_k - g_i|^2 <= (1 - r_k) |g_i|^2 wherever alpha_k > 0, V = sum_k alpha_k^2 sigma_k^2.
"""

from __future__ import annotations

from . import many_steps, one_step, quadratics

THEOREMS = (*quadratics.THEOREMS, *one_step.THEOREMS, *many_steps.THEOREMS)
DEFINITIONS = one_step.DEFINITIONS
