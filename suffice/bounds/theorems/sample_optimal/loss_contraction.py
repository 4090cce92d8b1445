"""All-for-all with the loss contracting by (1 - eta mu smin)^2: Theorems 3 to 5 and their corollaries, sharper.

Theorem 3's proof by the PL inequality contracts the loss by 1 - eta mu smin. Strong convexity gives the square, and
steps up to 2/(L smax + mu smin).
"""

from __future__ import annotations

from ...elementary import fall, log1p, maximum, minimum, spare, survive
from ...quantities import Quantity
from ...theorem import records, reduces_to, theorem
from .estimated_clusters import RUN, theorem_5_samples, total_conditions
from .paper import ALL_FOR_ALL, source
from .theorem_2 import convexity_conditions
from .theorem_3 import STANDING, THRESHOLD, rounds_conditions, spectrum_conditions

# x = Lambda y with y in the range of Lambda^T: phi(y) = F(Lambda y) is L smax-smooth and m-strongly convex there,
# m = mu smin, and a round is a gradient step on phi, plus eta W n. For eta <= 2/(L smax + m) the step without noise
# takes phi - min phi to at most (1 - eta m)^2 of it (the interpolation conditions of the three pairs, as for
# worst-case/contraction). Noise of mean zero, added after that step, costs by smoothness of F at most
# (L/2) eta^2 E|W n|^2 <= (L/2) eta^2 sigma^2 |W|_F^2; min phi <= N Phi by Jensen at y = x*, and <= N F^0 at
# the start, so that Phi counts up to F^0 only (then the bound is nowhere above theorem-3). Divide by N, unroll:
# sum_{t < T} (1 - eta m)^(2t) = (1 - (1 - eta m)^(2T)) / (eta m (2 - eta m)).


@reduces_to(
    "worst-case/contraction",
    "for one agent without noise",
    lambda *, mu, beta, weight, pull, **_: {
        "mu": mu * pull,
        "beta": beta * (2 * weight - pull),
        "smin": 1.0,
        "smax": 1.0,
        "sigma2": 0.0,
        "weight2": 1.0,
        "peer_excess": 0.0,
    },
)
@theorem(
    key="sample-optimal/theorem-3-sharp",
    title="All-for-all, last iterate, loss contracting by a square",
    source=source("Theorem 3", **ALL_FOR_ALL),
    quantity=Quantity.MEAN_EXCESS,
    hypotheses=f"{STANDING}; near the numerical tolerance of smin use theorem-3-averaged-sharp",
    # The step of a gradient step on phi.
    conditions=lambda *, eta, mu, beta, smin, smax: {
        "step size eta <= 2/(beta smax + mu smin)": (eta, 2 / (beta * smax + mu * smin)),
        **spectrum_conditions(mu=mu, beta=beta, smin=smin, smax=smax),
    },
    tight="The bound is always attained: if all follow agent 1 of three, whose losses have curvature L and minimisers "
    "0, D and -D, at eta = 2/(L smax + mu smin); without noise, by one loss of curvature mu at any step.",
    monotone={"e0": 1, "sigma2": 1, "weight2": 1, "peer_excess": 1, "beta": 1},
)
def theorem_3_sharp(*, eta, mu, beta, smin, e0, sigma2, weight2, peer_excess, T):
    """With smax and smin the largest and the smallest non-zero eigenvalue of W and any step eta <= 2/(L smax + mu
    smin), E[F^T] is at most the bound.

    q F^0 + (1 - q) [eta L sigma^2 |W|_F^2/(2 m (2 - eta m) N) + min(Phi, F^0)], q = (1 - eta m)^2T, m = mu smin."""
    m = mu * smin
    floor = eta * beta * sigma2 * weight2 / (2 * m * (2 - eta * m)) + minimum(peer_excess, e0)
    return survive(eta * m, 2 * T) * e0 + floor * fall(eta * m, 2 * T)


_ROUNDS = {"e0": 1, "sigma2": 1, "beta": 1, "eps": -1}
_SPECTRUM = {"weight2": 1, "smax": 1, "smin": -1}
_COUNT = "The bound is tight without noise if every loss has curvature mu, kappa is large and F^0 is far above eps."

# Rounds. s = eps - Phi, M = max(kappa smax/smin, V) with V = kappa sigma^2 |W|_F^2/(mu s smin^2 N), eta m = 2/(M + 1),
# within the step limit 2/(kappa smax/smin + 1). At x = eta m, x/(2 - x) = 1/M: the noise term is V s/(2 M) <= s/2.
# So E F^T <= q F^0 + (1 - q)(eps - s/2), q = (1 - x)^(2T), is at most eps for every T if F^0 <= eps, else once
# 1/q >= 1 + 2 (F^0 - eps)/s. And -2 ln(1 - x) = 2 ln((M + 1)/(M - 1)) = 4 artanh(1/M) >= 4/M: a quarter of the
# rounds of theorem-3-rounds.


