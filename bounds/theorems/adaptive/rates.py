"""Theorem 2, stopped, and the hitting times of Corollary 1; derivations start from (*) of the package."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...elementary import fall, log, maximum, survive
from ...notation import Quantity
from ...theorem import Conditions, Theorem
from .paper import source

# --- Theorem 2, stopped ---------------------------------------------------------------------------------
#
# On {tau >= t} = {e_0, ..., e_{t-1} >= eps}, an event of F_{t-1}, Lemma 2 gives V_t <= s2. Put
# u_t = E[e_t 1{tau >= t}]. By (*), u_t <= (1 - eta_t mu) E[e_{t-1} 1{tau >= t}] + eta_t^2 beta s2 / 2,
# and {tau >= t} is contained in {tau >= t-1}, so u_t <= (1 - eta_t mu) u_{t-1} + eta_t^2 beta s2 / 2.


def recursion(*, eta: Any, mu: Any, beta: Any, e0: Any, s2: Any) -> Any:
    """B_0 = e_0, B_t = (1 - eta_t mu) B_{t-1} + eta_t^2 beta s2 / 2 for steps eta[T, ...]; returns B[T + 1, ...]."""
    eta = np.asarray(eta, dtype=float)
    level = np.broadcast_to(np.asarray(e0, dtype=float), np.broadcast_shapes(np.shape(e0), eta.shape[1:]))
    levels = [level]
    for step in eta:  # eight roundings at most in one step, made good upwards so that long horizons stay bounds
        levels.append((survive(step * mu, 1) * levels[-1] + step**2 * beta * s2 / 2) * (1 + 2.0**-50))
    return np.stack(levels)


def theorem_2_constant_printed(*, eta: Any, mu: Any, beta: Any, e0: Any, s2: Any, T: Any) -> Any:
    """Table 1, row 1, as printed."""
    return survive(eta * mu, T) * e0 + eta * beta / (2 * mu) * s2


def theorem_2_constant(*, eta: Any, mu: Any, beta: Any, e0: Any, s2: Any, T: Any) -> Any:
    """The recursion's closed form for a constant step: a geometric sum."""
    return survive(eta * mu, T) * e0 + eta * beta * s2 / (2 * mu) * fall(eta * mu, T)


# On {tau > T}, e_T >= eps and {tau > T} is contained in {tau >= T}: Markov.


def theorem_2_constant_running(*, eta: Any, mu: Any, beta: Any, e0: Any, s2: Any, T: Any, eps: Any) -> Any:
    """P(tau > T) <= B_T / eps."""
    return theorem_2_constant(eta=eta, mu=mu, beta=beta, e0=e0, s2=s2, T=T) / eps


# e_min(T, tau) = e_tau 1{tau < T} + e_T 1{tau >= T}, and e_tau < eps.


def theorem_2_constant_stopped(*, eta: Any, mu: Any, beta: Any, e0: Any, s2: Any, T: Any, eps: Any) -> Any:
    """E[e_min(T, tau)] <= eps + B_T."""
    return eps + theorem_2_constant(eta=eta, mu=mu, beta=beta, e0=e0, s2=s2, T=T)


# Horizon row: eta = min(q/beta, L/(mu T)), K = beta s2 / (2 mu^2 T), L = ln(e_0/K) > 0. eta <= L/(mu T) makes the
# noise term at most K L; the contraction is at most exp(-L) e_0 = K, or (1 - q mu/beta)^T e_0 when the limit binds.


def theorem_2_horizon_printed(*, mu: Any, beta: Any, e0: Any, s2: Any, T: Any) -> Any:
    """Table 1, row 2, as printed: K (1 + ln(e_0 / K))."""
    return beta * s2 / (2 * mu**2 * T) * (log(2 * T * mu**2 * e0 / (beta * s2)) + 1)


def theorem_2_horizon(*, mu: Any, beta: Any, q: Any, e0: Any, s2: Any, T: Any) -> Any:
    """max(K, (1 - q mu/beta)^T e_0) + K ln(e_0 / K)."""
    floor = beta * s2 / (2 * mu**2 * T)
    return maximum(floor, survive(q * mu / beta, T) * e0) + floor * log(e0 / floor)


