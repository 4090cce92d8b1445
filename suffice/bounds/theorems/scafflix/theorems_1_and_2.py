"""Theorems 1 and 2; the derivation stands in the package's docstring."""

from __future__ import annotations

import numpy as np

from ...elementary import fall, minimum, survive
from ...quantities import Quantity
from ...theorem import Conditions, Definition, printed, records, reduces_to, theorem
from ...units import CURVATURE, GRADIENT_SQUARED, LOSS
from .paper import source

# --- Theorem 1: (**) of the package in the units of Psi = gamma_min V / n ----------------------------------


def step_conditions(*, reach, contraction) -> Conditions:
    """gamma_i <= 1/A_i for all clients, and mu_i <= A_i."""
    return {
        "every step gamma_i <= 1/A_i: reach <= 1": (reach, 1),
        "curvatures mu_i <= A_i: contraction <= reach": (contraction, reach),
    }


_STANDING = (
    "f_i is mu_i-strongly convex and L_i-smooth; gradients are unbiased, satisfy Assumption 3 with A_i >= L_i and C_i, "
    "and are independent of the coin; alpha_i is in (0, 1]; the anchors y_i are any fixed points"
)
_TIGHT = "The bound is tight for one step from x_i = x_i* where mu_i = A_i and gamma_i = 1/mu_i."
_MONOTONE = {"contraction": -1, "p": -1, "noise": 1}

# E Psi_{t+1} <= (1 - zeta) E Psi_t + gamma_min noise with zeta = min(min_i gamma_i mu_i, p^2) and noise the mean of
# gamma_i C_i. Unrolled, the geometric sum ends with the factor 1 - (1 - zeta)^T, which the print replaces by 1.


@reduces_to(
    "scafflix/theorem-2",
    "for alpha_i = 1, in units of theta in which gamma_min = n, so that Psi is V",
    lambda *, N, V0, **_: {"eta_min": N, "Psi0": V0},
)
@reduces_to(
    "adaptive/theorem-2-constant",
    "for one client with f = beta |x|^2 / 2 that always communicates (p = 1), in units in which beta = 2, so that Psi "
    "is the excess loss",
    lambda *, eta, mu, beta, e0, s2, **_: {
        "p": 1.0,
        "contraction": eta * mu,
        "reach": eta * beta,
        "eta_min": eta,
        "noise": eta * beta * s2 / 2,
        "Psi0": e0,
    },
)
@theorem(
    key="scafflix/theorem-1",
    title="Linear convergence of Scafflix",
    source=source("Theorem 1 and Algorithm 1"),
    quantity=Quantity.LYAPUNOV,
    hypotheses=_STANDING + "; sum_i alpha_i h_i^0 = 0",
    conditions=step_conditions,
    tight=_TIGHT,
    monotone=_MONOTONE | {"Psi0": 1, "eta_min": 1},
)
def theorem_1(*, p, contraction, eta_min, noise, Psi0, T):
    """From sum_i alpha_i h_i = 0 and with gamma_i <= 1/A_i: E[Psi_T] is at most the bound, zeta = min(min_i gamma_i
    mu_i, p^2).

    (1 - zeta)^T Psi_0 + (gamma_min noise / zeta) (1 - (1 - zeta)^T), zeta = min(min_i gamma_i mu_i, p^2)."""
    zeta = minimum(contraction, p**2)
    return survive(zeta, T) * Psi0 + eta_min * noise / zeta * fall(zeta, T)


@printed(
    theorem_1,
    fault="Algorithm 1 conserves sum_i alpha_i h_i, not sum_i h_i: from sum_i h_i = 0 with different alpha_i the "
    "models converge to a point that is not the optimum. The floor holds, but it is counted whole from the start.",
    hypotheses=_STANDING + "; sum_i h_i^0 = 0",
    monotone=_MONOTONE | {"Psi0": 1, "eta_min": 1},
)
def theorem_1_printed(*, p, contraction, eta_min, noise, Psi0, T):
    """From sum_i h_i = 0 and with gamma_i <= 1/A_i: E[Psi_T] is at most the bound."""
    return survive(minimum(contraction, p**2), T) * Psi0 + eta_min * noise / minimum(contraction, p**2)


