"""Corollary 1: the time to reach the precision, with a decreasing step and, better, with a constant one."""

from __future__ import annotations

from functools import partial

import numpy as np

from ...elementary import decay, difference, log, maximum, minimum, spare, survive, up
from ...quantities import Quantity
from ...step_size_condition import step_conditions
from ...theorem import Conditions, Sharper, printed, records, reduces_to, theorem
from .hypotheses import STANDING
from .paper import source
from .theorem_2 import curvature_conditions, decreasing_conditions, decreasing_level
from .theorem_2_printed import decreasing_conditions_printed

# --- Decreasing step --------------------------------------------------------------------------------------

_DECREASING = "With eta_t = C/(mu (t + gamma)), C > 1, gamma >= C beta/(mu q) - 1"

_record = partial(theorem, source=source("Corollary 1"), hypotheses=STANDING)

# With X_t = e_t 1{tau >= t}: {tau >= t} is known at t - 1 and implies e_{t-1} >= eps, so (*) with V_t <= s2 there gives
#     E[X_t | F_{t-1}] <= 1{tau >= t} ((1 - eta_t mu) e_{t-1} + eta_t^2 beta s2/2),
# and 1{tau >= t} e_{t-1} <= X_{t-1}: E[X_t] <= (1 - eta_t mu) E[X_{t-1}] + eta_t^2 beta s2/2. So E[X_t] <= B_t, and
# B_T <= nu/(gamma + T + 1) (Theorem 2, row 3), which is at most eps once T >= nu/eps - gamma - 1. It is attained:
# a path that stays at its mean E[e_t] = B_t runs until then. What is stopped adds at most eps P(tau < T), so that
# E[e_min(T, tau)] <= 2 eps from then on, but that is not attained: where e_T is near its mean it is e_T or at most eps.
# Also P(tau > T) = P(X_T >= eps) <= B_T/eps, at most delta once T >= nu/(eps delta) - gamma - 1.


@_record(
    key="adaptive/corollary-1",
    title="Iterations until what still runs is at the precision, decreasing step",
    statement=f"{_DECREASING}: E[e_T 1{{tau >= T}}] <= eps, hence E[e_min(T, tau)] <= 2 eps, for every T at least "
    "the bound nu/eps - gamma - 1, nu = max(C^2 beta s2/(2 mu^2 (C - 1)), (gamma + 1) e_0).",
    quantity=Quantity.ROUNDS,
    conditions=decreasing_conditions,
    tight="The bound is tight if e_T is near its mean and just above eps, with noise alone (T large, C near 2, q "
    "small) or with next to none (C near 1).",
    monotone={"e0": 1, "s2": 1, "eps": -1},
)
def corollary_1(*, C, gamma, mu, beta, e0, s2, eps):
    """(nu / eps - gamma - 1)_+."""
    nu = decreasing_level(C=C, gamma=gamma, mu=mu, beta=beta, e0=e0, s2=s2)
    return maximum(0, difference(nu / eps, gamma + 1))


@printed(
    corollary_1,
    fault="No first step C/mu meets the limit q/beta; the start is dropped, so that without noise 0 iterations would "
    "do; and a bound that holds while the precision has not been reached does not say that the precision is reached.",
    title="Iterations to the precision",
    conditions=decreasing_conditions_printed,
    monotone={"s2": 1, "eps": -1, "beta": 1},
)
def corollary_1_printed(*, C, mu, beta, s2, eps):
    """With the decreasing step of Theorem 2, the error eps is reached after T = C' beta s2/(2 mu^2 eps) iterations,
    C' = C^2/(C - 1)."""
    return C**2 / (C - 1) * beta * s2 / (2 * mu**2 * eps)


@_record(
    key="adaptive/corollary-1-decreasing-confidence",
    title="Iterations to the precision at a confidence, decreasing step",
    statement=f"{_DECREASING}: P(tau > T) <= delta for every T at least the bound nu/(eps delta) - gamma - 1, "
    "nu = max(C^2 beta s2/(2 mu^2 (C - 1)), (gamma + 1) e_0).",
    quantity=Quantity.ROUNDS,
    mode="probability",
    conditions=decreasing_conditions,
    monotone={"e0": 1, "s2": 1, "eps": -1, "delta": -1},
    superseded_by=Sharper(
        key="adaptive/corollary-1-decreasing-confidence-sharp",
        ratio=(1, np.inf),
        # both are nu/eps over a function of delta that is 1 at 1; Markov's is delta itself
        exactly=lambda new, *, eps, delta, **others: new(eps=eps * delta, delta=1.0),
    ),
)
def corollary_1_decreasing_confidence(*, C, gamma, mu, beta, e0, s2, eps, delta):
    """(nu / (eps delta) - gamma - 1)_+."""
    nu = decreasing_level(C=C, gamma=gamma, mu=mu, beta=beta, e0=e0, s2=s2)
    return maximum(0, difference(nu / (eps * delta), gamma + 1))


