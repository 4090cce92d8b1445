"""Theorem 3 and Corollary 1: All-for-all, every gradient taken once, at its own agent's model; sample complexity."""

from __future__ import annotations

from math import inf

from ...elementary import decay, fall, log, log1p, maximum, spare, survive
from ...quantities import Quantity
from ...theorem import Conditions, Sharper, printed, records, theorem
from .paper import ALL_FOR_ALL, source
from .theorem_2 import convexity_conditions


def step_conditions(*, eta, mu, beta, smin, smax) -> Conditions:
    """The step of the descent inequality for W."""
    return {
        "step size eta <= 1/(beta smax)": (eta, 1 / (beta * smax)),
        **spectrum_conditions(mu=mu, beta=beta, smin=smin, smax=smax),
    }


STANDING = (
    "f_i is L-smooth and mu-strongly convex; gradients are unbiased, independent across agents, each of total variance "
    "at most sigma2; W = Lambda Lambda^T with Lambda >= 0 of unit row sums; all agents start at one point"
)

# With x = eta mu smin the old powers are the sharper ones at T/2, the old noise floor that of 2 - x times the noise.
# The sharper floor has min(e_0, peer_excess): noise that leaves as much stands for peer_excess.


def _slower(new, *, eta, mu, beta, smin, T, sigma2, weight2, peer_excess, **others):
    """`theorem_3` from the sharper one."""
    noise = sigma2 + 2 * mu * smin * peer_excess / (eta * beta * weight2)
    return new(T=T / 2, sigma2=(2 - eta * mu * smin) * noise, peer_excess=0 * peer_excess)


# x+ = x - eta W g(x), W = Lambda Lambda^T with Lambda row-stochastic, F(x) = sum_i f_i(x_i) - f_i*, common start.
# Last iterate. eta L smax <= 1 and E|W n|^2 <= sigma^2 |W|_F^2 give
#   E F(x+) <= F - eta |Lambda^T grad F|^2 + (L eta^2/2) (smax |Lambda^T grad F|^2 + sigma^2 |W|_F^2)
#           <= F - (eta/2) |Lambda^T grad F|^2 + (L eta^2/2) sigma^2 |W|_F^2.
# Lambda 1 = 1, so x stays in the range of Lambda, where F is mu-strongly convex and, P its projector,
# |Lambda^T grad F|^2 >= smin |P grad F|^2 >= 2 mu smin (F - min F), min F over the range. The point Lambda x* and
# Jensen give min F <= sum_ij lambda_ij (f_i(x_j*) - f_i*) = N Phi; x_j* and weak dissimilarity, PL of f_i:
# Phi <= (1/N) sum lambda_ij b_ij^2/(2 mu). Divide by N; |W|_F^2/N is the mean squared eigenvalue.


@theorem(
    key="sample-optimal/theorem-3",
    title="All-for-all, last iterate",
    source=source("Theorem 3", **ALL_FOR_ALL),
    quantity=Quantity.MEAN_EXCESS,
    hypotheses=f"{STANDING}; near the numerical tolerance of smin use theorem-3-averaged-sharp",
    conditions=step_conditions,
    tight="The bound is tight for one agent with mu = L at eta = 1/L, and for clusters that share one such loss.",
    superseded_by=Sharper(key="sample-optimal/theorem-3-sharp", ratio=(1, inf), exactly=_slower),
    monotone={"e0": 1, "sigma2": 1, "weight2": 1, "peer_excess": 1, "beta": 1},
)
def theorem_3(*, eta, mu, beta, smin, e0, sigma2, weight2, peer_excess, T):
    """With smax and smin the largest and the smallest non-zero eigenvalue of W and any step eta <= 1/(L smax), E[F^T]
    is at most the bound.

    (1 - eta mu smin)^T F^0 + [1 - (1 - eta mu smin)^T] (eta L sigma^2 |W|_F^2/(2 mu smin N) + Phi)."""
    rate = eta * mu * smin
    return survive(rate, T) * e0 + (eta * beta * sigma2 * weight2 / (2 * mu * smin) + peer_excess) * fall(rate, T)


@printed(
    theorem_3,
    fault="The rate leaves out the spectrum of W: on a star of 100 agents with one and the same loss no step size "
    "comes near the rate; and Equation (7), the step size, is not in the text.",
    title="All-for-all, without noise",
    hypotheses=f"{STANDING}; gradients are exact; bias2 is that of weak dissimilarities",
    conditions=convexity_conditions,
    monotone={"e0": 1, "bias2": 1, "beta": 1},
)
def theorem_3_printed(*, mu, beta, e0, bias2, T):
    """For any stochastic Lambda and sigma = 0, where nothing of the noise term is left, E[F^T] is at most the bound at
    the step size of Equation (7)."""
    return e0 * decay(T * mu / (2 * beta)) + bias2 / (2 * mu)


def rounds_conditions(*, mu, beta, smin, smax, eps, peer_excess) -> Conditions:
    """The bias leaves at least a tenth of the precision."""
    return {
        "bias peer_excess <= 0.9 eps": (peer_excess, 0.9 * eps),
        **spectrum_conditions(mu=mu, beta=beta, smin=smin, smax=smax),
    }


# Rounds: s = eps - Phi; as for Theorem 2 with the rate eta mu smin, at
# eta = min(1/(L smax), mu smin s N/(L sigma^2 |W|_F^2)).


