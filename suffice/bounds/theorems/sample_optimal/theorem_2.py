"""Theorem 2: All-for-one, one weighted gradient per agent: the rate, and the sample complexity in rounds."""

from __future__ import annotations

from functools import partial

from ...elementary import decay, fall, log1p, maximum, spare, sqrt, survive, times_log_ratio
from ...quantities import Quantity
from ...theorem import Conditions, Theorem, printed, record_of, records, reduces_to, theorem
from .paper import source


def step_conditions(*, eta, mu, beta) -> Conditions:
    """The step of the descent inequality."""
    return {"step size eta <= 1/beta": (eta, 1 / beta), **convexity_conditions(mu=mu, beta=beta)}


_STRONG = (
    "f_i is L-smooth and satisfies PL(mu); |grad f_i(x) - grad f_j(x)| <= b_ij for all x (strong dissimilarity); "
    "weights lambda_ij >= 0 sum to 1; gradients are unbiased, independent across agents"
)
_STANDING = f"{_STRONG}, each of total variance at most sigma2"

_record = partial(theorem, source=source("Theorem 2"), hypotheses=_STANDING)

# x+ = x - eta sum_j lambda_ij g_j(x), h = sum_j lambda_ij f_j, Lambda_2 = sum_j lambda_ij^2, B = sum_j lambda_ij b_ij.
# |grad h - grad f_i| <= B (strong dissimilarity), the noise of the sum has variance at most sigma^2 Lambda_2.
# f_i is L-smooth and eta L <= 1:
#   E f_i(x+) <= f_i - eta <grad f_i, grad h> + (eta/2) |grad h|^2 + (L eta^2/2) sigma^2 Lambda_2
#              = f_i - (eta/2) |grad f_i|^2 + (eta/2) |grad f_i - grad h|^2 + (L eta^2/2) sigma^2 Lambda_2,
# and PL gives e+ <= (1 - eta mu) e + eta B^2/2 + L eta^2 sigma^2 Lambda_2/2: a geometric sum.          (*)


@reduces_to(
    "adaptive/theorem-2-constant", "for one agent", lambda *, s2, **_: {"sigma2": s2, "lambda2": 1.0, "bias": 0.0}
)
@_record(
    key="sample-optimal/theorem-2",
    title="All-for-one, constant step size",
    quantity=Quantity.EXCESS,
    conditions=step_conditions,
    tight="The bound is tight for mu = L at eta = 1/L; the bias B^2/(2 mu) is attained in the limit of many rounds.",
    monotone={"e0": 1, "sigma2": 1, "lambda2": 1, "bias": 1, "beta": 1},
)
def theorem_2(*, eta, mu, beta, e0, sigma2, lambda2, bias, T):
    """With any step eta <= 1/L, E[e_T] is at most the bound."""
    return survive(eta * mu, T) * e0 + (eta * beta * sigma2 * lambda2 + bias**2) / (2 * mu) * fall(eta * mu, T)


def convexity_conditions(*, mu, beta) -> Conditions:
    """No function is more curved below than above."""
    return {"curvature mu <= beta": (mu, beta)}


@printed(
    theorem_2,
    fault="The statement is true but loose: it has half of the rate, and at least twice the bias B^2/(2 mu); the noise "
    "term hides constants and logarithms, and Equation (6), the step size, is not in the text.",
    title="All-for-one, without noise",
    hypotheses=f"{_STRONG} and exact",
    conditions=convexity_conditions,
    monotone={"e0": 1, "bias2": 1, "beta": 1},
)
def theorem_2_printed(*, mu, beta, e0, bias2, T):
    """With sigma = 0, where nothing of the noise term is left, e_T is at most the bound. Equation (6), the step size,
    is not in the text, and the bound is checked at every step from 1/(2 L) to 1/L."""
    return e0 * decay(T * mu / (2 * beta)) + bias2 / mu


