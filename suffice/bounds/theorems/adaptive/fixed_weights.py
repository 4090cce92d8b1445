"""Fixed weights on data: noise that grows with the gradient, of every peer, through the similarity constants alone."""

from __future__ import annotations

import numpy as np

from ...elementary import fall, sqrt, survive
from ...quantities import Quantity
from ...step_size_condition import step_conditions
from ...theorem import Definition, records, reduces_to, theorem
from ...units import GRADIENT_SQUARED
from .paper import source

# --- A peer's noise at client i's model ---------------------------------------------------------------------------

_NOISE = "Var[g_k] <= floor_k + M_k |grad R_k|^2"
_PAIR = {"sigma2": r"s_k", "noise_factor": "M_k"}

# Var[g_k] <= floor_k + M_k |grad R_k|^2 and |grad R_k| <= |grad R_i| + |grad R_k - grad R_i|, the last at most
# sqrt(b^2 + c |grad R_i|^2) by Assumption 3. For any s > 0, (u + v)^2 <= (1 + s) u^2 + (1 + 1/s) v^2 makes it
#     Var[g_k] <= floor_k + M_k (1 + 1/s) b^2 + M_k (1 + s + c + c/s) |grad R_i|^2,
# with equality at s = v/u: these are all the affine bounds in |grad R_i|^2 that are not above another one.


@theorem(
    key="adaptive/peer-noise",
    title="Noise of a peer at client i's model",
    source=source("Assumption 3, with noise that grows", **_PAIR),
    quantity=Quantity.GRADIENT_VARIANCE,
    mode="sure",
    hypotheses=f"{_NOISE} (rows of data have such constants); with the peer, R_i satisfies Assumption 3 (b, c)",
    tight="The bound is tight if grad R_k - grad R_i is along grad R_i, and b and c are attained.",
    monotone={"sigma2": 1, "noise_factor": 1, "b": 1, "c": 1, "gradient": 1},
)
def peer_noise(*, sigma2, noise_factor, b, c, gradient):
    """Var[g_k(theta)] <= floor_k + M_k (|grad R_i| + sqrt(b^2 + c |grad R_i|^2))^2, sigma2 the floor; for any s > 0 at
    most floor_k + M_k (1 + 1/s) b^2 + M_k (1 + s + c + c/s) |grad R_i|^2."""
    return sigma2 + noise_factor * (gradient + sqrt(b**2 + c * gradient**2)) ** 2


def _over(x, s):
    """x/s, 0 where x is 0: client i itself has b = c = 0 and may have s = 0."""
    with np.errstate(all="ignore"):
        return np.where(np.equal(x, 0), 0.0, np.divide(x, s))


def noise_of_weights(*, weights, floor, factor, b, s):
    """V = sum_k w_k^2 (floor_k + M_k (b_k^2 + b_k^2/s_k))."""
    return (weights**2 * (floor + factor * (b**2 + _over(b**2, s)))).sum(-1)


def growth_of_weights(*, weights, factor, c, s):
    """Q = sum_k w_k^2 M_k (1 + s_k + c_k + c_k/s_k)."""
    return (weights**2 * factor * (1 + s + c + _over(c, s))).sum(-1)


# --- A run with fixed weights -------------------------------------------------------------------------------------
#
# Weights w_k >= 0 of sum 1 and a step eta <= 1/beta. The first form of Lemma 1 with A = 1, Jensen and Assumption 3:
#     E[e_t | F] <= e - (eta/2) |grad R_i|^2 + (eta/2) sum_k w_k (b_k^2 + c_k |grad R_i|^2)
#                   + (eta^2 beta/2)(V + Q |grad R_i|^2),
# with V and Q as above. With eta beta Q <= kappa, B^2 = sum w_k b_k^2, c = sum w_k c_k and PL, as c + kappa < 1,
#     E[e_t | F] <= (1 - eta mu (1 - c - kappa)) e + (eta/2) (B^2 + eta beta V).
# Nothing here is random but e_t: the bound needs no stopping.