def horizon_conditions_printed(*, mu: Any, beta: Any, q: Any, e0: Any, s2: Any, T: Any) -> Conditions:
    """The printed step within the limits that the text asks for."""
    step = log(2 * T * mu**2 * e0 / (beta * s2)) / (mu * T)
    return {"step size eta <= 1/mu": (step, 1 / mu), "step size eta <= q/beta": (step, q / beta)}


def horizon_conditions(*, mu: Any, beta: Any, e0: Any, s2: Any, T: Any) -> Conditions:
    """A start above the noise floor K; otherwise the best step of this row is 0 and its bound e_0."""
    return {
        "floor beta s2/(2 mu^2 T) <= e0": (beta * s2 / (2 * mu**2 * T), e0),
        "curvature mu <= beta": (mu, beta),
    }


# Decreasing row: eta_t = C/(mu (t + gamma)), n = t + gamma >= C, nu as below. If B_{t-1} <= nu/n then
# B_t <= nu (n - 1)/n^2 - [(C - 1) nu - C^2 beta s2/(2 mu^2)]/n^2 <= nu (n - 1)/n^2 <= nu/(n + 1).


def theorem_2_decreasing_printed(*, C: Any, mu: Any, beta: Any, e0: Any, s2: Any, T: Any) -> Any:
    """Table 1, row 3, as printed."""
    return maximum(beta * s2 * C**2 / (2 * mu**2 * (C - 1)), e0) / T


def theorem_2_decreasing(*, C: Any, gamma: Any, mu: Any, beta: Any, e0: Any, s2: Any, T: Any) -> Any:
    """nu / (gamma + T + 1), nu = max(C^2 beta s2 / (2 mu^2 (C - 1)), (gamma + 1) e_0)."""
    return maximum(C**2 * beta * s2 / (2 * mu**2 * (C - 1)), (gamma + 1) * e0) / (gamma + T + 1)


def decreasing_conditions_printed(*, C: Any, mu: Any, beta: Any, q: Any) -> Conditions:
    """The first step, C/mu, within the limit: impossible, since C > 1 >= q mu/beta."""
    return {"first step C/mu <= q/beta": (C / mu, q / beta), "curvature mu <= beta": (mu, beta)}


def decreasing_conditions(*, C: Any, gamma: Any, mu: Any, beta: Any, q: Any) -> Conditions:
    """The first step within the limit: gamma at least C beta/(mu q) - 1."""
    return {
        "first step C/(mu (1 + gamma)) <= q/beta": (C / (mu * (1 + gamma)), q / beta),
        "curvature mu <= beta": (mu, beta),
    }


def step_conditions(*, eta: Any, q: Any, beta: Any, mu: Any) -> Conditions:
    """eta <= q/beta makes eta beta sum_k alpha_k <= 1 at every step; mu <= beta always."""
    return {"step size eta <= q/beta": (eta, q / beta), "curvature mu <= beta": (mu, beta)}


def printed_step_conditions(*, eta: Any, q: Any, beta: Any, mu: Any) -> Conditions:
    """As printed: eta <= 1/mu in the table and eta <= (sigma_phi / sigma_psi)^2 / beta in the text."""
    return {"step size eta <= 1/mu": (eta, 1 / mu), **step_conditions(eta=eta, q=q, beta=beta, mu=mu)}


# --- Corollary 1: time to reach the precision -----------------------------------------------------------
#
# On {e_{t-1} >= eps}: s2 <= s2 e_{t-1} / eps, so (*) reads E[e_t | F] <= (1 - Delta) e_{t-1} with
# Delta = eta mu - eta^2 beta s2 / (2 eps). X_t = e_t 1{tau > t} hence satisfies E[X_t | F] <= (1 - Delta) X_{t-1}:
# P(tau > T) = P(X_T >= eps) <= (1 - Delta)^T e_0 / eps. For E[tau] use h(0) = 0, h(x) = 1 + ln(x / eps) for
# x >= eps: h is below its tangent at X_{t-1} (ln y <= y - 1, and h(0) = 0 is below it too), so
# E h(X_t) <= E h(X_{t-1}) - Delta P(tau > t - 1); sum over t.
# eta <= 1.8 mu eps / (beta s2) keeps Delta >= eta mu / 10 (and the subtraction exact to 80 roundings); the
# largest drift is at eta = mu eps / (beta s2).