@reduces_to(
    "sample-optimal/corollary-1-general-sharp", "at peer_excess = eps/2", lambda *, eps, **_: {"peer_excess": eps / 2}
)
@theorem(
    key="sample-optimal/theorem-3-sharp-rounds",
    reaches=Quantity.MEAN_EXCESS,
    title="All-for-all, a quarter of the rounds to a precision",
    source=source("Theorem 3", **ALL_FOR_ALL),
    quantity=Quantity.ROUNDS,
    hypotheses=STANDING,
    conditions=rounds_conditions,
    tight=_COUNT,
    monotone={**_ROUNDS, **_SPECTRUM, "peer_excess": 1},
)
def theorem_3_sharp_rounds(*, mu, beta, smin, smax, eps, e0, sigma2, weight2, peer_excess):
    """With s = eps - peer_excess, M = max(kappa smax/smin, kappa sigma2 weight2/(mu s smin^2)) and eta = 2/((M + 1) mu
    smin), E[F^T] <= eps for every T of at least the bound.

    (1/4) max(kappa smax/smin, kappa sigma^2 |W|_F^2/(mu s smin^2 N)) ln(1 + 2 (F^0 - eps)_+/s), s = eps - Phi."""
    slack = eps * spare(peer_excess / eps)
    steps = maximum(beta * smax / (mu * smin), beta * sigma2 * weight2 / (mu**2 * slack * smin**2))
    return steps * log1p(2 * maximum(0, e0 - eps) / slack) / 4


# Thresholded weights have Phi <= eps/2 (b_ij^2 <= mu eps with mu, not mu smin): s = eps/2 serves.


@reduces_to(
    "sample-optimal/corollary-1-sharp",
    "for clusters",
    lambda *, lambda2, **_: {"smin": 1.0, "smax": 1.0, "weight2": lambda2},
)
@theorem(
    key="sample-optimal/corollary-1-general-sharp",
    title="All-for-all, a quarter of the rounds with thresholded weights",
    source=source("Corollary 1", **ALL_FOR_ALL),
    quantity=Quantity.ROUNDS,
    hypotheses=f"{STANDING}; {THRESHOLD}",
    conditions=spectrum_conditions,
    tight=_COUNT,
    monotone={**_ROUNDS, **_SPECTRUM},
)
def corollary_1_general_sharp(*, mu, beta, smin, smax, eps, e0, sigma2, weight2):
    """With M = max(kappa smax/smin, 2 kappa sigma2 weight2/(mu eps smin^2)) and eta = 2/((M + 1) mu smin),
    E[F^T] <= eps for every T of at least the bound.

    (1/4) max(kappa smax/smin, 2 kappa sigma^2 |W|_F^2/(mu eps smin^2 N)) ln(1 + 4 (F^0 - eps)_+/eps)."""
    steps = maximum(beta * smax / (mu * smin), 2 * beta * sigma2 * weight2 / (mu**2 * eps * smin**2))
    return steps * log1p(4 * maximum(0, e0 - eps) / eps) / 4


@reduces_to("sample-optimal/corollary-2-sharp", "for clusters of one size", lambda *, size, **_: {"lambda2": 1 / size})
@theorem(
    key="sample-optimal/corollary-1-sharp",
    title="All-for-all, a quarter of the rounds in clusters",
    source=source("Corollary 1", **ALL_FOR_ALL),
    quantity=Quantity.ROUNDS,
    hypotheses=f"{STANDING}; {THRESHOLD}, and these sets are clusters: every pair inside one has b_ij^2 <= mu eps",
    conditions=convexity_conditions,
    tight=_COUNT,
    monotone={**_ROUNDS, "lambda2": 1},
)
def corollary_1_sharp(*, mu, beta, eps, e0, sigma2, lambda2):
    """With lambda2 = (1/N) sum_i 1/N_i, M = max(kappa, 2 kappa sigma2 lambda2/(mu eps)) and eta = 2/((M + 1) mu),
    E[F^T] <= eps for every T of at least the bound.

    (1/4) max(kappa, (2 kappa sigma^2/(mu eps)) (1/N) sum_i 1/N_i) ln(1 + 4 (F^0 - eps)_+/eps)."""
    steps = maximum(beta / mu, 2 * beta * sigma2 * lambda2 / (mu**2 * eps))
    return steps * log1p(4 * maximum(0, e0 - eps) / eps) / 4


