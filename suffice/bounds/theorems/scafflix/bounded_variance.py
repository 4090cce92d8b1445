"""Scafflix, sharper: bounded variance with steps up to 2/(L_i + mu_i), and Assumption 3 at steps below 1/A_i.

With a = w - w* and v = h - h* the package's docstring has, as an identity over the coin, E V+ = |a|^2 + (1 - p^2)
|v|^2/p^2: all that is lost is lost in |a|, the local gradient step.
"""

from __future__ import annotations

import numpy as np

from ...elementary import fall, log1p, log_ratio, maximum, minimum, sqrt, survive
from ...parameters import new_parameter
from ...quantities import Quantity
from ...theorem import Conditions, Definition, records, reduces_to, theorem
from ...units import CURVATURE, DIMENSIONLESS
from .paper import source
from .theorems_1_and_2 import step_conditions

new_parameter(
    "wide_reach",
    r"\max_i\tfrac{\gamma_i(L_i+\mu_i)}{2}",
    DIMENSIONLESS,
    (0.1, 1.0),
    "largest step in units of 2/(L_i + mu_i), max_i gamma_i (L_i + mu_i)/2",
    positive=True,
)


def wide_reach(*, eta, beta, mu):
    """max_i gamma_i (L_i + mu_i)/2."""
    return (np.asarray(eta) * (np.asarray(beta) + mu) / 2).max(-1)


def wide_conditions(*, wide_reach, contraction) -> Conditions:
    """gamma_i <= 2/(L_i + mu_i) for all clients, and mu_i <= L_i."""
    return {
        "every step gamma_i <= 2/(L_i + mu_i): wide_reach <= 1": (wide_reach, 1),
        "curvatures mu_i <= L_i: contraction <= wide_reach": (contraction, wide_reach),
    }


_CLIENTS = (
    "f_i is mu_i-strongly convex and L_i-smooth; sum_i alpha_i h_i^0 = 0; alpha_i is in (0, 1]; the anchors y_i are "
    "any fixed points"
)
_BOUNDED = (
    "gradients are exact but for an error of mean zero given the past, independent of the coin and of variance at most "
    f"C_i = sigma_i^2 wherever it is taken; {_CLIENTS}. Noise that grows with the distance needs theorem-1-noisy"
)
_MONOTONE = {"contraction": -1, "p": -1, "noise": 1, "Psi0": 1, "eta_min": 1}

# The map x - gamma grad f(x) of a mu-strongly convex, L-smooth f contracts distances by 1 - gamma mu up to
# gamma = 2/(L + mu): with u = grad f(x) - grad f(x*) - mu (x - x*) and cocoercivity <u, x - x*> >= |u|^2/(L - mu),
#     |(1 - gamma mu)(x - x*) - gamma u|^2 <= (1 - gamma mu)^2 |x - x*|^2 - gamma (2 - gamma (L + mu)) <u, x - x*>.
# The noise adds gamma_i^2 sigma_i^2 to |a_i|^2, over gamma_i in the norm of V. As gamma_i mu_i <= 1 the largest
# (1 - gamma_i mu_i)^2 is that of the least gamma_i mu_i. Unroll as for Theorem 1.


@theorem(
    key="scafflix/theorem-1-sharp",
    title="Linear convergence of Scafflix with bounded variance",
    source=source("Theorem 1 and Algorithm 1"),
    quantity=Quantity.LYAPUNOV,
    hypotheses=_BOUNDED,
    conditions=wide_conditions,
    tight="The bound is always attained, with one curvature mu and one step for all clients, p^2 = x (2 - x), x = "
    "gamma mu, and any noise.",
    monotone=_MONOTONE,
)
def theorem_1_sharp(*, p, contraction, eta_min, noise, Psi0, T):
    """With gamma_i <= 2/(L_i + mu_i), E[Psi_T] is at most the bound: the distances contract by max_i (1 - gamma_i
    mu_i)^2, the control variates by 1 - p^2.

    (1 - zeta)^T Psi_0 + (gamma_min noise / zeta) (1 - (1 - zeta)^T), zeta = min(x (2 - x), p^2), x = min_i gamma_i
    mu_i."""
    zeta = minimum(contraction * (2 - contraction), p**2)
    return survive(zeta, T) * Psi0 + eta_min * noise / zeta * fall(zeta, T)


