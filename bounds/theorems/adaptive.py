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

from typing import Any

import numpy as np

from ..cluster import best_threshold, combined_variance
from ..elementary import fall, log, maximum, spare, survive
from ..notation import DIMENSIONLESS, GRADIENT_SQUARED, Quantity
from ..theorem import Conditions, Definition, Source, Theorem

_PAPER = "Philippenko, Le Bars, Scaman, Massoulie (2025)"


def _source(locator: str) -> Source:
    return Source(paper=_PAPER, locator=locator)


# --- Property 1: heterogeneity of quadratics R_i(theta) = (theta + xi_i)^T A_i (theta + xi_i) -------------
#
# grad R_i = 2 A_i (theta + xi_i) has the factor 2 because the loss has no 1/2. With g = grad R_i,
#     grad R_k - g = -(I - A_k A_i^{-1}) g - 2 A_k (xi_i - xi_k),
# and |u + v|^2 <= 2 |u|^2 + 2 |v|^2 gives 2 |M|^2 |g|^2 + 8 |A_k (xi_i - xi_k)|^2.
# The print forgets the 2 of the gradient: sqrt(2) for 2 sqrt(2).


def property_1_printed(*, shift: Any, distortion: Any, gradient: Any) -> Any:
    """b^2 + c |grad R_i|^2 with b = sqrt(2) |A_k (xi_i - xi_k)|, c = 2 |I - A_k A_i^{-1}|^2."""
    return 2 * shift**2 + 2 * distortion**2 * gradient**2


def property_1(*, shift: Any, distortion: Any, gradient: Any) -> Any:
    """b^2 + c |grad R_i|^2 with b = 2 sqrt(2) |A_k (xi_i - xi_k)|, c = 2 |I - A_k A_i^{-1}|^2."""
    return 8 * shift**2 + 2 * distortion**2 * gradient**2


# --- Lemma 2: similarity above a precision --------------------------------------------------------------
#
# PL and e >= eps give |grad R_i|^2 >= 2 mu eps; divide Assumption 3 by |grad R_i|^2:
#     1 - |grad R_k - grad R_i|^2 / |grad R_i|^2 >= 1 - b^2 / (2 mu eps) - c.
# The print divides b, not b^2: gradient units against loss units squared.


def lemma_2_printed(*, b: Any, c: Any, mu: Any, eps: Any) -> Any:
    """(1 - b / (2 mu eps) - c)_+."""
    return maximum(0, spare(b / (2 * mu * eps), c))


def lemma_2(*, b: Any, c: Any, mu: Any, eps: Any) -> Any:
    """(1 - b^2 / (2 mu eps) - c)_+."""
    return maximum(0, spare(b**2 / (2 * mu * eps), c))


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


_QUADRATICS = "A_i and A_k symmetric positive definite"
_PL = "R_i satisfies PL(mu) and, with peer k, Assumption 3 (b, c)"
_STANDING = (
    "R_i is beta-smooth and satisfies PL(mu) and Assumption 3; gradients are unbiased, of total variance at most "
    "sigma_k^2, uncorrelated across clients given the past; weights are those of Definition 1; s2 is the sufficient "
    "variance at eps and q a lower bound of 1 / sum_k alpha_k at every step before tau"
)

_MONOTONE = {"e0": 1, "s2": 1, "beta": 1}

