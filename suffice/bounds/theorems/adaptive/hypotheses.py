"""Hypotheses, where PL(mu) is |grad R|^2 >= 2 mu (R - min R); steps are in `suffice.bounds.step_size_condition`."""

from __future__ import annotations

STANDING = (
    "R_i is beta-smooth and satisfies PL(mu) and Assumption 3; gradients are unbiased, of total variance at most "
    "sigma_k^2, uncorrelated across clients given the past; weights are those of Definition 1; s2 is the sufficient "
    "variance at eps and q a lower bound of 1 / sum_k alpha_k at every step before tau"
)
ALWAYS = (
    "R_i is beta-smooth and satisfies PL(mu) and Assumption 3; gradients are unbiased, of total variance at most "
    "sigma_k^2, uncorrelated across clients given the past; weights are those of Definition 1; s2 is the sufficient "
    "variance at eps, V_max a bound of sum_k alpha_k^2 sigma_k^2 at every model (sigma_i^2 / phi(1) is one), p a bound "
    "of P(e_{t-1} < eps) and q a lower bound of 1 / sum_k alpha_k, all at every step t <= T"
)
UNBIASED = (
    "R_i is beta-smooth; gradients are unbiased, of total variance at most sigma_k^2, uncorrelated across clients "
    "given the past; weights and step are functions of the past"
)
