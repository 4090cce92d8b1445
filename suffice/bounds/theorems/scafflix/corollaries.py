"""Corollaries 1 and 2 with their constants: iterations and expected communications to a precision.

Every bound of an iteration count is a real number: any whole T that is at least as large will do. T iterations make
p T communications on average, and the smallest whole T exceeds the bound by less than 1.
"""

from __future__ import annotations

import numpy as np

from ...elementary import log_ratio, maximum, sqrt
from ...quantities import Quantity
from ...theorem import Definition, Theorem, records, reduces_to, theorem
from ...units import CURVATURE, GRADIENT_SQUARED, LOSS
from .paper import source

# --- Corollary 1: C_i = 0, gamma_i = 1/A_i -----------------------------------------------------------------

_STANDING = "the hypotheses of Theorem 1 hold, with Psi_0 at these gamma_i and p"
_EXACT = _STANDING + "; C_i = 0 and gamma_i = 1/A_i"
_MONOTONE_1 = {"kappa_max": 1, "Psi0": 1, "eps_Psi": -1}

# zeta = min(1/kappa_max, p^2) and (1 - zeta)^T <= exp(-zeta T): E Psi_T <= eps once T >= ln(Psi_0/eps) / zeta. The
# communications p T are, up to the last coin, max(p kappa_max, 1/p) ln(Psi_0/eps), least at p = 1/sqrt(kappa_max).


@theorem(
    key="scafflix/corollary-1-iterations",
    title="Iterations with exact gradients",
    source=source("(6)"),
    quantity=Quantity.ITERATIONS,
    hypotheses=_EXACT,
    monotone=_MONOTONE_1 | {"p": -1},
)
def corollary_1_iterations(*, kappa_max, p, Psi0, eps_Psi):
    """With gamma_i = 1/A_i and C_i = 0, E[Psi_T] <= eps for every T at least the bound."""
    return maximum(kappa_max, 1 / p**2) * log_ratio(Psi0, eps_Psi)


@reduces_to(
    "scafflix/corollary-1",
    "at p = 1/sqrt(kappa_max), the best probability",
    lambda *, kappa_max, **_: {"p": kappa_max**-0.5},
)
@theorem(
    key="scafflix/corollary-1-communications",
    title="Communications with exact gradients",
    source=source("(7)"),
    quantity=Quantity.COMMUNICATIONS,
    hypotheses=_EXACT,
    monotone=_MONOTONE_1,
)
def corollary_1_communications(*, kappa_max, p, Psi0, eps_Psi):
    """With gamma_i = 1/A_i and C_i = 0, the first whole T at least the bound of the iterations costs at most this in
    expected communications p T."""
    return maximum(p * kappa_max, 1 / p) * log_ratio(Psi0, eps_Psi) + p


@theorem(
    key="scafflix/corollary-1",
    title="Communications with exact gradients at the best probability",
    source=source("Corollary 1"),
    quantity=Quantity.COMMUNICATIONS,
    hypotheses=_EXACT,
    monotone={"Psi0": 1, "eps_Psi": -1},
)
def corollary_1(*, kappa_max, Psi0, eps_Psi):
    """With gamma_i = 1/A_i, C_i = 0 and p = 1/sqrt(kappa_max), the first whole T at least the bound of the iterations
    costs at most this in expected communications p T."""
    return sqrt(kappa_max) * log_ratio(Psi0, eps_Psi) + 1 / sqrt(kappa_max)


# --- Corollary 2: gamma_i = min(1/A_i, eps mu_min/(2 C_i)), p^2 = min_i gamma_i mu_i -----------------------

_MONOTONE_2 = {"noise_max": 1, "mu_min": -1, "Psi0": 1, "eps_Psi": -1}

# zeta = p^2, and 1/zeta = max_i max(A_i/mu_i, 2 C_i/(eps mu_min mu_i)). As gamma_i C_i <= eps mu_min/2, the floor is at
# most (gamma_min mu_min / zeta) eps/2 <= eps/2, and (1 - zeta)^T Psi_0 <= eps/2 once T >= ln(2 Psi_0/eps) / zeta. At
# Psi_0 <= eps/2 both terms of E Psi_T = (1 - zeta)^T Psi_0 + ... are in order from the start.