def tuned_conditions(*, mu, beta, e0, sigma2, lambda2, T) -> Conditions:
    """A start above the noise floor A; otherwise the best step is 0 and its bound e_0."""
    floor = beta * sigma2 * lambda2 / (2 * mu**2)
    return {
        "one round 1 <= T": (1, T),
        "floor beta sigma2 lambda2/(2 mu^2 T) <= e0": (floor / maximum(T, 1), e0),
        **convexity_conditions(mu=mu, beta=beta),
    }


# Tuned: A = L sigma^2 Lambda_2/(2 mu^2 T) <= e_0 and eta mu T = min(T/kappa, ln(e_0/A)), so the start has shrunk to at
# most X = max(A, e_0 exp(-T/kappa)) = e_0 exp(-eta mu T), and the noise term is at most A eta mu T = A ln(e_0/X).


@_record(
    key="sample-optimal/theorem-2-tuned",
    title="All-for-one, step size for a horizon",
    quantity=Quantity.EXCESS,
    conditions=tuned_conditions,
    tight="The bound is tight for mu = L at eta = 1/L with T = ln(e0/A) large.",
    monotone={"e0": 1, "sigma2": 1, "lambda2": 1, "bias": 1},
)
def theorem_2_tuned(*, mu, beta, e0, sigma2, lambda2, bias, T):
    """At eta = min(1/L, ln(e0/A)/(mu T)), A = L sigma2 lambda2/(2 mu^2 T) <= e0 (eta = 1/L if sigma = 0): E[e_T] is at
    most the bound.

    X + A ln(e_0/X) + B^2/(2 mu)."""
    floor = beta * sigma2 * lambda2 / (2 * mu**2 * T)
    left = maximum(floor, e0 * decay(T * mu / beta))
    return left + times_log_ratio(floor, e0, left) + bias**2 / (2 * mu)


_WEAK = (
    "every f_j with lambda_ij > 0 is mu-strongly convex and L-smooth, so is f_i; |grad f_j(x_i*)| <= b_ij (weak "
    "dissimilarity); weights sum to 1; gradients are unbiased, independent, each of total variance at most sigma2; "
    "distance2 is the squared distance of the start to the minimiser of sum_j lambda_ij f_j"
)

# Weak dissimilarity alone: h is mu-strongly convex and L-smooth with minimiser y, |grad h(x_i*)| <= B puts y within
# B/mu of x_i*. A gradient step on h contracts distances to y by 1 - eta mu, so E|x - y|^2 contracts by its square and
# gains eta^2 sigma^2 Lambda_2. Then |x - x_i*| <= |x - y| + B/mu (Minkowski) and f_i - f_i* <= (L/2) |x - x_i*|^2.


@theorem(
    key="sample-optimal/theorem-2-weak",
    title="All-for-one under weak dissimilarity",
    source=source("Theorem 2", distance2=r"\|x^0-y\|^2"),
    quantity=Quantity.EXCESS,
    hypotheses=_WEAK,
    conditions=step_conditions,
    tight="Three agents of curvatures L, L and mu attain the bias L B^2/(2 mu^2).",
    monotone={"distance2": 1, "sigma2": 1, "lambda2": 1, "bias": 1, "beta": 1},
)
def theorem_2_weak(*, eta, mu, beta, distance2, sigma2, lambda2, bias, T):
    """Gradients are compared at the minimiser x_i* alone. With any step eta <= 1/L, E[e_T] is at most the bound. The
    bias is kappa times that of Theorem 2.

    (L/2) (sqrt(p |x^0 - y|^2 + (1 - p) eta sigma^2 Lambda_2/(mu (2 - eta mu))) + B/mu)^2, p = (1 - eta mu)^2T."""
    noise = eta * sigma2 * lambda2 / (mu * (2 - eta * mu))
    spread = survive(eta * mu, 2 * T) * distance2 + noise * fall(eta * mu, 2 * T)
    return beta / 2 * (sqrt(spread) + bias / mu) ** 2


