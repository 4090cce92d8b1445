"""Theorem 2 and Corollary 1 with noise that grows with the gradient: every row, stopped, running, hitting time.

With Var[g_k] <= sigma_k^2 + M_k |grad R_k|^2 and eta_t beta Q <= kappa, Lemma 1 reads (`multiplicative_noise`)
    E[e_t | F_{t-1}] <= (1 - (1 - kappa) eta_t mu) e_{t-1} + eta_t^2 beta V_t / 2,   V_t = sum_k alpha_k^2 sigma_k^2,
which is (*) of the package with mu' = (1 - kappa) mu for mu. All that Theorem 2 and Corollary 1 use is (*) on
{tau >= t} and V_t <= s2 there, which Lemma 2 gives with the true mu in rho_k and the weights' reference variances s_k^2
for sigma_k^2 <= s_k^2 in s2: so every row and every reading of it holds with mu' for mu, as long as its largest step
keeps eta beta Q <= kappa. Q is needed on {tau >= t} alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ...elementary import minimum, times_log_ratio
from ...step_size_condition import step_conditions
from ...theorem import Conditions, Reduction, Theorem
from . import corollary_1, theorem_2
from .paper import source
from .theorem_2 import curvature_conditions, keywords, with_local_variance

Function = Callable[..., Any]


def contracting(row: Function) -> Function:
    """A bound at (1 - kappa) mu."""

    def bound(*, mu, split, **values):
        return row(mu=(1 - split) * mu, **values)

    return keywords(bound, row, "split")


def grown_step(*, eta, q, beta, mu, Q, split) -> Conditions:
    """Both limits of a constant step: for the descent, and for the noise that grows with the gradient."""
    return {
        **step_conditions(eta=eta, q=q, beta=beta, mu=mu),
        "multiplicative noise eta beta Q <= split": (eta * beta * Q, split),
    }


def grown_horizon(*, mu, beta, q, e0, s2, T, Q, split) -> Conditions:
    """A step at all, a start above the noise floor K = beta s2/(2 mu'^2 T), and the row's own step within the limit."""
    left = (1 - split) * mu
    logarithm = times_log_ratio(1.0, 2 * left**2 * T * e0, beta * s2)
    return {
        "iterations 1 <= T": (1, T),
        "floor beta s2 <= 2 ((1 - split) mu)^2 T e0": (beta * s2, 2 * left**2 * T * e0),
        **curvature_conditions(mu=mu, beta=beta),
        "multiplicative noise min(q (1 - split) mu T, beta ln(e0/K)) Q <= split (1 - split) mu T": (
            minimum(q * left * T, beta * logarithm) * Q,
            split * left * T,
        ),
    }


def grown_first_step(*, C, gamma, mu, beta, q, Q, split) -> Conditions:
    """The first step C/((1 - kappa) mu (1 + gamma)) within both limits."""
    left = (1 - split) * mu
    return {
        "first step C beta <= (1 - split) mu (1 + gamma) q": (C * beta, left * (1 + gamma) * q),
        **curvature_conditions(mu=mu, beta=beta),
        "multiplicative noise C beta Q <= split (1 - split) mu (1 + gamma)": (C * beta * Q, split * left * (1 + gamma)),
    }


def grown_hitting(*, eta, q, beta, mu, s2, eps, e0, Q, split) -> Conditions:
    """The step's limits, a drift of at least a tenth of (1 - kappa) eta mu, and a start above the precision."""
    return {
        **grown_step(eta=eta, q=q, beta=beta, mu=mu, Q=Q, split=split),
        "noise floor eta beta s2 <= 1.8 (1 - split) mu eps": (eta * beta * s2, 1.8 * (1 - split) * mu * eps),
        "start above the precision, eps <= e0": (eps, e0),
    }


def grown_best_step(*, mu, beta, q, eps, e0, Q, split) -> Conditions:
    """A start above the precision, and q within the limit of the noise that grows."""
    return {
        **corollary_1.best_step_conditions(mu=mu, beta=beta, eps=eps, e0=e0),
        "multiplicative noise q Q <= split": (q * Q, split),
    }


_CONDITIONS: Mapping[Function, Function] = {
    theorem_2.horizon_conditions: grown_horizon,
    theorem_2.decreasing_conditions: grown_first_step,
    step_conditions: grown_step,
    corollary_1.hitting_conditions: grown_hitting,
    corollary_1.best_step_conditions: grown_best_step,
}
_NOISE = (
    "R_i is beta-smooth and satisfies PL(mu) and Assumption 3; gradients are unbiased, Var[g_k] <= sigma_k^2 + M_k "
    "|grad R_k|^2, uncorrelated across clients given the past; weights are those of Definition 1 with reference "
    "variances s_k^2 >= sigma_k^2, s_k > 0; s2 is the sufficient variance of the s_k^2 at eps; q is a lower bound of "
    "1/sum_k alpha_k and Q a bound of sum_k alpha_k^2 M_k (1 + sqrt(1 - r_k))^2"
)
GROWING = f"{_NOISE}, both at every step before tau"
ALWAYS_GROWING = (
    f"{_NOISE}, V_max a bound of sum_k alpha_k^2 s_k^2 at every model and p a bound of P(e_{{t-1}} < eps), all at "
    "every step t <= T"
)
_PLACES = {"adaptive/theorem-2": "Theorem 2 without Assumption 2", "adaptive/corollary-1": "Corollary 1 without "
           "Assumption 2"}  # fmt: skip
LEFT_OUT = ("-gradient-running", "-offset", "-best")
"""What is about the gradient's level, about step sizes alone, or has a step of its own."""


def additive(theorem: Theorem) -> bool:
    """Whether a record on additive noise has one here."""
    return theorem.guarantee and not theorem.key.removesuffix("-best-step").endswith(LEFT_OUT)


def key(additive_key: str) -> str:
    """theorem-2-constant -> theorem-2-multiplicative-constant."""
    result = next(each for each in _PLACES if additive_key.startswith(each))
    return f"{result}-multiplicative{additive_key.removeprefix(result)}"


def with_growing_noise(theorem: Theorem) -> Theorem:
    """The record on noise that grows with the gradient."""
    assert theorem.bound is not None
    unstopped = theorem.key.endswith("-unconditional")
    if unstopped and theorem.conditions not in _CONDITIONS:
        conditions = with_local_variance(grown_horizon)
    else:
        conditions = _CONDITIONS[theorem.conditions]
    place = next(text for result, text in _PLACES.items() if theorem.key.startswith(result))
    row = theorem.source.locator.partition(", ")[2]
    sharper = theorem.superseded_by and replace(theorem.superseded_by, key=key(theorem.superseded_by.key))
    return replace(
        theorem,
        key=key(theorem.key),
        title=f"{theorem.title}, multiplicative noise",
        source=source(f"{place}, {row}" if row else place),
        statement="With mu' = (1 - kappa) mu in the place of mu, also in the steps, and steps of at most "
        f"kappa/(beta Q), this holds. {theorem.statement}",
        hypotheses=ALWAYS_GROWING if unstopped else GROWING,
        bound=contracting(theorem.bound),
        conditions=conditions,
        superseded_by=sharper,
        tight="The bound is tight where it is without multiplicative noise; where that noise replaces what is gained, "
        "for mu = beta and identical clients (or one) at the largest step with Q = kappa/q; and where a client's own "
        "noise grows beside peers of small similarity.",
        reduces_to=(
            Reduction(
                key=theorem.key,
                when="without multiplicative noise, Q = kappa = 0",
                at=lambda **_: {"Q": 0.0, "split": 0.0},
            ),
        ),
    )


THEOREMS: tuple[Theorem, ...] = tuple(
    with_growing_noise(theorem) for theorem in (*theorem_2.THEOREMS, *corollary_1.THEOREMS) if additive(theorem)
)