# Sharper (`theorem_2_decreasing_running`): P(tau > T) <= y^p e^{(p-1)(1-y)}, y = nu/(eps (gamma + T + 1)) <= 1, at most
# delta iff y <= g(y) = delta^(1/p) e^{-(1-1/p)(1-y)}. Every y <= g(delta) is such: if y <= delta, then
# y^p e^{(p-1)(1-y)} <= y <= delta as x e^{1-x} <= 1; otherwise g(delta) <= g(y).


@_record(
    key="adaptive/corollary-1-decreasing-confidence-sharp",
    title="Iterations to the precision at a confidence, decreasing step, noise while running",
    statement=f"{_DECREASING}: P(tau > T) <= delta for every T at least nu delta^(-1/p) e^((1-1/p)(1-delta))/eps - "
    "gamma - 1, nu = max(C^2 beta s2/(2 mu^2 (C - 1)), (gamma + 1) e_0), p = min(C, 2).",
    quantity=Quantity.ROUNDS,
    mode="probability",
    conditions=decreasing_conditions,
    tight="The bound is tight for delta near 1, if e_0 = eps and C = 2 at steps of small eta mu, for a client that "
    "stays at eps or stops.",
    monotone={"e0": 1, "s2": 1, "eps": -1, "delta": -1},
)
def corollary_1_decreasing_confidence_sharp(*, C, gamma, mu, beta, e0, s2, eps, delta):
    """(nu delta^(-1/p) e^{(1-1/p)(1-delta)} / eps - gamma - 1)_+, p = min(C, 2)."""
    nu = decreasing_level(C=C, gamma=gamma, mu=mu, beta=beta, e0=e0, s2=s2)
    p = minimum(C, 2)
    return maximum(0, difference(nu / (eps * delta ** (1 / p) * decay((1 - 1 / p) * (1 - delta))), gamma + 1))


# --- Constant step ----------------------------------------------------------------------------------------
#
# On {e_{t-1} >= eps}: s2 <= s2 e_{t-1} / eps, so (*) reads E[e_t | F] <= (1 - Delta) e_{t-1} with
# Delta = eta mu - eta^2 beta s2 / (2 eps). X_t = e_t 1{tau > t} hence satisfies E[X_t | F] <= (1 - Delta) X_{t-1}:
# P(tau > T) = P(X_T >= eps) <= (1 - Delta)^T e_0 / eps. For E[tau] use h(0) = 0, h(x) = 1 + ln(x / eps) for
# x >= eps: h is below its tangent at X_{t-1} (ln y <= y - 1, and h(0) = 0 is below it too), so
# E h(X_t) <= E h(X_{t-1}) - Delta P(tau > t - 1); sum over t.
# eta <= 1.8 mu eps / (beta s2) keeps Delta >= eta mu / 10 (and the subtraction exact to 80 roundings); the
# largest drift is at eta = mu eps / (beta s2). (1 - Delta)^T <= exp(-Delta T) gives the iterations at a confidence.


def drift(*, eta, mu, beta, s2, eps):
    """Delta = eta mu - eta^2 beta s2 / (2 eps)."""
    return eta * mu - eta**2 * beta * s2 / (2 * eps)


def hitting_conditions(*, eta, q, beta, mu, s2, eps, e0) -> Conditions:
    """The step limit, a drift of at least eta mu / 10, and a start above the precision."""
    return {
        **step_conditions(eta=eta, q=q, beta=beta, mu=mu),
        "noise floor eta beta s2 <= 1.8 mu eps": (eta * beta * s2, 1.8 * mu * eps),
        "start above the precision, eps <= e0": (eps, e0),
    }


_CONSTANT = "With a constant step eta <= min(q/beta, 1.8 mu eps/(beta s2)) and e_0 >= eps"
_GROWS = {"e0": 1, "s2": 1, "beta": 1}


