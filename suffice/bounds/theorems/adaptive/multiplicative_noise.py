"""Noise that grows with the gradient, as in least squares: Lemma 1, Theorem 1, and two exact laws."""

from __future__ import annotations

from ...elementary import difference, fall, maximum, spare, survive
from ...quantities import Quantity
from ...step_size_condition import step_conditions
from ...theorem import record_of, records, reduces_to, theorem
from .paper import source
from .theorem_3 import step_conditions as theorem_3_conditions
from .theorem_3 import theorem_3_any_step

# --- Descent ----------------------------------------------------------------------------------------------

_NOISE = (
    "R_i is beta-smooth; gradients are unbiased, Var[g_k] <= sigma_k^2 + M_k |grad R_k|^2, uncorrelated across clients "
    "given the past; weights are those of Definition 1 with reference variances s_k^2 > 0; V bounds sum_k alpha_k^2 "
    "sigma_k^2 and q is a lower bound of 1 / sum_k alpha_k"
)

# Var[g_k] <= sigma_k^2 + M_k |grad R_k|^2, weights of Definition 1 with any fixed reference variances s_k^2 > 0.
# alpha_k > 0 only where r_k > 0, and there |grad R_k| <= |grad R_i| + |grad R_k - grad R_i|
# = (1 + sqrt(1 - r_k)) |grad R_i|. With Q >= sum_k alpha_k^2 M_k (1 + sqrt(1 - r_k))^2 the noise of Lemma 1 is at
# most V + Q |grad R_i|^2, and sum_k alpha_k r_k = 1:
#     E[e_t | F] <= e_{t-1} - (eta/2)(1 - eta beta Q) |grad R_i|^2 + (eta^2 beta/2) V.
# eta beta Q <= kappa and PL: (*) with (1 - kappa) mu for mu.


@theorem(
    key="adaptive/lemma-1-multiplicative",
    title="Descent of one step, multiplicative noise",
    source=source("Lemma 1 without Assumption 2", e0="e_{t-1}"),
    quantity=Quantity.ONE_STEP_EXCESS,
    hypotheses=f"{_NOISE}; e0 is the excess before the step",
    # eta <= q/beta makes eta beta sum_k alpha_k <= 1.
    conditions=lambda *, eta, q, beta: {"step size eta <= q/beta": (eta, q / beta)},
    tight="The bound is tight for one client of Hessian beta I at eta = 1/beta, if its variance is attained.",
    monotone={"e0": 1, "Q": 1, "V": 1},
)
def lemma_1_multiplicative(*, eta, beta, e0, gradient, Q, V):
    """With Q at least sum_k alpha_k^2 M_k (1 + sqrt(1 - r_k))^2 and eta <= q/beta: E[e_t | F_{t-1}] <= e_{t-1} -
    (eta/2) (1 - eta beta Q) |grad R_i|^2 + (eta^2 beta/2) V."""
    return difference(e0 + eta**2 * beta * (Q * gradient**2 + V) / 2, eta * gradient**2 / 2)


@reduces_to("adaptive/theorem-1", "without multiplicative noise, Q = kappa = 0", lambda **_: {"Q": 0.0, "split": 0.0})
@theorem(
    key="adaptive/theorem-1-multiplicative",
    title="Excess after T steps, multiplicative noise",
    source=source("Theorem 1 without Assumption 2"),
    quantity=Quantity.EXCESS,
    hypotheses=f"{_NOISE}, both at every step; R_i satisfies PL(mu)",
    # Both limits on the step: for the descent, and for the noise that grows with the gradient.
    conditions=lambda *, eta, q, beta, mu, Q, split: {
        **step_conditions(eta=eta, q=q, beta=beta, mu=mu),
        "multiplicative noise eta beta Q <= split": (eta * beta * Q, split),
    },
    tight="The bound is tight for one client with mu = beta, eta = 1/beta and Q = kappa: in expectation the noise "
    "replaces what was gained.",
    monotone={"e0": 1, "V": 1, "beta": 1, "split": 1},
)
def theorem_1_multiplicative(*, eta, mu, beta, e0, V, T, split):
    """With Q at least sum_k alpha_k^2 M_k (1 + sqrt(1 - r_k))^2 at every step and a deterministic constant step
    eta <= min(q/beta, kappa/(beta Q)), E[e_T] is at most the bound, which is that of Theorem 1 with (1 - kappa) mu for
    mu.

    Theorem 1 with (1 - kappa) mu in the place of mu."""
    mu = (1 - split) * mu
    return survive(eta * mu, T) * e0 + eta * beta * V / (2 * mu) * fall(eta * mu, T)