# Estimated clusters: given them Lambda is a projection. |W|_F^2/N is 1/C if they are right, else at most 1; Phi is 0,
# else at most b_max^2/(2 mu). At p = min(1/C, mu eps/(2 b_max^2)), M = max(kappa, 2 kappa sigma^2/(mu eps C)) the noise
# is at most (1/M) (kappa sigma^2 (1/C + p)/mu)/2 <= eps/2 since 1/C + p <= 2/C, the bias at most eps/4; eps/4 is left.


@theorem(
    key="sample-optimal/theorem-5-sharp",
    title="All-for-all with estimated clusters, loss contracting by a square",
    source=source("Theorem 5", **ALL_FOR_ALL),
    quantity=Quantity.MEAN_EXCESS,
    hypotheses=RUN,
    # The same for a projection.
    conditions=lambda *, eta, mu, beta: {
        "step size eta <= 2/(beta + mu)": (eta, 2 / (beta + mu)),
        **convexity_conditions(mu=mu, beta=beta),
    },
    tight="The bound is tight if the clusters are certain and p is near 0, at curvature L and eta = 2/(L + mu).",
    monotone={"e0": 1, "sigma2": 1, "failure": 1, "b_max": 1, "size": -1, "beta": 1},
)
def theorem_5_sharp(*, eta, mu, beta, e0, sigma2, size, failure, b_max, T):
    """If all pairs are judged rightly but with probability p (theorem-5-samples) and eta <= 2/(L + mu), E[F^T] is at
    most the bound.

    q F^0 + (1 - q) [eta L sigma^2 (1/C + p)/(2 mu (2 - x)) + p min(b_max^2/(2 mu), F^0)], x = eta mu."""
    noise = eta * beta * sigma2 * (1 / size + failure) / (2 * mu * (2 - eta * mu))
    floor = noise + failure * minimum(b_max**2 / (2 * mu), e0)
    return survive(eta * mu, 2 * T) * e0 + floor * fall(eta * mu, 2 * T)


@theorem(
    key="sample-optimal/corollary-2-sharp",
    title="A quarter of the rounds with estimated clusters",
    source=source("Corollary 2", **ALL_FOR_ALL),
    quantity=Quantity.ROUNDS,
    hypotheses=RUN,
    conditions=convexity_conditions,
    tight=_COUNT,
    monotone={**_ROUNDS, "size": -1},
)
def corollary_2_sharp(*, mu, beta, eps, e0, sigma2, size):
    """If all pairs are judged rightly but with probability min(1/C, mu eps/(2 b_max^2)), and eta = 2/((M + 1) mu),
    M = max(kappa, 2 kappa sigma2/(mu eps C)), E[F^T] <= eps for every T of at least the bound.

    (1/4) max(kappa, 2 kappa sigma^2/(mu eps C)) ln(1 + 4 (F^0 - eps)_+/eps)."""
    steps = maximum(beta / mu, 2 * beta * sigma2 / (mu**2 * eps * size))
    return steps * log1p(4 * maximum(0, e0 - eps) / eps) / 4


@theorem(
    key="sample-optimal/theorem-4-sharp",
    title="Samples per agent with estimated clusters, a quarter of the rounds",
    source=source("Theorem 4", **ALL_FOR_ALL),
    quantity=Quantity.SAMPLES,
    hypotheses=RUN,
    conditions=total_conditions,
    monotone={"e0": 1, "sigma2": 1, "N": 1, "b_max": 1, "proxy_trace": 1, "nu2": 1, "moment_gap": -1},
)
def theorem_4_sharp(*, mu, beta, eps, e0, sigma2, N, size, b_max, proxy_trace, nu2, moment_gap):
    """With p = min(1/C, mu eps/(2 b_max^2)), S samples of each agent to find the clusters (theorem-5-samples) and T
    rounds (corollary-2-sharp), both rounded up, E[F^T] <= eps; S + T is at most the bound.

    The samples of Theorem 5 at p = min(1/C, mu eps/(2 b_max^2)) and these rounds, each rounded up."""
    failure = minimum(1 / size, mu * eps / (2 * b_max**2))
    samples = theorem_5_samples(N=N, failure=failure, proxy_trace=proxy_trace, nu2=nu2, moment_gap=moment_gap)
    return corollary_2_sharp(mu=mu, beta=beta, eps=eps, e0=e0, sigma2=sigma2, size=size) + (samples + 2)


THEOREMS = records(
    theorem_3_sharp,
    theorem_3_sharp_rounds,
    corollary_1_sharp,
    corollary_1_general_sharp,
    theorem_4_sharp,
    theorem_5_sharp,
    corollary_2_sharp,
)