# Assumption 3: E|a_i|^2 <= |d|^2 - 2 gamma <u, d> + gamma^2 (2 A D + C), d = x - x*, <u, d> >= D + mu |d|^2/2; what is
# left over, -2 gamma (1 - gamma A) D, counts as D >= mu |d|^2/2, which needs gamma <= 1/A: together
# (1 - gamma mu (2 - gamma A)) |d|^2 + gamma^2 C. The square (1 - gamma mu)^2 is false here: g = c x with E c = mu,
# E c^2 = A mu attains what is printed.


@reduces_to("scafflix/theorem-1", "for steps up to 1/A_i, reach = 1", lambda **_: {"reach": 1.0})
@theorem(
    key="scafflix/theorem-1-noisy",
    title="Linear convergence of Scafflix at steps below the limit",
    source=source("Theorem 1 and Algorithm 1"),
    quantity=Quantity.LYAPUNOV,
    hypotheses="gradients are unbiased, satisfy Assumption 3 with A_i >= L_i and C_i, and are independent of the "
    f"coin; {_CLIENTS}. The bound is nowhere above theorem-1, its case "
    "reach = 1; if the variance is bounded, use theorem-1-sharp",
    conditions=step_conditions,
    tight="The bound is always attained, by gradients c x with E c = mu and E c^2 = A mu, with one step for all and "
    "p^2 = gamma mu (2 - gamma A).",
    monotone=_MONOTONE | {"reach": 1},
)
def theorem_1_noisy(*, p, contraction, reach, eta_min, noise, Psi0, T):
    """With gamma_i <= 1/A_i, E[Psi_T] is at most the bound: at short steps the rate of Theorem 1 is doubled.

    (1 - zeta)^T Psi_0 + (gamma_min noise / zeta) (1 - (1 - zeta)^T), zeta = min(min_i gamma_i mu_i (2 - max_i gamma_i
    A_i), p^2)."""
    zeta = minimum(contraction * (2 - reach), p**2)
    return survive(zeta, T) * Psi0 + eta_min * noise / zeta * fall(zeta, T)


# Exact gradients, gamma_i = 2/(L_i + mu_i): the least gamma_i mu_i is 2/(kappa + 1), 1 - x = (kappa - 1)/(kappa + 1)
# and -2 ln(1 - x) = 4 artanh(1/kappa) >= 4/kappa. The communications p T are least where p^2 = x (2 - x), the largest
# p that the distances need: p = 2 sqrt(kappa)/(kappa + 1).

_EXACT = (
    "gradients are exact, kappa_max = max_i L_i/mu_i, gamma_i = 2/(L_i + mu_i), and Psi_0 is taken at these gamma_i "
    f"and p; {_CLIENTS}"
)


@theorem(
    key="scafflix/corollary-1-sharp-iterations",
    title="A quarter of the iterations with exact gradients",
    source=source("Corollary 1, (6)"),
    quantity=Quantity.ITERATIONS,
    hypotheses=_EXACT,
    monotone={"kappa_max": 1, "Psi0": 1, "eps_Psi": -1},
)
def corollary_1_sharp_iterations(*, kappa_max, p, Psi0, eps_Psi):
    """With exact gradients and gamma_i = 2/(L_i + mu_i), E[Psi_T] <= eps for every T at least the bound; from
    p = 2 sqrt(kappa_max)/(kappa_max + 1) on, (kappa_max/4) ln(Psi_0/eps) will do."""
    return maximum(kappa_max / 4, -1 / log1p(-(p**2))) * log_ratio(Psi0, eps_Psi)