# What the server would send is xbar, the mean of the x_i with weights proportional to alpha_i^2 / gamma_i: the
# projection of the models onto consensus in the norm of V, hence no further from the optimum than they are. With
# sum_i alpha_i grad f_i(x_i*) = 0 and smoothness,
#     f~(xbar) - f~* <= mean_i(alpha_i^2 L_i) |xbar - x*|^2 / 2 <= max_i(gamma_i L_i) mean_i(alpha_i^2 / gamma_i)
#     |xbar - x*|^2 / 2 <= max_i(gamma_i L_i) Psi / (2 gamma_min), and L_i <= A_i.


@theorem(
    key="scafflix/theorem-1-excess",
    title="Excess loss of Scafflix",
    source=source("Theorem 1, consequence"),
    quantity=Quantity.MIXED_EXCESS,
    hypotheses=_STANDING + "; sum_i alpha_i h_i^0 = 0",
    conditions=step_conditions,
    tight="The bound is tight at T = 0, if h_i^0 = grad f_i(x_i*), L_i = A_i and gamma_i A_i is equal for all clients.",
    monotone=_MONOTONE | {"Psi0": 1, "eta_min": -1, "reach": 1},
)
def theorem_1_excess(*, p, contraction, reach, eta_min, noise, Psi0, T):
    """Under the same hypotheses the mean xbar of the models with weights proportional to alpha_i^2/gamma_i has
    E[f~(xbar_T)] - min f~ at most the bound.

    max_i(gamma_i A_i) / (2 gamma_min) times the bound of Theorem 1."""
    zeta = minimum(contraction, p**2)
    return reach / 2 * (survive(zeta, T) * Psi0 / eta_min + noise / zeta * fall(zeta, T))


# --- Theorem 2: alpha_i = 1, and V itself -----------------------------------------------------------------


@theorem(
    key="scafflix/theorem-2",
    title="Linear convergence of i-Scaffnew",
    source=source("Theorem 2 and Algorithm 2"),
    quantity=Quantity.LYAPUNOV_SUM,
    hypotheses=_STANDING + "; alpha_i = 1, sum_i h_i^0 = 0",
    conditions=step_conditions,
    tight=_TIGHT,
    monotone=_MONOTONE | {"V0": 1, "N": 1},
)
def theorem_2(*, p, contraction, N, noise, V0, T):
    """From sum_i h_i = 0 and with gamma_i <= 1/A_i: E[V_T] is at most the bound, V = sum_i |x_i - x*|^2/gamma_i + sum_i
    gamma_i |h_i - grad f_i(x*)|^2/p^2, zeta = min(min_i gamma_i mu_i, p^2).

    (1 - zeta)^T V_0 + (n noise / zeta) (1 - (1 - zeta)^T), zeta = min(min_i gamma_i mu_i, p^2)."""
    zeta = minimum(contraction, p**2)
    return survive(zeta, T) * V0 + N * noise / zeta * fall(zeta, T)


@printed(
    theorem_2,
    fault="The statement is true and not sharp, because the whole floor is counted from the first step on.",
    monotone=_MONOTONE | {"V0": 1, "N": 1},
)
def theorem_2_printed(*, p, contraction, N, noise, V0, T):
    """From sum_i h_i = 0 and with gamma_i <= 1/A_i: E[V_T] is at most the bound, V = sum_i |x_i - x*|^2/gamma_i + sum_i
    gamma_i |h_i - grad f_i(x*)|^2/p^2."""
    return survive(minimum(contraction, p**2), T) * V0 + N * noise / minimum(contraction, p**2)


def reach(*, eta, A):
    """max_i gamma_i A_i."""
    return (np.asarray(eta) * A).max(-1)


def contraction(*, eta, mu):
    """min_i gamma_i mu_i."""
    return (np.asarray(eta) * mu).min(-1)


def noise(*, eta, C):
    """mean_i gamma_i C_i."""
    return (np.asarray(eta) * C).mean(-1)


THEOREMS = records(theorem_1_printed, theorem_1, theorem_1_excess, theorem_2_printed, theorem_2)

DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        key="scafflix/reach",
        title="Largest step in units of its limit",
        source=source("Theorem 1"),
        latex=r"\max_i \gamma_i A_i",
        units={"A": CURVATURE},
        reduce=reach,
    ),
    Definition(
        key="scafflix/contraction",
        title="Least contraction of the local steps",
        source=source("(5)"),
        latex=r"\min_i \gamma_i \mu_i",
        reduce=contraction,
    ),
    Definition(
        key="scafflix/noise",
        title="Noise of one iteration",
        source=source("(4)"),
        latex=r"\frac1n\sum_i \gamma_i C_i",
        unit=LOSS,
        units={"C": GRADIENT_SQUARED},
        reduce=noise,
    ),
)
