"""Lemma 1 and Theorem 1: one step, and a run; derivations continue those of the package."""

from __future__ import annotations

from ...elementary import difference, fall, survive
from ...parameters import new_parameter
from ...quantities import Quantity
from ...step_size_condition import step_conditions
from ...theorem import printed, record_of, records, reduces_to, theorem
from ...units import GRADIENT_SQUARED
from .hypotheses import UNBIASED
from .paper import source

new_parameter(
    "continuous_variance",
    r"\sigma_{\mathrm{cont}}^2",
    GRADIENT_SQUARED,
    (1e-2, 1e2),
    "1 / sum_k r_k^2 / sigma_k^2, the effective variance of continuous weights",
    positive=True,
)


# --- Lemma 1 ----------------------------------------------------------------------------------------------
#
# A = sum alpha, D = sum alpha_k |grad R_k - grad R_i|^2, V = sum alpha_k^2 sigma_k^2, all at theta_{t-1}.
# The first display of the package, before anything is dropped, needs neither eta A beta <= 1 nor alpha >= 0:
#     E[e_t | F] <= e_{t-1} - (eta A / 2) (|grad R_i|^2 - |grad R_alpha - grad R_i|^2)
#                   - (eta A / 2)(1 - eta A beta) |grad R_alpha|^2 + (eta^2 beta / 2) V.
# It is an equality when R_i is a quadratic of Hessian beta I and the variances are attained.


@theorem(
    key="adaptive/lemma-1",
    title="Descent of one step",
    source=source("Lemma 1", e0="e_{t-1}"),
    quantity=Quantity.ONE_STEP_EXCESS,
    hypotheses=f"{UNBIASED}; e0 is the excess before the step",
    # 1 - eta A beta >= 0: the term that Lemma 1 drops is not positive.
    conditions=lambda *, eta, beta, weight: {"step size eta <= 1/(beta weight)": (eta, 1 / (beta * weight))},
    tight="Equality holds if R_i has Hessian beta I, the gradients are equal and eta = 1/(beta sum_k alpha_k).",
    monotone={"e0": 1, "discrepancy": 1, "gradient": -1, "V": 1},
)
def lemma_1(*, eta, beta, e0, weight, discrepancy, gradient, V):
    """With D = sum_k alpha_k |grad R_k - grad R_i|^2 and |grad R_i| at theta_{t-1}, alpha >= 0 and eta <= 1/(beta sum_k
    alpha_k): E[e_t | F_{t-1}] <= e_{t-1} + (eta/2) (D - sum_k alpha_k |grad R_i|^2 + eta beta sum_k alpha_k^2
    sigma_k^2)."""
    return difference(e0 + eta * (discrepancy + eta * beta * V) / 2, eta * weight * gradient**2 / 2)


@printed(
    lemma_1,
    fault="The gradient of R_i stands at theta_t for theta_{t-1}, where noise alone makes it large if the step starts "
    "at the minimum; and gradients that are correlated across clients have a larger variance than sum_k alpha_k^2 "
    "sigma_k^2.",
    hypotheses="Assumptions 1 and 2 hold; e0 is the excess before the step",
    monotone={"e0": 1, "discrepancy": 1, "next_gradient2": -1, "V": 1},
)
def lemma_1_printed(*, eta, beta, e0, weight, discrepancy, next_gradient2, V):
    """With D = sum_k alpha_k |grad R_k - grad R_i|^2 at theta_{t-1}, alpha >= 0 and eta < 1/(beta sum_k alpha_k): E[e_t
    | F_{t-1}] <= e_{t-1} + (eta/2) (D - sum_k alpha_k |grad R_i(theta_t)|^2 + eta beta sum_k alpha_k^2 sigma_k^2), here
    with the expectation of the gradient term."""
    return difference(e0 + eta * (discrepancy + eta * beta * V) / 2, eta * weight * next_gradient2 / 2)


@theorem(
    key="adaptive/lemma-1-mean-gradient",
    title="Descent of one step, before Jensen",
    source=source("Appendix B.1, last display but one", e0="e_{t-1}"),
    quantity=Quantity.ONE_STEP_EXCESS,
    hypotheses=f"{UNBIASED}; e0 is the excess before the step",
    tight="Equality holds where R_i has Hessian beta I and the variances are attained.",
    monotone={"e0": 1, "gradient": -1, "aggregate_gap": 1, "V": 1},
)
def lemma_1_mean_gradient(*, eta, beta, e0, weight, gradient, aggregate, aggregate_gap, V):
    """With grad R_alpha = sum_k alpha_k grad R_k / A and A = sum_k alpha_k > 0, at any step, for weights of any sign:
    E[e_t | F_{t-1}] <= e_{t-1} - (eta A/2) (|grad R_i|^2 - |grad R_alpha - grad R_i|^2) - (eta A/2) (1 - eta A beta)
    |grad R_alpha|^2 + (eta^2 beta/2) sum_k alpha_k^2 sigma_k^2.

    The first display, the terms that add before those that subtract."""
    step = eta * weight
    added = e0 + step * (aggregate_gap**2 + step * beta * aggregate**2) / 2 + eta**2 * beta * V / 2
    return difference(added, step * (gradient**2 + aggregate**2) / 2)


# Which weights make the corrected bound least? In x_k = eta alpha_k it is e - (G/2) sum_k r_k x_k + (beta/2) sum_k
# sigma_k^2 x_k^2, G = |grad R_i|^2 and r_k not clipped: convex, with its minimum over x >= 0 at x_k = (r_k)_+ G/(2 beta
# sigma_k^2), those of the continuous criterion. The value there is e - G^2/(8 beta) sum_k r_k^2/sigma_k^2, and
# beta sum_k x_k = (G/2) sum_k r_k/sigma_k^2 has to be at most 1.