# Rounds to a precision: s = eps - B^2/(2 mu) and eta = min(1/L, mu s/(L sigma^2 Lambda_2)) keep the floor
# phi = eta L sigma^2 Lambda_2/(2 mu) + B^2/(2 mu) at most eps - s/2. By (*) e_T <= p e_0 + (1 - p) phi with
# p = (1 - eta mu)^T <= exp(-eta mu T): at most eps for every T if e_0 <= eps, else once exp(eta mu T) is at least
# (e_0 - phi)/(eps - phi) <= 1 + 2 (e_0 - eps)/s.


@reduces_to(
    "sample-optimal/theorem-2-rounds-threshold",
    "for equal weights on near agents with b_ij^2 = mu eps",
    lambda *, mu, eps, near, **_: {"lambda2": 1 / near, "bias": (mu * eps) ** 0.5},
)
@_record(
    key="sample-optimal/theorem-2-rounds",
    reaches=Quantity.EXCESS,
    title="All-for-one, rounds to a precision",
    quantity=Quantity.ROUNDS,
    # The bias B^2/(2 mu) leaves at least a tenth of the precision.
    conditions=lambda *, mu, beta, eps, bias: {
        "bias bias^2 <= 1.8 mu eps": (bias**2, 1.8 * mu * eps),
        **convexity_conditions(mu=mu, beta=beta),
    },
    tight="The bound is nearly tight where bias and noise take up eps, e0 is just above eps and the step is short.",
    monotone={"e0": 1, "sigma2": 1, "lambda2": 1, "bias": 1, "beta": 1, "eps": -1},
)
def theorem_2_rounds(*, mu, beta, eps, e0, sigma2, lambda2, bias):
    """With s = eps - B^2/(2 mu) and eta = min(1/L, mu s/(L sigma2 lambda2)), E[e_T] <= eps for every T of at least the
    bound.

    max(kappa, kappa sigma^2 Lambda_2/(mu s)) ln(1 + 2 (e_0 - eps)_+/s), s = eps - B^2/(2 mu)."""
    slack = eps * spare(bias**2 / (2 * mu * eps))
    steps = maximum(beta / mu, beta * sigma2 * lambda2 / (mu**2 * slack))
    return steps * log1p(2 * maximum(0, e0 - eps) / slack)


# Equal weights on the agents with b_ij^2 <= mu eps: B^2/(2 mu) <= eps/2, so s >= eps/2, and Lambda_2 = 1/near.


@_record(
    key="sample-optimal/theorem-2-rounds-threshold",
    title="All-for-one, rounds with thresholded weights",
    quantity=Quantity.ROUNDS,
    conditions=convexity_conditions,
    monotone={"e0": 1, "sigma2": 1, "near": -1, "beta": 1, "eps": -1, "mu": -1},
)
def theorem_2_rounds_threshold(*, mu, beta, eps, e0, sigma2, near):
    """With equal weights on the near agents with b_ij^2 <= mu eps and eta = min(1/L, mu eps near/(2 L sigma2)),
    E[e_T] <= eps for every T of at least the bound.

    max(kappa, 2 kappa sigma^2/(mu eps near)) ln(1 + 4 (e_0 - eps)_+/eps)."""
    steps = maximum(beta / mu, 2 * beta * sigma2 / (mu**2 * eps * near))
    return steps * log1p(4 * maximum(0, e0 - eps) / eps)


# Without noise the excess tends to at most B^2/(2 mu), B <= b for weights on agents with b_ij <= b.


def theorem_2_threshold(*, eps):
    """eps."""
    return eps


# Noise that grows, E|n_j|^2 <= s_j^2 + 2 A (f_j - f_j*): PL of f_j and |grad f_j| <= |grad f_i| + b_ij give
# f_j - f_j* <= (|grad f_i|^2 + b_ij^2)/mu, so the noise of the sum is at most V + (2 A Lambda_2/mu) |grad f_i|^2 with
# V = sum_j lambda_ij^2 (s_j^2 + 2 A b_ij^2/mu). For eta <= mu/(4 L A Lambda_2) its growing part takes at most half of
# the descent -(eta/2) |grad f_i|^2: e+ <= (1 - eta mu/2) e + eta B^2/2 + L eta^2 V/2.