THEOREMS: tuple[Theorem, ...] = (
    Theorem(
        key="adaptive/property-1",
        edition="printed",
        title="Heterogeneity of quadratics",
        source=_source("Property 1"),
        statement="For R_i(theta) = (theta + xi_i)^T A_i (theta + xi_i), Assumption 3 holds with "
        "b = sqrt(2) |A_k (xi_i - xi_k)| and c = 2 |I - A_k A_i^-1|^2.",
        quantity=Quantity.GRADIENT_GAP,
        direction="upper",
        mode="sure",
        hypotheses=_QUADRATICS,
        bound=property_1_printed,
        fault="b is half of what is needed: the loss has no 1/2, so its gradient carries a factor 2",
        monotone={"shift": 1, "distortion": 1, "gradient": 1},
    ),
    Theorem(
        key="adaptive/property-1",
        edition="corrected",
        title="Heterogeneity of quadratics",
        source=_source("Property 1"),
        statement="For R_i(theta) = (theta + xi_i)^T A_i (theta + xi_i) with A_i symmetric positive definite, "
        "Assumption 3 holds with b = 2 sqrt(2) |A_k (xi_i - xi_k)| and c = 2 |I - A_k A_i^-1|^2.",
        quantity=Quantity.GRADIENT_GAP,
        direction="upper",
        mode="sure",
        hypotheses=_QUADRATICS,
        bound=property_1,
        tight="where (I - A_k A_i^-1) grad R_i = 2 A_k (xi_i - xi_k), along the top singular direction",
        monotone={"shift": 1, "distortion": 1, "gradient": 1},
    ),
    Theorem(
        key="adaptive/lemma-2",
        edition="printed",
        title="Similarity above a precision",
        source=_source("Definition 2 and Lemma 2"),
        statement="While the excess loss is at least eps, r_k >= (1 - b/(2 mu eps) - c)_+.",
        quantity=Quantity.SIMILARITY,
        direction="lower",
        mode="sure",
        hypotheses=_PL,
        bound=lemma_2_printed,
        fault="b stands where b^2 is needed: the term is not dimensionless",
        monotone={"b": -1, "c": -1, "mu": 1, "eps": 1},
    ),
    Theorem(
        key="adaptive/lemma-2",
        edition="corrected",
        title="Similarity above a precision",
        source=_source("Definition 2 and Lemma 2"),
        statement="Under PL and Assumption 3, at every theta with R_i(theta) - min R_i >= eps: "
        "r_k >= (1 - b^2/(2 mu eps) - c)_+.",
        quantity=Quantity.SIMILARITY,
        direction="lower",
        mode="sure",
        hypotheses=_PL,
        bound=lemma_2,
        tight="mu = beta, b attained, R_i(theta) - min R_i = eps",
        monotone={"b": -1, "c": -1, "mu": 1, "eps": 1},
    ),
    Theorem(
        key="adaptive/theorem-2-constant",
        edition="printed",
        title="Constant step size",
        source=_source("Theorem 2, Table 1, row 1"),
        statement="If E[e_{T-1}] >= eps, then E[e_T] is at most the bound.",
        quantity=Quantity.EXCESS,
        direction="upper",
        mode="expectation",
        hypotheses=_STANDING,
        bound=theorem_2_constant_printed,
        conditions=printed_step_conditions,
        fault="the hypothesis is on the expectation, but collaboration stops on the paths below eps: "
        "the expectation of the sufficient variance is not the variance at the expectation",
        monotone=_MONOTONE,  # type: ignore[arg-type]
    ),
    Theorem(
        key="adaptive/theorem-2-constant",
        edition="corrected",
        title="Constant step size, while running",
        source=_source("Theorem 2, Table 1, row 1"),
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
        monotone=_MONOTONE,  # type: ignore[arg-type]
    ),
    Theorem(
        key="adaptive/theorem-2-constant-running",
        edition="corrected",
        title="Constant step size, probability of still running",
        source=_source("Theorem 2, Table 1, row 1"),
        statement="Under the same hypotheses P(tau > T) is at most B_T / eps.",
        quantity=Quantity.STILL_RUNNING,
        direction="upper",
        mode="probability",
        hypotheses=_STANDING,
        bound=theorem_2_constant_running,
        conditions=step_conditions,
        tight="no noise and e_T = eps",
        monotone=_MONOTONE | {"eps": -1},  # type: ignore[arg-type]
    ),
    Theorem(
        key="adaptive/theorem-2-constant-stopped",
        edition="corrected",
        title="Constant step size, stopped at the precision",
        source=_source("Theorem 2, Table 1, row 1"),
        statement="Under the same hypotheses E[e_min(T, tau)] is at most eps + B_T.",
        quantity=Quantity.STOPPED_EXCESS,
        direction="upper",
        mode="expectation",
        hypotheses=_STANDING,
        bound=theorem_2_constant_stopped,
        conditions=step_conditions,
        tight="in each of its two terms, not in their sum",
        monotone=_MONOTONE | {"eps": 1},  # type: ignore[arg-type]
    ),
    Theorem(
        key="adaptive/corollary-1-probability",
        edition="corrected",
        title="Probability of not having reached the precision",
        source=_source("Corollary 1"),
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
        source=_source("Corollary 1"),
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

DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        key="adaptive/definition-1-variance",
        edition="corrected",
        title="Variance of a criterion",
        source=_source("Definition 1; at f = psi(rho) the sufficient variance of Definition 2"),
        latex=r"\sigma_f^2 = \Big(\sum_k \sigma_k^{-2} f(r_k)\Big)^{-1}",
        unit=GRADIENT_SQUARED,
        vectors={"values": DIMENSIONLESS, "sigma2": GRADIENT_SQUARED},
        reduce=combined_variance,
    ),
    Definition(
        key="adaptive/definition-3-threshold",
        edition="corrected",
        title="Binary threshold of least sufficient variance",
        source=_source("Definition 3, sharpened"),
        latex=r"\lambda^* = r_{(j^*)},\quad j^* = \arg\max_j r_{(j)}\sum_{l\le j}\sigma_{(l)}^{-2} r_{(l)}",
        unit=DIMENSIONLESS,
        vectors={"similarity": DIMENSIONLESS, "sigma2": GRADIENT_SQUARED},
        reduce=best_threshold,
    ),
)