@theorem(
    key="scafflix/corollary-2-iterations",
    title="Iterations with noise",
    source=source("Corollary 2, (10)"),
    quantity=Quantity.ITERATIONS,
    hypotheses=_STANDING,
    monotone=_MONOTONE_2 | {"kappa_max": 1},
)
def corollary_2_iterations(*, kappa_max, noise_max, mu_min, Psi0, eps_Psi):
    """With gamma_i = min(1/A_i, eps mu_min/(2 C_i)) and p^2 = min_i gamma_i mu_i, E[Psi_T] <= eps for every T at least
    the bound."""
    return maximum(kappa_max, 2 * noise_max / (eps_Psi * mu_min)) * log_ratio(2 * Psi0, eps_Psi)


@theorem(
    key="scafflix/corollary-2-communications",
    title="Communications with noise",
    source=source("Corollary 2, (11)"),
    quantity=Quantity.COMMUNICATIONS,
    hypotheses=_STANDING,
    monotone={"Psi0": 1},
)
def corollary_2_communications(*, kappa_max, noise_max, mu_min, Psi0, eps_Psi):
    """With gamma_i = min(1/A_i, eps mu_min/(2 C_i)) and p^2 = min_i gamma_i mu_i, the first whole T at least the bound
    of the iterations costs at most this in expected communications p T.

    sqrt(M) ln(2 Psi_0/eps)_+ + 1/sqrt(M), M = max(kappa_max, 2 max_i(C_i/mu_i) / (eps mu_min))."""
    root = sqrt(maximum(kappa_max, 2 * noise_max / (eps_Psi * mu_min)))
    return root * log_ratio(2 * Psi0, eps_Psi) + 1 / root


# --- Equalised steps: gamma_i = zeta/mu_i, p^2 = zeta = min(min_i mu_i/A_i, eps/mean_i(C_i/mu_i)) ------------
#
# gamma_min = zeta/mu_max, so Psi >= (1/mu_max) mean_i mu_i |x_i - x_i*|^2 = 2 E/mu_max, and the floor is
# (zeta/mu_max) mean_i C_i/mu_i <= eps/mu_max: half of eps in E. The other half is reached by
# (mu_max/2) (1 - zeta)^T Psi_0 once T >= ln(mu_max Psi_0/eps) / zeta.


@theorem(
    key="scafflix/equalised-iterations",
    title="Iterations with equalised steps",
    source=source("Theorem 1, another choice of steps"),
    quantity=Quantity.ITERATIONS,
    hypotheses=_STANDING,
    monotone={"kappa_max": 1, "noise_mean": 1, "mu_max": 1, "Psi0": 1, "eps_mu": -1},
)
def equalised_iterations(*, kappa_max, noise_mean, mu_max, Psi0, eps_mu):
    """With gamma_i = zeta/mu_i and p^2 = zeta = min(min_i mu_i/A_i, eps/mean_i(C_i/mu_i)), E[(1/(2n)) sum_i mu_i |x_i -
    x_i*|^2] <= eps for every T at least the bound, x_i the personalised models. The excess loss of xbar is at most
    max_i(L_i/mu_i) times as large."""
    return maximum(kappa_max, noise_mean / eps_mu) * log_ratio(mu_max * Psi0, eps_mu)


@theorem(
    key="scafflix/equalised-communications",
    title="Communications with equalised steps",
    source=source("Theorem 1, another choice of steps"),
    quantity=Quantity.COMMUNICATIONS,
    hypotheses=_STANDING,
    monotone={"mu_max": 1, "Psi0": 1},
)
def equalised_communications(*, kappa_max, noise_mean, mu_max, Psi0, eps_mu):
    """With the equalised steps, the first whole T at least the bound of the iterations costs at most this in expected
    communications p T.

    sqrt(M) ln(mu_max Psi_0/eps)_+ + 1/sqrt(M), M = max(kappa_max, mean_i(C_i/mu_i)/eps)."""
    root = sqrt(maximum(kappa_max, noise_mean / eps_mu))
    return root * log_ratio(mu_max * Psi0, eps_mu) + 1 / root