def corollary_1_probability(*, eta: Any, mu: Any, beta: Any, s2: Any, eps: Any, e0: Any, T: Any) -> Any:
    """P(tau > T) <= (1 - Delta)^T e_0 / eps, Delta = eta mu - eta^2 beta s2 / (2 eps)."""
    return survive(eta * mu - eta**2 * beta * s2 / (2 * eps), T) * e0 / eps


def corollary_1_expected_time(*, eta: Any, mu: Any, beta: Any, s2: Any, eps: Any, e0: Any) -> Any:
    """E[tau] <= (1 + ln(e_0 / eps)) / Delta, Delta = eta mu - eta^2 beta s2 / (2 eps)."""
    return (1 + log(e0 / eps)) / (eta * mu - eta**2 * beta * s2 / (2 * eps))


def hitting_conditions(*, eta: Any, q: Any, beta: Any, mu: Any, s2: Any, eps: Any, e0: Any) -> Conditions:
    """The step limit, a drift of at least eta mu / 10, and a start above the precision."""
    return {
        **step_conditions(eta=eta, q=q, beta=beta, mu=mu),
        "noise floor eta beta s2 <= 1.8 mu eps": (eta * beta * s2, 1.8 * mu * eps),
        "start above the precision, eps <= e0": (eps, e0),
    }


_STANDING = (
    "R_i is beta-smooth and satisfies PL(mu) and Assumption 3; gradients are unbiased, of total variance at most "
    "sigma_k^2, uncorrelated across clients given the past; weights are those of Definition 1; s2 is the sufficient "
    "variance at eps and q a lower bound of 1 / sum_k alpha_k at every step before tau"
)

_MONOTONE = {"e0": 1, "s2": 1, "beta": 1}