# Theorem 3: without PL, sum the descent over t <= T, e >= 0 at the end; divide by (1 - kappa) eta T/2.


@reduces_to(
    "adaptive/theorem-3-any-step",
    "without multiplicative noise, Q = kappa = 0",
    lambda *, s2, **_: {"V": s2, "Q": 0.0, "split": 0.0},
)
@theorem(
    key="adaptive/theorem-3-multiplicative",
    title="Mean squared gradient, multiplicative noise",
    source=source("Theorem 3 without Assumption 2"),
    quantity=Quantity.AVERAGE_GRADIENT,
    hypotheses=f"{_NOISE}, both at every step; R_i is bounded below",
    # Both limits on the step, and an average of T gradients.
    conditions=lambda *, eta, q, beta, T, Q, split: {
        **theorem_3_conditions(eta=eta, q=q, beta=beta, T=T),
        "multiplicative noise eta beta Q <= split": (eta * beta * Q, split),
    },
    tight="The bound is tight for one client of Hessian beta I with eta = 1/beta and Q = kappa, if T is large.",
    monotone={"e0": 1, "V": 1, "beta": 1, "T": -1},
)
def theorem_3_multiplicative(*, eta, beta, e0, V, T, split):
    """With Q at least sum_k alpha_k^2 M_k (1 + sqrt(1 - r_k))^2 at every step and a deterministic constant step
    eta <= min(q/beta, kappa/(beta Q)), the mean over t <= T of E[|grad R_i(theta_{t-1})|^2] is at most the bound, which
    is that of theorem-3-any-step over 1 - kappa. With 1{tau_G >= t} inside, V and Q are needed on {tau_G >= t}
    alone."""
    return theorem_3_any_step(eta=eta, beta=beta, e0=e0, s2=V, T=T) / spare(split)


# --- The factor Q -----------------------------------------------------------------------------------------
#
# With a_k = 1/s_k^2, p = phi(1), alpha_k = a_k phi(r_k)/(a_i p + sum_{j != i} a_j psi(r_j)). For k != i,
# phi^2 (1 + sqrt(1 - r))^2 <= psi (1 + sqrt(1 - r))^2 <= 4 psi, as phi <= r. With Y = sum_{k != i} (a_k/a_i) psi(r_k),
# K >= a_k/a_i:  Q <= max_k M_k (p^2 + 4 K Y)/(p + Y)^2. Over Y >= 0 this is largest at Y = p (2K - p)/(2K) if
# 2K >= p, with value 4 K^2/(p (4K - p)), and at Y = 0 with value 1 otherwise; that is the same formula at K = p/2.


@theorem(
    key="adaptive/multiplicative-total",
    title="Multiplicative noise of the aggregated gradient",
    source=source("Definition 1"),
    quantity=Quantity.MULTIPLICATIVE_TOTAL,
    mode="sure",
    hypotheses="phi is as in Definition 1",
    tight="The bound is tight for continuous weights and many peers of vanishing similarity, if s_i^2/s_k^2 = K for "
    "each and K sum_{k != i} r_k^2 = 1 - 1/(2K).",
    monotone={"noise_factor": 1, "advantage": 1},
)
def multiplicative_total(*, noise_factor, peak, advantage):
    """For weights of Definition 1 with reference variances s_k^2, K = max_{k != i} s_i^2/s_k^2 and p = phi(1): sum_k
    alpha_k^2 M_k (1 + sqrt(1 - r_k))^2 <= max_k M_k 4 K^2/(p (4K - p)) if 2K >= p, and <= max_k M_k otherwise; 4/3
    max_k M_k for continuous weights and equal reference variances.

    M 4 K^2 / (p (4K - p)), K at least p/2."""
    K = maximum(advantage, peak / 2)
    return 4 * noise_factor * K**2 / (peak * (4 * K - peak))


# --- Least squares ----------------------------------------------------------------------------------------