@_record(
    key="adaptive/corollary-1-probability",
    title="Probability of not having reached the precision",
    statement=f"{_CONSTANT}: P(tau > T) is at most the bound.",
    quantity=Quantity.STILL_RUNNING,
    mode="probability",
    conditions=hitting_conditions,
    tight="The bound is tight if e_T = eps, without noise.",
    monotone=_GROWS,
)
def corollary_1_probability(*, eta, mu, beta, s2, eps, e0, T):
    """P(tau > T) <= (1 - Delta)^T e_0 / eps."""
    return survive(drift(eta=eta, mu=mu, beta=beta, s2=s2, eps=eps), T) * e0 / eps


@reduces_to(
    "adaptive/corollary-1-best-step",
    "at eta = min(q/beta, mu eps/(beta s2))",
    lambda *, mu, beta, q, s2, eps, **_: {"eta": np.minimum(q / beta, mu * eps / (beta * s2))},
)
@_record(
    key="adaptive/corollary-1-expected-time",
    title="Expected time to the precision",
    statement=f"{_CONSTANT}: E[tau] is at most the bound.",
    quantity=Quantity.HITTING_TIME,
    conditions=hitting_conditions,
    tight="The bound is tight if e_0 = eps, mu = beta and eta = 1/beta, without noise.",
    monotone=_GROWS,
)
def corollary_1_expected_time(*, eta, mu, beta, s2, eps, e0):
    """E[tau] <= (1 + ln(e_0 / eps)) / Delta."""
    return (1 + log(e0 / eps)) / drift(eta=eta, mu=mu, beta=beta, s2=s2, eps=eps)


@_record(
    key="adaptive/corollary-1-confidence",
    title="Iterations to the precision at a confidence",
    statement=f"{_CONSTANT}: P(tau > T) <= delta for every T at least the bound.",
    quantity=Quantity.ROUNDS,
    mode="probability",
    conditions=hitting_conditions,
    tight="The bound is tight if e_T = eps and eta mu is small, without noise.",
    monotone={**_GROWS, "delta": -1},
)
def corollary_1_confidence(*, eta, mu, beta, s2, eps, e0, delta):
    """ln(e_0 / (eps delta)) / Delta."""
    return log(up(e0 / (eps * delta))) / drift(eta=eta, mu=mu, beta=beta, s2=s2, eps=eps)


def best_step_conditions(*, mu, beta, eps, e0) -> Conditions:
    """A start above the precision; the step is within its limit by choice."""
    return {**curvature_conditions(mu=mu, beta=beta), "start above the precision, eps <= e0": (eps, e0)}


# At the best step, 1/eta = max(beta/q, beta s2/(mu eps)) and Delta = eta mu (1 - eta beta s2/(2 mu eps)), where the
# parenthesis is at least 1/2: E[tau] <= 2 max(beta/(q mu), beta s2/(mu^2 eps)) (1 + ln(e_0/eps)) follows.


@_record(
    key="adaptive/corollary-1-best-step",
    title="Expected time to the precision at the best step",
    quantity=Quantity.HITTING_TIME,
    conditions=best_step_conditions,
    tight="The bound is tight if e_0 = eps, mu = beta and q = 1, without noise.",
    monotone={**_GROWS, "q": -1, "eps": -1},
)
def corollary_1_best_step(*, mu, beta, q, s2, eps, e0):
    """With the constant step eta = min(q/beta, mu eps/(beta s2)) and e_0 >= eps: E[tau] is at most the bound, itself at
    most 2 max(beta/(q mu), beta s2/(mu^2 eps)) (1 + ln(e_0/eps)).

    (1 + ln(e_0 / eps)) / (eta mu (1 - eta beta s2 / (2 mu eps))), 1/eta = max(beta/q, beta s2/(mu eps))."""
    inverse = maximum(beta / q, beta * s2 / (mu * eps))
    return (1 + log(e0 / eps)) * inverse / (mu * spare(beta * s2 / (2 * mu * eps * inverse)))


THEOREMS = records(
    corollary_1_printed,
    corollary_1,
    corollary_1_decreasing_confidence,
    corollary_1_decreasing_confidence_sharp,
    corollary_1_probability,
    corollary_1_expected_time,
    corollary_1_confidence,
    corollary_1_best_step,
)
