"""Theorem 3: smooth losses without PL, down to a level G of the squared gradient."""

from __future__ import annotations

import numpy as np

from ...elementary import maximum, minimum, spare, sqrt
from ...quantities import Quantity
from ...theorem import Conditions, Reduction, Theorem, printed, records, reduces_to, theorem
from .paper import source
from .theorem_2 import with_local_variance

# --- Sums -------------------------------------------------------------------------------------------------


def horizon_conditions(*, T) -> Conditions:
    """An average of T gradients."""
    return {"iterations 1 <= T": (1, T)}


_SMOOTH = (
    "R_i is beta-smooth, bounded below, and satisfies Assumption 3; gradients are unbiased, of total variance at most "
    "sigma_k^2, uncorrelated across clients given the past; weights are those of Definition 1; "
)
_STOPPED = (
    f"{_SMOOTH}s2 is the sufficient variance at the level G (with r_k >= (1 - b^2/G - c)_+) and q a lower bound of "
    "1 / sum_k alpha_k at every step before tau_G"
)
_TAU = "With tau_G = min{t: |grad R_i(theta_t)|^2 < G}"
_MEAN = "the mean over t <= T of E[|grad R_i(theta_{t-1})|^2 1{tau_G >= t}] is at most the bound"
_GROWS = {"e0": 1, "s2": 1, "beta": 1}

# tau_G = min{t: |grad R_i(theta_t)|^2 < G}. On {tau_G >= t} Assumption 3 alone gives r_k >= (1 - b^2/G - c)_+ at
# theta_{t-1}, hence V_t <= s2 = sigma_suf^2[G]: no PL. Lemma 1 there, {tau_G >= t} in {tau_G >= t-1} and e >= 0:
#     (eta/2) sum_{t <= T} E[|grad R_i(theta_{t-1})|^2 1{tau_G >= t}] <= e_0 + (eta^2 beta s2/2) E[min(tau_G, T)].
# Divide by eta T/2 and use min(tau_G, T) <= T. At eta = min(q/beta, sqrt(2 e_0/(T beta s2))) with
# g = sqrt(2 e_0 beta s2/T): 2 e_0/(eta T) = max(2 e_0 beta/(q T), g) and eta beta s2 = min(q s2, g).


@theorem(
    key="adaptive/theorem-3",
    title="Mean squared gradient while running, step for a horizon",
    source=source("Theorem 3"),
    statement=f"{_TAU} and eta = min(q/beta, sqrt(2 e_0/(T beta s2))): {_MEAN}, itself at most "
    "2 e_0 beta/(q T) + 2 sqrt(2 e_0 beta s2/T).",
    quantity=Quantity.STOPPED_GRADIENT,
    hypotheses=_STOPPED,
    conditions=horizon_conditions,
    monotone={**_GROWS, "q": -1, "T": -1},
)
def theorem_3(*, beta, q, e0, s2, T):
    """max(2 e_0 beta/(q T), g) + min(q s2, g), g = sqrt(2 e_0 beta s2/T)."""
    g = sqrt(2 * e0 * beta * s2 / T)
    return maximum(2 * e0 * beta / (q * T), g) + minimum(q * s2, g)


@printed(
    theorem_3,
    fault="The minimum in the step is ignored, so that with little noise the bound vanishes at every T; the sufficient "
    "variance at eps rests on PL, which is not assumed; and the bound is conditioned on an expectation, as in Theorem "
    "2.",
    title="Mean squared gradient",
    quantity=Quantity.AVERAGE_GRADIENT,
    hypotheses="Assumptions 1 to 3 hold; s2 is the sufficient variance at eps",
    monotone={**_GROWS, "T": -1},
)
def theorem_3_printed(*, beta, e0, s2, T):
    """With eta = min(sqrt(2 e_0/(T beta s2)), 1/(beta sum_k alpha_k)), if E[e_{T-1}] >= eps: the mean over t <= T of
    E[|grad R_i(theta_{t-1})|^2] is at most the bound."""
    return 2 * sqrt(2 * e0 * beta * s2 / T)


def step_conditions(*, eta, q, beta, T) -> Conditions:
    """eta <= q/beta makes eta beta sum_k alpha_k <= 1 at every step."""
    return {"step size eta <= q/beta": (eta, q / beta), **horizon_conditions(T=T)}


@reduces_to(
    "adaptive/theorem-3",
    "at eta = min(q/beta, sqrt(2 e_0/(T beta s2)))",
    lambda *, beta, q, e0, s2, T: {"eta": np.minimum(q / beta, np.sqrt(2 * e0 / (T * beta * s2)))},
)
@theorem(
    key="adaptive/theorem-3-any-step",
    title="Mean squared gradient while running",
    source=source("Theorem 3, Appendix B.2"),
    statement=f"{_TAU} and a constant step eta <= q/beta: {_MEAN}.",
    quantity=Quantity.STOPPED_GRADIENT,
    hypotheses=_STOPPED,
    conditions=step_conditions,
    tight="The bound is tight for one client of Hessian beta I at T = 1 and eta = 1/beta, without noise.",
    monotone={**_GROWS, "T": -1},
)
def theorem_3_any_step(*, eta, beta, e0, s2, T):
    """2 e_0/(eta T) + eta beta s2."""
    return 2 * e0 / (eta * T) + eta * beta * s2