@theorem(
    key="sample-optimal/theorem-2-least-squares",
    title="All-for-one with noise that grows with the loss",
    source=source("Theorem 2, for the linear model of Section 6"),
    quantity=Quantity.EXCESS,
    hypotheses=f"{_STRONG}, agent j's of total variance at most s_j^2 + 2 growth (f_j(x) - f_j*) at x; every f_j "
    "satisfies PL(mu); for Gaussian features of covariance H and label noise tau^2, "
    "s_j^2 = tau^2 tr H and growth = tr H + the largest eigenvalue of H",
    # The step of the descent inequality, small enough for the growing noise.
    conditions=lambda *, eta, mu, beta, growth, lambda2: {
        "step size eta <= mu/(4 beta growth lambda2)": (eta, mu / (4 * beta * growth * lambda2)),
        **step_conditions(eta=eta, mu=mu, beta=beta),
    },
    monotone={"e0": 1, "noise2": 1, "bias": 1, "beta": 1},
)
def theorem_2_least_squares(*, eta, mu, beta, e0, bias, noise2, T):
    """With a step eta <= min(1/L, mu/(4 L growth lambda2)), E[e_T] is at most the bound."""
    return survive(eta * mu / 2, T) * e0 + (bias**2 + eta * beta * noise2) / mu * fall(eta * mu / 2, T)


_THEOREM_2_THRESHOLD = Theorem(
    key="sample-optimal/theorem-2-threshold",
    title="Agents that may be averaged at a precision",
    source=source("Theorem 2"),
    statement="With weights on agents with b_ij <= b, b^2 <= 2 mu eps, without noise and with a step eta <= 1/L, the "
    "excess loss of agent i tends to at most eps.",
    quantity=Quantity.EXCESS,
    mode="sure",
    hypotheses=f"{_STRONG} and exact",
    bound=theorem_2_threshold,
    # b^2/(2 mu) at most eps.
    conditions=lambda *, b, mu, eps: {"threshold b^2 <= 2 mu eps": (b**2, 2 * mu * eps)},
    tight="The bound is tight for a weight 1 - 1/N on agents of equal curvature mu with b_ij^2 = 2 mu eps, if N is "
    "large.",
    monotone={"eps": 1},
)

THEOREMS = records(
    theorem_2_printed,
    theorem_2,
    theorem_2_tuned,
    theorem_2_weak,
    theorem_2_rounds,
    record_of(theorem_2_rounds_threshold).as_printed(
        "O~ hides constants and logarithms.",
        fault="b_ij^2 is compared with eps, not mu eps, and normalised by the count of another threshold, so that the "
        "weights need not sum to 1; and the rounds lack the term kappa ln(e_0/eps) that remains without noise.",
        statement="With lambda_ij = 1{b_ij^2 <= eps/2}/N_i(2b), the precision eps is reached in "
        "O~(kappa sigma^2/(mu eps N_i(2 b^2/mu))) rounds.",
    ),
    theorem_2_rounds_threshold,
    _THEOREM_2_THRESHOLD.as_printed(
        theorem_2_threshold,
        fault="Gradients squared are compared with a loss; the statement is true only for mu >= 1/4 in the chosen "
        "unit.",
        statement="If agents with b_ij <= b are averaged without noise, the excess loss of agent i tends to at most "
        "eps.",
        # As printed: b_ij^2 against eps, whatever mu.
        conditions=lambda *, b, eps: {"threshold b^2 <= eps/2": (b**2, eps / 2)},
        monotone={"eps": 1},
    ),
    _THEOREM_2_THRESHOLD,
    theorem_2_least_squares,
)