@theorem(
    key="scafflix/corollary-1-sharp",
    title="Half of the communications with exact gradients at the best probability",
    source=source("Corollary 1"),
    quantity=Quantity.COMMUNICATIONS,
    hypotheses=_EXACT,
    monotone={"Psi0": 1, "eps_Psi": -1},
)
def corollary_1_sharp(*, kappa_max, Psi0, eps_Psi):
    """With exact gradients, gamma_i = 2/(L_i + mu_i) and p = 2 sqrt(kappa_max)/(kappa_max + 1), the first whole T at
    least the bound of the iterations costs at most this in expected communications p T.

    p (kappa_max/4) ln(Psi_0/eps)_+ + p, about sqrt(kappa_max)/2 times the logarithm."""
    p = 2 * sqrt(kappa_max) / (kappa_max + 1)
    return p * (kappa_max / 4 * log_ratio(Psi0, eps_Psi)) + p


# With noise, equalised steps: gamma_i = x/mu_i, x = 2/(M + 1), p^2 = x (2 - x), M = max(kappa, mean_i(C_i/mu_i)/eps);
# gamma_i <= 2/(L_i + mu_i) as M >= kappa_i. Psi is at least 2 E/mu_max (`equalised_iterations`), and its floor is
# (x/mu_max) mean_i(C_i/mu_i)/(2 - x), where x/(2 - x) = 1/M: eps/mu_max at most, half of eps in E.

_NOISE = _BOUNDED + "; Psi_0 is taken at these gamma_i and p"


@theorem(
    key="scafflix/equalised-sharp-iterations",
    title="A quarter of the iterations with equalised steps",
    source=source("Theorem 1, another choice of steps"),
    quantity=Quantity.ITERATIONS,
    hypotheses=_NOISE,
    monotone={"kappa_max": 1, "noise_mean": 1, "mu_max": 1, "Psi0": 1, "eps_mu": -1},
)
def equalised_sharp_iterations(*, kappa_max, noise_mean, mu_max, Psi0, eps_mu):
    """With M = max(kappa_max, mean_i(C_i/mu_i)/eps), gamma_i = 2/((M + 1) mu_i) and p = 2 sqrt(M)/(M + 1),
    E[(1/(2n)) sum_i mu_i |x_i - x_i*|^2] <= eps for every T at least the bound, x_i the personalised models."""
    return maximum(kappa_max, noise_mean / eps_mu) / 4 * log_ratio(mu_max * Psi0, eps_mu)


@theorem(
    key="scafflix/equalised-sharp-communications",
    title="Half of the communications with equalised steps",
    source=source("Theorem 1, another choice of steps"),
    quantity=Quantity.COMMUNICATIONS,
    hypotheses=_NOISE,
    monotone={"mu_max": 1, "Psi0": 1},
)
def equalised_sharp_communications(*, kappa_max, noise_mean, mu_max, Psi0, eps_mu):
    """With these steps, the first whole T at least the bound of the iterations costs at most this in expected
    communications p T.

    p (M/4) ln(mu_max Psi_0/eps)_+ + p, p = 2 sqrt(M)/(M + 1), M = max(kappa_max, mean_i(C_i/mu_i)/eps)."""
    steps = maximum(kappa_max, noise_mean / eps_mu)
    p = 2 * sqrt(steps) / (steps + 1)
    return p * (steps / 4 * log_ratio(mu_max * Psi0, eps_mu)) + p


THEOREMS = records(
    theorem_1_sharp,
    theorem_1_noisy,
    corollary_1_sharp_iterations,
    corollary_1_sharp,
    equalised_sharp_iterations,
    equalised_sharp_communications,
)

DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        key="scafflix/wide-reach",
        title="Largest step in units of its wider limit",
        source=source("Theorem 1"),
        latex=r"\max_i \gamma_i (L_i + \mu_i)/2",
        units={"beta": CURVATURE},
        reduce=wide_reach,
    ),
)