# --- Hitting times ----------------------------------------------------------------------------------------
#
# Each term of the sum is at least G P(tau_G >= t), and sum_{t <= T} P(tau_G >= t) = E[min(tau_G, T)]:
#     (G - eta beta s2) E[min(tau_G, T)] <= 2 e_0/eta for every T.
# eta (G - eta beta s2) is largest at eta = G/(2 beta s2), and grows up to there.


@reduces_to(
    "adaptive/theorem-3-best-step",
    "at eta = min(q/beta, G/(2 beta s2))",
    lambda *, beta, q, s2, G, **_: {"eta": np.minimum(q / beta, G / (2 * beta * s2))},
)
@theorem(
    key="adaptive/theorem-3-hitting-time",
    title="Expected time to a small gradient",
    source=source("Theorem 3"),
    statement=f"{_TAU} and a constant step eta <= min(q/beta, 0.9 G/(beta s2)): E[tau_G] is at most the bound.",
    quantity=Quantity.GRADIENT_HITTING_TIME,
    hypotheses=_STOPPED,
    # The step limit and a noise floor at a safe distance below the level.
    conditions=lambda *, eta, q, beta, s2, G: {
        "step size eta <= q/beta": (eta, q / beta),
        "noise floor eta beta s2 <= 0.9 G": (eta * beta * s2, 0.9 * G),
    },
    tight="The bound is tight for one client of Hessian beta I with |grad R_i(theta_0)|^2 = G at eta = 1/beta, without "
    "noise.",
    monotone={**_GROWS, "G": -1},
)
def theorem_3_hitting_time(*, eta, beta, e0, s2, G):
    """2 e_0 / (eta G (1 - eta beta s2/G))."""
    return 2 * e0 / (eta * G * spare(eta * beta * s2 / G))


@theorem(
    key="adaptive/theorem-3-best-step",
    title="Expected time to a small gradient at the best step",
    source=source("Theorem 3"),
    statement=f"{_TAU} and the constant step eta = min(q/beta, G/(2 beta s2)): E[tau_G] is at most the bound, "
    "8 beta s2 e_0/G^2 if G/(2 beta s2) <= q/beta and at most 4 beta e_0/(q G) otherwise.",
    quantity=Quantity.GRADIENT_HITTING_TIME,
    hypotheses=_STOPPED,
    tight="The bound is tight for one client of Hessian beta I with |grad R_i(theta_0)|^2 = G, without noise.",
    monotone={**_GROWS, "q": -1, "G": -1},
)
def theorem_3_best_step(*, beta, q, e0, s2, G):
    """The same at 1/eta = max(beta/q, 2 beta s2/G), where eta beta s2/G is at most 1/2."""
    inverse = maximum(beta / q, 2 * beta * s2 / G)
    return 2 * e0 * inverse / (G * spare(beta * s2 / (G * inverse)))


_ALWAYS = (
    f"{_SMOOTH}s2 is the sufficient variance at the level G, V_max a bound of sum_k alpha_k^2 sigma_k^2 at every "
    "model, p a bound of P(|grad R_i(theta_{t-1})|^2 < G) and q a lower bound of 1 / sum_k alpha_k at every step t <= T"
)

THEOREMS = records(
    theorem_3_printed,
    theorem_3,
    theorem_3_any_step,
    Theorem(
        key="adaptive/theorem-3-unconditional",
        title="Mean squared gradient, not stopped",
        source=source("Theorem 3"),
        statement="With a constant step eta <= q/beta, the mean over t <= T of E[|grad R_i(theta_{t-1})|^2] is at most "
        "2 e_0/(eta T) + eta beta (s2 + (V_max - s2)_+ p).",
        quantity=Quantity.AVERAGE_GRADIENT,
        hypotheses=_ALWAYS,
        bound=with_local_variance(theorem_3_any_step),
        conditions=step_conditions,
        tight="The bound is tight for one client of Hessian beta I at T = 1 and eta = 1/beta, without noise.",
        monotone={**_GROWS, "V_max": 1, "below": 1, "T": -1},
        reduces_to=(
            Reduction(
                key="adaptive/theorem-3-any-step",
                when="if no step starts below the level G, so that p = 0",
                at=lambda *, s2, **_: {"V_max": 2 * s2, "below": 0.0},
            ),
        ),
    ),
    theorem_3_hitting_time,
    theorem_3_best_step,
)