_LEAST_SQUARES = (
    "R(theta) = E[(x^T theta - y)^2] with x ~ N(0, H) and y = x^T theta* + independent label noise of variance s^2"
)

# R = E[(x^T theta - y)^2], x ~ N(0, H), y = x^T theta* + noise of variance s^2: g = 2 x (x^T D - noise),
# D = theta - theta*, e = D^T H D, grad R = 2 H D. Isserlis: E[|x|^2 (x^T D)^2] = tr(H) D^T H D + 2 D^T H^2 D, so
#     Var[g] = 4 tr(H) e + 4 D^T H^2 D + 4 s^2 tr(H) = 4 tr(H) e + |grad R|^2 + 4 s^2 tr(H).
# H = h I in R^d and n averaged gradients, u = eta h:
#     E[e_t] = ((1 - 2u)^2 + 4 u^2 (d + 1)/n) e_{t-1} + 4 u^2 s^2 d/n,
# a factor f = 1 - 4u (1 - u (n + d + 1)/n), and a geometric sum.


@theorem(
    key="adaptive/least-squares-variance",
    title="Variance of a least-squares gradient",
    source=source("Section 5 and Appendix A", batch="n", e0="e"),
    quantity=Quantity.GRADIENT_VARIANCE,
    mode="sure",
    hypotheses=f"{_LEAST_SQUARES}; e0 is the excess at the model",
    tight="Equality always holds.",
    monotone={"trace": 1, "e0": 1, "gradient": 1, "label_variance": 1, "batch": -1},
)
def least_squares_variance(*, trace, e0, gradient, label_variance, batch):
    """The mean of n stochastic gradients has total variance (4 tr(H) e + |grad R|^2 + 4 s^2 tr(H))/n at excess e. It
    grows with the excess, so no sigma^2 bounds it at every model."""
    return (4 * trace * (e0 + label_variance) + gradient**2) / batch


@theorem(
    key="adaptive/least-squares-rate",
    title="Exact excess of least squares",
    source=source("Section 5 and Appendix A", batch="n"),
    quantity=Quantity.EXCESS,
    hypotheses=f"{_LEAST_SQUARES}; H = h I, so that mu = beta = 2h",
    # A safe distance from the step at which the second moment stops shrinking, n/(h (n + d + 1)).
    conditions=lambda *, eta, h, d, batch: {
        "step size eta <= 0.9 batch/(h (batch + d + 1))": (eta, 0.9 * batch / (h * (batch + d + 1)))
    },
    tight="Equality always holds.",
    monotone={"e0": 1, "label_variance": 1, "d": 1, "batch": -1},
)
def least_squares_rate(*, eta, h, d, batch, e0, label_variance, T):
    """With H = h I in R^d and the mean of n stochastic gradients: E[e_T] = f^T e_0 + (4 eta^2 h^2 s^2 d/n)(1 - f^T)/(1
    - f), f = (1 - 2 eta h)^2 + 4 eta^2 h^2 (d + 1)/n. Without label noise the rate is geometric; from eta = n/(h (n + d
    + 1)) on, f >= 1 and the excess does not shrink in expectation.

    f^T e_0 + 4 u^2 s^2 (d/n) (1 - f^T)/(1 - f), with (1 - f)/(4u) = 1 - u (n + d + 1)/n."""
    room = spare(eta * h * (batch + d + 1) / batch)
    floor = eta * h * label_variance * d / (batch * room)
    return survive(4 * eta * h * room, T) * e0 + floor * fall(4 * eta * h * room, T)


THEOREMS = records(
    lemma_1_multiplicative,
    theorem_1_multiplicative,
    theorem_3_multiplicative,
    multiplicative_total,
    least_squares_variance,
    record_of(least_squares_rate).as_printed(
        "No rate is given.",
        fault="Noise that comes only from the features vanishes at the minimum, so that the excess shrinks, or grows, "
        "geometrically; noise of the outputs would make the convergence sub-linear.",
        statement="Convergence is sub-linear because the noise comes only from the features and not from the outputs.",
        title="Excess of least squares",
        source=source("Section 5"),
        hypotheses=f"{_LEAST_SQUARES}; s^2 = 0",
    ),
    least_squares_rate,
)