THEOREMS: tuple[Theorem, ...] = (
    Theorem(
        key="adaptive/theorem-2-constant",
        edition="printed",
        title="Constant step size",
        source=source("Theorem 2, Table 1, row 1"),
        statement="If E[e_{T-1}] >= eps, then E[e_T] is at most the bound.",
        quantity=Quantity.EXCESS,
        direction="upper",
        mode="expectation",
        hypotheses=_STANDING,
        bound=theorem_2_constant_printed,
        conditions=printed_step_conditions,
        fault="the hypothesis is on the expectation, but collaboration stops on the paths below eps: "
        "the expectation of the sufficient variance is not the variance at the expectation",
        monotone=_MONOTONE,
    ),
    Theorem(
        key="adaptive/theorem-2-constant",
        edition="corrected",
        title="Constant step size, while running",
        source=source("Theorem 2, Table 1, row 1"),
        statement="With tau = min{t: e_t < eps}, weights of Definition 1 and a constant step eta <= q/beta: "
        "E[e_T 1{tau >= T}] is at most the bound.",
        quantity=Quantity.EXCESS_WHILE_RUNNING,
        direction="upper",
        mode="expectation",
        hypotheses=_STANDING,
        bound=theorem_2_constant,
        conditions=step_conditions,
        tight="one client with mu = beta at eta = 1/beta; noise-free contraction as the share w_i of client i "
        "vanishes beside one peer R_k = (1 - sqrt(1 - r)) R_i at eta = r/beta",
        monotone=_MONOTONE,
    ),
    Theorem(
        key="adaptive/theorem-2-constant-running",
        edition="corrected",
        title="Constant step size, probability of still running",
        source=source("Theorem 2, Table 1, row 1"),
        statement="Under the same hypotheses P(tau > T) is at most B_T / eps.",
        quantity=Quantity.STILL_RUNNING,
        direction="upper",
        mode="probability",
        hypotheses=_STANDING,
        bound=theorem_2_constant_running,
        conditions=step_conditions,
        tight="no noise and e_T = eps",
        monotone=_MONOTONE | {"eps": -1},
    ),
    Theorem(
        key="adaptive/theorem-2-constant-stopped",
        edition="corrected",
        title="Constant step size, stopped at the precision",
        source=source("Theorem 2, Table 1, row 1"),
        statement="Under the same hypotheses E[e_min(T, tau)] is at most eps + B_T.",
        quantity=Quantity.STOPPED_EXCESS,
        direction="upper",
        mode="expectation",
        hypotheses=_STANDING,
        bound=theorem_2_constant_stopped,
        conditions=step_conditions,
        tight="in each of its two terms, not in their sum",
        monotone=_MONOTONE | {"eps": 1},
    ),
    Theorem(
        key="adaptive/theorem-2-horizon",
        edition="printed",
        title="Step size for a horizon",
        source=source("Theorem 2, Table 1, row 2"),
        statement="If E[e_{T-1}] >= eps, then E[e_T] is at most the bound at eta = ln(e_0/K)/(mu T), "
        "K = beta s2/(2 mu^2 T).",
        quantity=Quantity.EXCESS,
        direction="upper",
        mode="expectation",
        hypotheses=_STANDING,
        bound=theorem_2_horizon_printed,
        conditions=horizon_conditions_printed,
        fault="conditioned on an expectation, as row 1; and eta and the bound are negative when e_0 < K",
        monotone={"e0": 1},
    ),
    Theorem(
        key="adaptive/theorem-2-horizon",
        edition="corrected",
        title="Step size for a horizon, while running",
        source=source("Theorem 2, Table 1, row 2"),
        statement="At eta = min(q/beta, ln(e_0/K)/(mu T)), K = beta s2/(2 mu^2 T) < e_0: E[e_T 1{tau >= T}] is at "
        "most the bound.",
        quantity=Quantity.EXCESS_WHILE_RUNNING,
        direction="upper",
        mode="expectation",
        hypotheses=_STANDING,
        bound=theorem_2_horizon,
        conditions=horizon_conditions,
        tight="the limit binds and noise is negligible; many peers of small similarity and eta mu small",
        monotone={"e0": 1},
    ),
    Theorem(
        key="adaptive/theorem-2-decreasing",
        edition="printed",
        title="Decreasing step size",
        source=source("Theorem 2, Table 1, row 3"),
        statement="With eta_t = C/(mu t), C > 1: if E[e_{T-1}] >= eps, then E[e_T] is at most the bound.",
        quantity=Quantity.EXCESS,
        direction="upper",
        mode="expectation",
        hypotheses=_STANDING,
        bound=theorem_2_decreasing_printed,
        conditions=decreasing_conditions_printed,
        fault="no first step meets eta_1 <= q/beta: C/mu > 1/mu >= 1/beta",
        monotone={"e0": 1, "s2": 1},
    ),
    Theorem(
        key="adaptive/theorem-2-decreasing",
        edition="corrected",
        title="Decreasing step size, while running",
        source=source("Theorem 2, Table 1, row 3"),
        statement="With eta_t = C/(mu (t + gamma)), C > 1 and gamma >= C beta/(mu q) - 1: E[e_T 1{tau >= T}] is at "
        "most the bound.",
        quantity=Quantity.EXCESS_WHILE_RUNNING,
        direction="upper",
        mode="expectation",
        hypotheses=_STANDING,
        bound=theorem_2_decreasing,
        conditions=decreasing_conditions,
        tight="noise: T large; start: C near 1 and gamma large",
        monotone={"e0": 1, "s2": 1},
    ),
    Theorem(
        key="adaptive/corollary-1-probability",
        edition="corrected",
        title="Probability of not having reached the precision",
        source=source("Corollary 1"),
        statement="With a constant step eta <= min(q/beta, 1.8 mu eps/(beta s2)) and e_0 >= eps: "
        "P(tau > T) is at most the bound.",
        quantity=Quantity.STILL_RUNNING,
        direction="upper",
        mode="probability",
        hypotheses=_STANDING,
        bound=corollary_1_probability,
        conditions=hitting_conditions,
        tight="no noise and e_T = eps",
        monotone={"e0": 1, "s2": 1, "beta": 1},
    ),
    Theorem(
        key="adaptive/corollary-1-expected-time",
        edition="corrected",
        title="Expected time to the precision",
        source=source("Corollary 1"),
        statement="With a constant step eta <= min(q/beta, 1.8 mu eps/(beta s2)) and e_0 >= eps: "
        "E[tau] is at most the bound.",
        quantity=Quantity.HITTING_TIME,
        direction="upper",
        mode="expectation",
        hypotheses=_STANDING,
        bound=corollary_1_expected_time,
        conditions=hitting_conditions,
        tight="e_0 = eps, no noise, mu = beta, eta = 1/beta",
        monotone={"e0": 1, "s2": 1, "beta": 1},
    ),
)
