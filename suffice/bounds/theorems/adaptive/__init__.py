"""Philippenko, Le Bars, Scaman, Massoulie (2025): All-for-one with adaptive weights.

Notation: e_t = R_i(theta_t) - min R_i is the *realised* excess loss of client i,
a_k = 1/sigma_k^2, r_k the similarity ratio at theta_{t-1}, F_t the history up to step t.
Standing hypotheses H: R_i is beta-smooth; the gradients g_k^t are unbiased, of total variance at
most sigma_k^2 and uncorrelated across clients given F_{t-1}; weights and step size are
F_{t-1}-measurable; eta_t beta sum_k alpha_k <= 1.

Descent (Lemma 1). Smoothness and H give, with A = sum alpha, R_alpha = sum alpha_k R_k / A,
    E[e_t | F_{t-1}] <= e_{t-1} - eta A <grad R_alpha, grad R_i>
                        + (eta^2 beta / 2) (A^2 |grad R_alpha|^2 + sum alpha_k^2 sigma_k^2).
Now -<a, b> = (|a - b|^2 - |a|^2 - |b|^2) / 2, the term -(eta A / 2)(1 - eta A beta) |grad R_alpha|^2
is <= 0, and Jensen on |.|^2 gives
    E[e_t | F_{t-1}] <= e_{t-1} - (eta / 2) sum alpha_k (|grad R_i|^2 - |grad R_k - grad R_i|^2)
                        + (eta^2 beta / 2) sum alpha_k^2 sigma_k^2.
With the weights of Definition 1 the bracket sums to |grad R_i|^2 exactly (sum alpha_k r_k = 1), so PL gives
    E[e_t | F_{t-1}] <= (1 - eta mu) e_{t-1} + (eta^2 beta / 2) V_t,   V_t = sum alpha_k^2 sigma_k^2.   (*)
"""

from __future__ import annotations

from . import (
    aggregate_variance,
    corollary_1,
    equation_1,
    fixed_weights,
    multiplicative_gradient,
    multiplicative_noise,
    multiplicative_rows,
    property_1_and_lemma_2,
    sufficient_cluster,
    sufficient_variance,
    theorem_1,
    theorem_2,
    theorem_3,
    weights,
)
from .statements import STATEMENTS as STATEMENTS
from .theorem_2 import recursion as recursion

THEOREMS = (
    *theorem_1.THEOREMS,
    *property_1_and_lemma_2.THEOREMS,
    *weights.THEOREMS,
    *aggregate_variance.THEOREMS,
    *sufficient_variance.THEOREMS,
    *sufficient_cluster.THEOREMS,
    *equation_1.THEOREMS,
    *theorem_2.THEOREMS,
    *corollary_1.THEOREMS,
    *theorem_3.THEOREMS,
    *multiplicative_noise.THEOREMS,
    *multiplicative_rows.THEOREMS,
    *multiplicative_gradient.THEOREMS,
    *fixed_weights.THEOREMS,
)
DEFINITIONS = (
    *weights.DEFINITIONS,
    *aggregate_variance.DEFINITIONS,
    *sufficient_variance.DEFINITIONS,
    *equation_1.DEFINITIONS,
    *fixed_weights.DEFINITIONS,
)