@theorem(
    key="sample-optimal/theorem-3-rounds",
    title="All-for-all, rounds to a precision",
    source=source("Theorem 3", **ALL_FOR_ALL),
    quantity=Quantity.ROUNDS,
    hypotheses=STANDING,
    conditions=rounds_conditions,
    tight="The bound is tight within a factor 2: the count follows (1 - eta mu)^T where the excess falls like (1 - eta "
    "mu)^(2T).",
    superseded_by=Sharper(key="sample-optimal/theorem-3-sharp-rounds", ratio=(4, 4)),
    monotone={"e0": 1, "sigma2": 1, "weight2": 1, "peer_excess": 1, "smax": 1, "smin": -1, "beta": 1, "eps": -1},
)
def theorem_3_rounds(*, mu, beta, smin, smax, eps, e0, sigma2, weight2, peer_excess):
    """With s = eps - peer_excess and eta = min(1/(L smax), mu smin s/(L sigma2 weight2)), E[F^T] <= eps for every T of
    at least the bound.

    max(kappa smax/smin, kappa sigma^2 |W|_F^2/(mu s smin^2 N)) ln(1 + 2 (F^0 - eps)_+/s), s = eps - Phi."""
    slack = eps * spare(peer_excess / eps)
    steps = maximum(beta * smax / (mu * smin), beta * sigma2 * weight2 / (mu**2 * slack * smin**2))
    return steps * log1p(2 * maximum(0, e0 - eps) / slack)


THRESHOLD = "Lambda has equal weights on {j: b_ij^2 <= mu eps}, where b_ij are weak dissimilarities"

# Equal weights on {j: b_ij^2 <= mu eps}: Phi <= eps/2, so s >= eps/2. In clusters W = Lambda is a projection,
# smin = smax = 1 and |W|_F^2/N = Lambda_2 = (1/N) sum_i 1/N_i.


@theorem(
    key="sample-optimal/corollary-1",
    title="All-for-all, rounds in clusters",
    source=source("Corollary 1", **ALL_FOR_ALL),
    quantity=Quantity.ROUNDS,
    hypotheses=f"{STANDING}; {THRESHOLD}, and these sets are clusters: every pair inside one has b_ij^2 <= mu eps",
    conditions=convexity_conditions,
    superseded_by=Sharper(key="sample-optimal/corollary-1-sharp", ratio=(4, 4)),
    monotone={"e0": 1, "sigma2": 1, "lambda2": 1, "beta": 1, "eps": -1},
)
def corollary_1(*, mu, beta, eps, e0, sigma2, lambda2):
    """With eta = min(1/L, mu eps/(2 L sigma2 lambda2)), lambda2 = (1/N) sum_i 1/N_i, E[F^T] <= eps for every T of at
    least the bound.

    max(kappa, (2 kappa sigma^2/(mu eps)) (1/N) sum_i 1/N_i) ln(1 + 4 (F^0 - eps)_+/eps)."""
    steps = maximum(beta / mu, 2 * beta * sigma2 * lambda2 / (mu**2 * eps))
    return steps * log1p(4 * maximum(0, e0 - eps) / eps)


@printed(
    corollary_1,
    fault="The bound uses the rate of Theorem 3, which is false when the near agents form no clusters; in clusters it "
    "promises less than one round for F^0 just above eps; and (1/N) sum_i 1/N_i, which is called a speed-up, is the "
    "reciprocal of one.",
    title="All-for-all, rounds with thresholded weights",
    hypotheses=STANDING,
    # A logarithm that is not negative.
    conditions=lambda *, mu, beta, eps, e0: {
        "start above the precision, eps <= e0": (eps, e0),
        **convexity_conditions(mu=mu, beta=beta),
    },
    monotone={"e0": 1, "sigma2": 1, "lambda2": 1, "beta": 1, "eps": -1},
)
def corollary_1_printed(*, mu, beta, eps, e0, sigma2, lambda2):
    """With equal weights on {j: b_ij^2 < mu eps}, F^T <= eps after at most the bound's rounds; lambda2 is (1/N) sum_i
    1/N_i."""
    return 2 * maximum(beta * sigma2 * lambda2 / (eps * mu**2), beta / mu) * log(e0 / eps)


def spectrum_conditions(*, mu, beta, smin, smax) -> Conditions:
    """Eigenvalues and curvatures in order."""
    return {"eigenvalues smin <= smax": (smin, smax), **convexity_conditions(mu=mu, beta=beta)}


@theorem(
    key="sample-optimal/corollary-1-general",
    title="All-for-all, rounds with thresholded weights",
    source=source("Corollary 1", **ALL_FOR_ALL),
    quantity=Quantity.ROUNDS,
    hypotheses=f"{STANDING}; {THRESHOLD}",
    conditions=spectrum_conditions,
    superseded_by=Sharper(key="sample-optimal/corollary-1-general-sharp", ratio=(4, 4)),
    monotone={"e0": 1, "sigma2": 1, "weight2": 1, "smax": 1, "smin": -1, "beta": 1, "eps": -1},
)
def corollary_1_general(*, mu, beta, smin, smax, eps, e0, sigma2, weight2):
    """With eta = min(1/(L smax), mu smin eps/(2 L sigma2 weight2)), E[F^T] <= eps for every T of at least the bound.

    max(kappa smax/smin, 2 kappa sigma^2 |W|_F^2/(mu eps smin^2 N)) ln(1 + 4 (F^0 - eps)_+/eps)."""
    steps = maximum(beta * smax / (mu * smin), 2 * beta * sigma2 * weight2 / (mu**2 * eps * smin**2))
    return steps * log1p(4 * maximum(0, e0 - eps) / eps)


THEOREMS = records(
    theorem_3_printed, theorem_3, theorem_3_rounds, corollary_1_printed, corollary_1, corollary_1_general
)
