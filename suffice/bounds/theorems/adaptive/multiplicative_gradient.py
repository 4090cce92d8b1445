"""The rest of Theorem 3 with noise that grows with the gradient: not stopped, and the time to a small gradient.

On {tau_G >= t}, with eta beta Q <= kappa, `lemma_1_multiplicative` and V_t <= s2 give
    (1 - kappa) (eta/2) sum_{t <= T} E[|grad R_i(theta_{t-1})|^2 1{tau_G >= t}]
        <= e_0 + (eta^2 beta s2/2) E[min(tau_G, T)].
Each expectation on the left is at least G P(tau_G >= t): ((1 - kappa) G - eta beta s2) E[min(tau_G, T)] is at most
2 e_0/eta, the additive inequality at (1 - kappa) G. Not stopped, the whole sum is divided by 1 - kappa.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...elementary import spare
from ...theorem import Conditions, Reduction, Theorem
from . import theorem_3
from .paper import source
from .theorem_2 import keywords

Function = Callable[..., Any]
_NOISE = (
    "R_i is beta-smooth, bounded below, and satisfies Assumption 3; gradients are unbiased, Var[g_k] <= sigma_k^2 + "
    "M_k |grad R_k|^2, uncorrelated across clients given the past; weights are those of Definition 1 with reference "
    "variances s_k^2 >= sigma_k^2, s_k > 0; s2 is the sufficient variance of the s_k^2 at the level G; q is a lower "
    "bound of 1/sum_k alpha_k and Q a bound of sum_k alpha_k^2 M_k (1 + sqrt(1 - r_k))^2"
)
STOPPED = f"{_NOISE}, both at every step before tau_G"
ALWAYS = (
    f"{_NOISE}, V_max a bound of sum_k alpha_k^2 s_k^2 at every model and p a bound of P(|grad "
    f"R_i(theta_{{t-1}})|^2 < G), "
    "all at every step t <= T"
)


def at_lower_level(row: Function) -> Function:
    """A bound at (1 - kappa) G."""

    def bound(*, G, split, **values):
        return row(G=spare(split) * G, **values)

    return keywords(bound, row, "split")


def over_the_rest(row: Function) -> Function:
    """A bound over 1 - kappa."""

    def bound(*, split, **values):
        return row(**values) / spare(split)

    return keywords(bound, row, "split")


def grown_hitting(*, eta, q, beta, s2, G, Q, split) -> Conditions:
    """The limits of the step, and a noise floor at a safe distance below what is left of the level."""
    return {
        "step size eta <= q/beta": (eta, q / beta),
        "noise floor eta beta s2 <= 0.9 (1 - split) G": (eta * beta * s2, 0.9 * (1 - split) * G),
        "multiplicative noise eta beta Q <= split": (eta * beta * Q, split),
    }


def grown_best_step(*, q, Q, split) -> Conditions:
    """q within the limit of the noise that grows."""
    return {"multiplicative noise q Q <= split": (q * Q, split)}


def grown_step(*, eta, q, beta, T, Q, split) -> Conditions:
    """Both limits of the step, and an average of T gradients."""
    return {
        **theorem_3.step_conditions(eta=eta, q=q, beta=beta, T=T),
        "multiplicative noise eta beta Q <= split": (eta * beta * Q, split),
    }


_ROWS: dict[str, tuple[Function, Function, str]] = {
    "adaptive/theorem-3-unconditional": (
        over_the_rest,
        grown_step,
        "With a constant step eta <= min(q/beta, kappa/(beta Q)), the mean over t <= T of E[|grad "
        "R_i(theta_{t-1})|^2] is "
        "at most (2 e_0/(eta T) + eta beta (s2 + (V_max - s2)_+ p))/(1 - kappa).",
    ),
    "adaptive/theorem-3-hitting-time": (
        at_lower_level,
        grown_hitting,
        "With tau_G = min{t: |grad R_i(theta_t)|^2 < G} and a constant step eta <= min(q/beta, kappa/(beta Q), "
        "0.9 (1 - kappa) G/(beta s2)): E[tau_G] <= 2 e_0/(eta ((1 - kappa) G - eta beta s2)).",
    ),
    "adaptive/theorem-3-best-step": (
        at_lower_level,
        grown_best_step,
        "With tau_G = min{t: |grad R_i(theta_t)|^2 < G}, q Q <= kappa and the constant step eta = min(q/beta, "
        "(1 - kappa) G/(2 beta s2)): E[tau_G] is at most the bound of theorem-3-best-step at (1 - kappa) G.",
    ),
}


def with_growing_noise(theorem: Theorem) -> Theorem:
    """The record on noise that grows with the gradient."""
    change, conditions, statement = _ROWS[theorem.key]
    assert theorem.bound is not None
    return replace(
        theorem,
        key=key(theorem.key),
        title=f"{theorem.title}, multiplicative noise",
        source=source("Theorem 3 without Assumption 2"),
        statement=statement,
        hypotheses=ALWAYS if theorem.key.endswith("unconditional") else STOPPED,
        bound=change(theorem.bound),
        conditions=conditions,
        tight="The bound is tight where it is without multiplicative noise, and where half of a client's noise is said "
        "to grow with its gradient, which does not change until the client stops.",
        reduces_to=(
            Reduction(
                key=theorem.key,
                when="without multiplicative noise, Q = kappa = 0",
                at=lambda **_: {"Q": 0.0, "split": 0.0},
            ),
        ),
    )


def key(additive_key: str) -> str:
    """theorem-3-hitting-time -> theorem-3-multiplicative-hitting-time."""
    return additive_key.replace("theorem-3-", "theorem-3-multiplicative-")


THEOREMS: tuple[Theorem, ...] = tuple(with_growing_noise(each) for each in theorem_3.THEOREMS if each.key in _ROWS)