_HIDDEN = "The constants are hidden."


def _printed(key: str, title: str, locator: str, statement: str, quantity: Quantity, fault: str) -> Theorem:
    """A printed rate up to hidden constants."""
    return Theorem(
        key=key,
        edition="printed",
        title=title,
        source=source(locator),
        statement=statement,
        quantity=quantity,
        hypotheses="the hypotheses of Theorem 1 hold",
        bound=None,
        order_only=_HIDDEN,
        fault=fault,
    )


_FAULT_1 = "The constants are missing: with gamma_i = 1/A_i both are 1, and the logarithm is that of Psi_0/eps."
_FAULT_2 = "The constants are missing: the proof has 2 C_i for C_i and 2 Psi_0 for Psi_0."

THEOREMS = records(
    _printed(
        "scafflix/corollary-1-iterations",
        "Iterations with exact gradients",
        "(6)",
        "O((kappa_max + 1/p^2) log(Psi_0/eps)) iterations reach E[Psi_T] <= eps.",
        Quantity.ITERATIONS,
        _FAULT_1,
    ),
    corollary_1_iterations,
    _printed(
        "scafflix/corollary-1-communications",
        "Communications with exact gradients",
        "(7)",
        "O((p kappa_max + 1/p) log(Psi_0/eps)) communications reach E[Psi_T] <= eps.",
        Quantity.COMMUNICATIONS,
        _FAULT_1,
    ),
    corollary_1_communications,
    _printed(
        "scafflix/corollary-1",
        "Communications with exact gradients at the best probability",
        "Corollary 1",
        "With p = Theta(1/sqrt(kappa_max)), O(sqrt(kappa_max) log(Psi_0/eps)) communications reach E[Psi_T] <= eps.",
        Quantity.COMMUNICATIONS,
        _FAULT_1,
    ),
    corollary_1,
    _printed(
        "scafflix/corollary-2-iterations",
        "Iterations with noise",
        "Corollary 2, (10)",
        "With gamma_i = min(1/A_i, eps mu_min/(2 C_i)) and p^2 = min_i gamma_i mu_i, "
        "O(max_i max(A_i/mu_i, C_i/(eps mu_min mu_i)) log(Psi_0/eps)) iterations reach E[Psi_T] <= eps.",
        Quantity.ITERATIONS,
        _FAULT_2,
    ),
    corollary_2_iterations,
    _printed(
        "scafflix/corollary-2-communications",
        "Communications with noise",
        "Corollary 2, (11)",
        "With the steps and the probability of (10), "
        "O(max_i max(sqrt(A_i/mu_i), sqrt(C_i/(eps mu_min mu_i))) log(Psi_0/eps)) communications reach "
        "E[Psi_T] <= eps.",
        Quantity.COMMUNICATIONS,
        _FAULT_2,
    ),
    corollary_2_communications,
    equalised_iterations,
    equalised_communications,
)

DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        key="scafflix/condition-number",
        title="Largest condition number of the clients",
        source=source("above (6)"),
        latex=r"\kappa_{\max} = \max_i A_i/\mu_i",
        units={"A": CURVATURE},
        reduce=lambda *, A, mu: (np.asarray(A) / mu).max(-1),
    ),
    Definition(
        key="scafflix/largest-noise",
        title="Largest noise of the clients",
        source=source("Corollary 2"),
        latex=r"\max_i C_i/\mu_i",
        unit=LOSS,
        units={"C": GRADIENT_SQUARED},
        reduce=lambda *, C, mu: (np.asarray(C) / mu).max(-1),
    ),
    Definition(
        key="scafflix/mean-noise",
        title="Mean noise of the clients",
        source=source("Theorem 1, another choice of steps"),
        latex=r"\frac1n\sum_i C_i/\mu_i",
        unit=LOSS,
        units={"C": GRADIENT_SQUARED},
        reduce=lambda *, C, mu: (np.asarray(C) / mu).mean(-1),
    ),
)