@reduces_to(
    "adaptive/theorem-1-multiplicative",
    "for peers that are similar without a gap, b = c = 0",
    lambda **_: {"bias2": 0.0, "c": 0.0},
)
@theorem(
    key="adaptive/theorem-1-fixed-weights",
    title="Excess after T steps with fixed weights, multiplicative noise",
    source=source("Theorem 1 without Assumption 2, weights that sum to 1", bias2=r"B^2", c=r"\bar c"),
    quantity=Quantity.EXCESS,
    hypotheses=f"R_i is beta-smooth and satisfies PL(mu) and Assumption 3; gradients are unbiased, {_NOISE}, "
    "uncorrelated across clients given the past",
    # Both limits of the step, and a descent that dissimilarity and noise leave something of.
    conditions=lambda *, eta, beta, mu, c, Q, split: {
        "step size eta <= 1/beta": step_conditions(eta=eta, q=1, beta=beta, mu=mu)["step size eta <= q/beta"],
        "curvature mu <= beta": (mu, beta),
        "multiplicative noise eta beta Q <= split": (eta * beta * Q, split),
        "descent c + split <= 0.99": (c + split, 0.99),
    },
    tight="The bound is tight if mu = beta and eta = 1/beta, for the noise of identical clients, or for one peer (1 - "
    "sqrt(c)) grad R_i + b alone.",
    monotone={"e0": 1, "V": 1, "bias2": 1, "c": 1, "beta": 1, "split": 1},
)
def theorem_1_fixed_weights(*, eta, mu, beta, e0, bias2, c, V, T, split):
    """With fixed weights w_k >= 0 of sum 1, bias2 = sum_k w_k b_k^2, c = sum_k w_k c_k, V = sum_k w_k^2 (floor_k + M_k
    (1 + 1/s_k) b_k^2), Q = sum_k w_k^2 M_k (1 + s_k + c_k + c_k/s_k) for any s_k > 0 (of client i floor_i and M_i) and
    a constant step eta <= min(1, kappa/Q)/beta: E[e_T] is at most the bound, stopped or not.

    (1 - x)^T e_0 + (B^2 + eta beta V)/(2 mu (1 - c - kappa)) (1 - (1 - x)^T), x = eta mu (1 - c - kappa)."""
    mu = (1 - c - split) * mu
    return survive(eta * mu, T) * e0 + (bias2 + eta * beta * V) / (2 * mu) * fall(eta * mu, T)


# --- Q of the weights of Definition 1 before the precision ----------------------------------------------------------
#
# Continuous weights, a_k = 1/s_k^2, r_k >= rho_k, r_i = 1: Q = sum_k a_k^2 M_k h(r_k)^2 / (sum_k a_k r_k^2)^2 with
# h(r) = r (1 + sqrt(1 - r)). With y = sqrt(1 - r), h = (1 - y^2)(1 + y) grows up to y = 1/3 and falls beyond: on
# [rho, 1] it is at most h(max(rho, 8/9)). The denominator is least at rho. For n alike clients this is M/n.


def running_total(*, similarity, sigma2, factor):
    """sum_k a_k^2 M_k h(max(rho_k, 8/9))^2 / (sum_k a_k rho_k^2)^2, client i first; h(1) = 1."""
    highest = np.maximum(similarity, 8 / 9)
    peak = np.where(np.equal(similarity, 1), 1.0, highest * (1 + np.sqrt(1 - highest)))
    return (factor * (peak / sigma2) ** 2).sum(-1) / (similarity**2 / sigma2).sum(-1) ** 2


THEOREMS = records(peer_noise, theorem_1_fixed_weights)

DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        key="adaptive/fixed-weights-noise",
        title="Noise of weighted gradients that does not grow with client i's own",
        source=source("Assumption 3, with noise that grows"),
        latex=r"V = \sum_k w_k^2 \big(s_k + M_k (1 + 1/\tau_k) b_{ik}^2\big)",
        unit=GRADIENT_SQUARED,
        units={"floor": GRADIENT_SQUARED},
        reduce=noise_of_weights,
    ),
    Definition(
        key="adaptive/fixed-weights-growth",
        title="Growth of the noise of weighted gradients with client i's own",
        source=source("Assumption 3, with noise that grows"),
        latex=r"Q = \sum_k w_k^2 M_k \big(1 + \tau_k + c_{ik} + c_{ik}/\tau_k\big)",
        reduce=growth_of_weights,
    ),
    Definition(
        key="adaptive/multiplicative-running-total",
        title="Multiplicative noise of continuous weights while the similarities are at least rho",
        source=source("Definition 1, with noise that grows"),
        latex=r"Q = \frac{\sum_k s_k^{-4} M_k h(\max(\rho_k, 8/9))^2}{\big(\sum_k s_k^{-2} \rho_k^2\big)^2},\quad "
        r"h(r) = r (1 + \sqrt{1 - r})",
        reduce=running_total,
    ),
)