@theorem(
    key="adaptive/lemma-1-best-weights",
    title="Descent of one step at the weights that make its bound least",
    source=source("Section 4 and Section 3, optimising Lemma 1", e0="e_{t-1}"),
    quantity=Quantity.ONE_STEP_EXCESS,
    hypotheses=f"{UNBIASED}; e0 is the excess before the step",
    # The step that the best weights ask for is within the limit of Lemma 1.
    conditions=lambda *, gradient, similar_mass: {
        "total step gradient^2 similar_mass <= 2": (gradient**2 * similar_mass, 2)
    },
    tight="The bound is tight if R_i is a quadratic of Hessian beta I beside one peer of gradient (1 - sqrt(1 - r)) "
    "grad R_i, at a total step of 1/beta.",
    monotone={"e0": 1, "beta": 1, "continuous_variance": 1, "gradient": -1},
)
def lemma_1_best_weights(*, beta, e0, gradient, continuous_variance):
    """With eta alpha_k = r_k |grad R_i|^2/(2 beta sigma_k^2), which makes Lemma 1's bound least: E[e_t |
    F_{t-1}] <= e_{t-1} - |grad R_i|^4/(8 beta sigma_cont^2), sigma_cont^2 = 1/sum_k r_k^2/sigma_k^2;
    similar_mass = sum_k r_k/sigma_k^2 over all clients."""
    return difference(e0, gradient**4 / (8 * beta * continuous_variance))


# --- Theorem 1 --------------------------------------------------------------------------------------------

_RUN = f"{UNBIASED}; R_i satisfies PL(mu)"

# (*) in expectation, with a deterministic step and E[V_t] <= V: E[e_t] <= (1 - eta mu) E[e_{t-1}] + eta^2 beta V / 2;
# a geometric sum. For weights w_k that sum to 1 the descent is (eta / 2) rbar |grad R_i|^2 with
# rbar = sum_k w_k (1 - |grad R_k - grad R_i|^2 / |grad R_i|^2), so rbar >= q contracts by eta mu q when eta <= 1/beta.
# The weights w = alpha / sum alpha at step eta are the weights alpha at step eta / sum alpha.


@reduces_to("adaptive/theorem-2-constant", "if no step starts below eps, so that V = s2", lambda *, s2, **_: {"V": s2})
@theorem(
    key="adaptive/theorem-1",
    title="Excess after T steps",
    source=source("Theorem 1"),
    quantity=Quantity.EXCESS,
    hypotheses=f"{_RUN}; q is a lower bound of 1 / sum_k alpha_k at every step",
    conditions=step_conditions,
    tight="The bound is tight for one client with mu = beta at eta = 1/beta. The contraction without noise is attained "
    "as the share w_i of client i vanishes beside one peer R_k = (1 - sqrt(1 - r)) R_i at eta = r/beta.",
    monotone={"e0": 1, "V": 1, "beta": 1},
)
def theorem_1(*, eta, mu, beta, e0, V, T):
    """With weights of Definition 1, a deterministic constant step eta <= q/beta and E[sum_k alpha_k^2 sigma_k^2] <= V
    at every step, E[e_T] is at most the bound."""
    return survive(eta * mu, T) * e0 + eta * beta * V / (2 * mu) * fall(eta * mu, T)


@reduces_to(
    "adaptive/theorem-1",
    "for w = q alpha with q = 1 / sum_k alpha_k at every step; eta and V become eta / q and q^2 V",
    lambda *, eta, q, V, **_: {"eta": eta / q, "V": q**2 * V},
)
@theorem(
    key="adaptive/theorem-1-normalised",
    title="Excess after T steps, weights that sum to 1",
    source=source("Theorem 1, with weights divided by their sum"),
    quantity=Quantity.EXCESS,
    hypotheses=_RUN,
    # Weights that sum to 1 make the limit 1/beta.
    conditions=lambda *, eta, beta, mu: {
        "step size eta <= 1/beta": (eta, 1 / beta),
        "curvature mu <= beta": (mu, beta),
    },
    tight="The bound is tight for one client with mu = beta at eta = 1/beta.",
    monotone={"e0": 1, "V": 1, "beta": 1, "q": -1},
)
def theorem_1_normalised(*, eta, mu, beta, q, e0, V, T):
    """With weights w_k >= 0 that sum to 1, estimated ones included, a deterministic constant step eta <= 1/beta, sum_k
    w_k (1 - |grad R_k - grad R_i|^2 / |grad R_i|^2) >= q and E[sum_k w_k^2 sigma_k^2] <= V at every step, E[e_T] is at
    most the bound."""
    return survive(eta * mu * q, T) * e0 + eta * beta * V / (2 * mu * q) * fall(eta * mu * q, T)


THEOREMS = records(
    lemma_1_printed,
    lemma_1,
    lemma_1_mean_gradient,
    lemma_1_best_weights,
    record_of(theorem_1).as_printed(
        "The right side is random, because the variances depend on the path.",
        fault="An expectation is bounded by a random number, and the step limit must hold at every step almost surely.",
        statement="E[e_T] <= (1 - eta mu)^T e_0 + (beta eta^2/2) sum_t (1 - eta mu)^{T-t} sigma_psi^2(t) for a "
        "constant step eta < 1/(beta sum_k alpha_k^t).",
        hypotheses="Assumptions 1 and 2 hold, and strong convexity or PL(mu), which Section 2 takes for all but "
        "Theorem 3",
    ),
    theorem_1,
    theorem_1_normalised,
)
