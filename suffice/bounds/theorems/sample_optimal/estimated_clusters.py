"""Section 6: dissimilarities of linear models, and All-for-all with clusters estimated from samples."""

from __future__ import annotations

from math import inf

from ...elementary import fall, log, log1p, maximum, minimum, sqrt, survive
from ...quantities import Quantity
from ...theorem import Conditions, Sharper, printed, record_of, records, theorem
from .paper import ALL_FOR_ALL, source
from .theorem_2 import step_conditions

# Linear model f_i(x) = E(a^T x - b)^2/2. With a length l (the unit in which theta is measured), z = (l a, b) and
# xi = z z^T have the units of loss^1/2 and of loss, and l grad f_i(x) is the first d rows of E[xi_i] (x/l, -1). So
# l |grad f_i(x) - grad f_j(x)| <= |E xi_i - E xi_j| |(x/l, -1)| in spectral (or Frobenius) norm.


@theorem(
    key="sample-optimal/linear-dissimilarity",
    title="Dissimilarity of linear models",
    source=source("Section 6", ball="D^*"),
    quantity=Quantity.PEER_GRADIENT,
    mode="sure",
    hypotheses="|x_i*| <= ball; theta is measured in the fixed unit scale, and so is xi",
    tight="The bound is tight if d = 1, |x_i*| = ball and E xi_i - E xi_j is a reflection that takes (x_i*, -1) to the "
    "first axis.",
    monotone={"ball": 1, "moment": 1, "scale": -1},
)
def linear_dissimilarity(*, ball, scale, moment):
    """For f_i(x) = E(a^T x - b)^2/2 and xi = z z^T, z = (scale a, b): |grad f_j(x_i*)| is at most the bound, and |grad
    f_i(x) - grad f_j(x)| for every |x| <= ball."""
    return sqrt(scale**2 + ball**2) * moment / scale**2


@printed(
    linear_dissimilarity,
    fault="The last entry of (x, -1) is left out: two agents with a = 1, b = 0.1 and -0.1 differ by 0.2, not 0.03.",
    hypotheses="|x_i*| <= ball; theta is measured in units of scale",
    monotone={"ball": 1, "moment": 1},
)
def linear_dissimilarity_printed(*, ball, scale, moment):
    """For f_i(x) = E(a^T x - b)^2/2 and xi = z z^T, z = (a, b): b_ij <= D* |E xi_i - E xi_j|."""
    return ball * moment / scale**2


def samples_conditions(*, N, proxy_trace, nu2) -> Conditions:
    """A pair to compare, and an eigenvalue that is at most the trace."""
    return {"two agents 2 <= N": (2, N), "top eigenvalue nu2 <= proxy_trace": (nu2, proxy_trace)}


_MODEL = (
    "there are at least two clusters of size agents each; agents of a cluster have one E xi (hence one loss), and "
    "moment_gap is the smallest distance of two clusters' E xi; xi - E xi has E exp<y, xi - E xi> <= exp(y^T Sigma "
    "y/2), where proxy_trace and nu2 are the trace and top eigenvalue of Sigma (bounded xi have such a Sigma, xi = z "
    "z^T of Gaussian z has none)"
)

# Clusters from S samples each: the difference of two empirical means, less its own mean, has the proxy 2 Sigma/S, and
# (Hsu, Kakade, Zhang 2012; tr Sigma^2 <= nu^2 tr Sigma) its norm is with probability 1 - exp(-t) below
# r_S = sqrt(2/S) (sqrt(tr Sigma) + nu sqrt(2 t)). With t = ln(N (N - 1)/(2 p)) this holds for all pairs at once with
# probability 1 - p. If r_S <= Delta/2, pairs of one cluster are then nearer than Delta/2 and all others further.


@theorem(
    key="sample-optimal/theorem-5-samples",
    title="Samples that find the clusters",
    source=source("Theorem 5"),
    quantity=Quantity.SAMPLES,
    mode="probability",
    hypotheses=_MODEL,
    conditions=samples_conditions,
    monotone={"N": 1, "failure": -1, "proxy_trace": 1, "nu2": 1, "moment_gap": -1},
)
def theorem_5_samples(*, N, failure, proxy_trace, nu2, moment_gap):
    """From S samples of each agent, S at least the bound, all pairs are judged rightly by |mean_i -
    mean_j| <= moment_gap/2 with probability at least 1 - failure.

    8 (sqrt(tr Sigma) + nu sqrt(2 ln(N (N - 1)/(2 p))))^2/Delta^2."""
    reach = sqrt(proxy_trace) + sqrt(2 * nu2 * log(N * (N - 1) / (2 * failure)))
    return 8 * reach**2 / moment_gap**2


RUN = (
    f"{_MODEL}; f_i is L-smooth and mu-strongly convex; gradients are unbiased, independent across agents, of total "
    "variance at most sigma2 everywhere, from other samples than the clusters; all agents start at one point; Lambda "
    "averages over the connected components of {|mean_i - mean_j| <= moment_gap/2}; b_max is the largest weak "
    "dissimilarity"
)

# As `theorem_3` from its sharper record: noise stands for what wrong clusters add, failure b_max^2/(2 mu).


def _slower(new, *, eta, mu, beta, T, sigma2, size, failure, b_max, **others):
    """`theorem_5` from the sharper one."""
    noise = sigma2 + failure * b_max**2 / (eta * beta * (failure + 1 / size))
    return new(T=T / 2, sigma2=(2 - eta * mu) * noise, b_max=0 * b_max)


# Lambda averages over the connected components of {|mean_i - mean_j| <= Delta/2}: always a projection, so Theorem 3
# holds with smin = smax = 1 given the clusters. When they are right |W|_F^2/N = 1/C and the losses in a cluster are
# one; when not, with probability at most p, |W|_F^2/N <= 1 and Phi <= b_max^2/(2 mu).


@theorem(
    key="sample-optimal/theorem-5",
    title="All-for-all with estimated clusters",
    source=source("Theorem 5", **ALL_FOR_ALL),
    quantity=Quantity.MEAN_EXCESS,
    hypotheses=RUN,
    conditions=step_conditions,
    tight="The bound is tight if the clusters are certain, p is near 0 and mu = L at eta = 1/L.",
    superseded_by=Sharper(key="sample-optimal/theorem-5-sharp", ratio=(1, inf), exactly=_slower),
    monotone={"e0": 1, "sigma2": 1, "failure": 1, "b_max": 1, "size": -1, "beta": 1},
)
def theorem_5(*, eta, mu, beta, e0, sigma2, size, failure, b_max, T):
    """If all pairs are judged rightly but with probability p (theorem-5-samples) and eta <= 1/L, E[F^T] is at most the
    bound.

    (1 - eta mu)^T F^0 + [1 - (1 - eta mu)^T] (eta L sigma^2 (1/C + p) + p b_max^2)/(2 mu)."""
    floor = (eta * beta * sigma2 * (1 / size + failure) + failure * b_max**2) / (2 * mu)
    return survive(eta * mu, T) * e0 + floor * fall(eta * mu, T)


# p = min(1/C, mu eps/(2 b_max^2)) and eta = min(1/L, mu eps C/(2 L sigma^2)): noise at most eps/2, bias eps/4; what is
# left of eps is s/2 = eps/4.


@theorem(
    key="sample-optimal/corollary-2",
    title="Rounds with estimated clusters",
    source=source("Corollary 2", **ALL_FOR_ALL),
    quantity=Quantity.ROUNDS,
    hypotheses=RUN,
    conditions=lambda *, mu, beta: {"curvature mu <= beta": (mu, beta)},
    superseded_by=Sharper(key="sample-optimal/corollary-2-sharp", ratio=(4, 4)),
    monotone={"e0": 1, "sigma2": 1, "size": -1, "beta": 1, "eps": -1},
)
def corollary_2(*, mu, beta, eps, e0, sigma2, size):
    """If all pairs are judged rightly but with probability min(1/C, mu eps/(2 b_max^2)) and eta = min(1/L, mu eps C/(2
    L sigma2)), E[F^T] <= eps for every T of at least the bound.

    max(kappa, 2 kappa sigma^2/(mu eps C)) ln(1 + 4 (F^0 - eps)_+/eps)."""
    steps = maximum(beta / mu, 2 * beta * sigma2 / (mu**2 * eps * size))
    return steps * log1p(4 * maximum(0, e0 - eps) / eps)


def total_conditions(*, mu, beta, N, size, proxy_trace, nu2) -> Conditions:
    """Two clusters at least."""
    return {
        "two clusters 2 size <= N": (2 * size, N),
        "curvature mu <= beta": (mu, beta),
        **samples_conditions(N=N, proxy_trace=proxy_trace, nu2=nu2),
    }


@theorem(
    key="sample-optimal/theorem-4",
    title="Samples per agent with estimated clusters",
    source=source("Theorem 4", **ALL_FOR_ALL),
    quantity=Quantity.SAMPLES,
    hypotheses=RUN,
    conditions=total_conditions,
    superseded_by=Sharper(
        key="sample-optimal/theorem-4-sharp",
        ratio=(1, 4),
        # four times the rounds; samples that tell everything at once leave the rounds and two samples
        exactly=lambda new, **others: new() + 3 * (new(moment_gap=inf) - 2),
    ),
    monotone={"e0": 1, "sigma2": 1, "N": 1, "b_max": 1, "proxy_trace": 1, "nu2": 1, "moment_gap": -1},
)
def theorem_4(*, mu, beta, eps, e0, sigma2, N, size, b_max, proxy_trace, nu2, moment_gap):
    """With p = min(1/C, mu eps/(2 b_max^2)), S samples of each agent to find the clusters (theorem-5-samples) and T
    rounds (corollary-2), both rounded up, E[F^T] <= eps; S + T is at most the bound.

    The samples of Theorem 5 at p = min(1/C, mu eps/(2 b_max^2)) and the rounds of Corollary 2, each rounded up."""
    failure = minimum(1 / size, mu * eps / (2 * b_max**2))
    samples = theorem_5_samples(N=N, failure=failure, proxy_trace=proxy_trace, nu2=nu2, moment_gap=moment_gap)
    return corollary_2(mu=mu, beta=beta, eps=eps, e0=e0, sigma2=sigma2, size=size) + (samples + 2)


_FAULTS = (
    "Centred xi_i have equal means, so that Delta = 0, and xi_i - E xi_i is meant; d_eff = |Sigma|_2/nu^2 is 1 "
    "identically, and tr(Sigma)/nu^2 is meant"
)

THEOREMS = records(
    linear_dissimilarity_printed,
    linear_dissimilarity,
    record_of(theorem_4).as_printed(
        "Omega~ hides constants and logarithms.",
        fault=f"{_FAULTS}; nu and d_eff are used without Assumption 4; C >= nu^2 d_eff/eps compares xi^2 with a loss.",
        statement="Precision eps needs S = Omega~(nu^2 d_eff/Delta^2), C = Omega~(nu^2 d_eff/eps), "
        "K C = Omega~(kappa sigma^2/(eps mu)), K = Omega~(kappa).",
        source=source("Theorem 4"),
        hypotheses="",
    ),
    theorem_4,
    record_of(theorem_5).as_printed(
        "O~ hides constants and logarithms.",
        fault=f"{_FAULTS}; u, Delta^2 and nu^2 have the unit of xi^2, so u^2, 2u >= Delta and D*^2 b_max do not fit; a "
        "factor is missing, because a pair is misjudged with each of the M - 1 other clusters; rows that are wrong "
        "make Lambda no projection, so that Theorem 3's rate fails; and random features violate Assumption 1.",
        statement="With lambda_ij = 1{bhat_ij^2 <= u}/#, u >= 4 nu^2 d_eff/S: E[F^K] <= F^0 exp(-K/(2 kappa)) + "
        "O~((kappa sigma^2/(K mu)) (1/C + C exp(-S u/(8 nu^2)))) + "
        "(2 D*^2 b_max exp(-S max(Delta^2 - 2u, 2u^2)/(8 nu^2)) + 4 u^2 1{2u >= Delta})/mu.",
        source=source("Theorem 5"),
        hypotheses="",
    ),
    theorem_5,
    theorem_5_samples,
    record_of(corollary_2).as_printed(
        "Omega~ hides constants and logarithms.",
        fault=f"{_FAULTS}; C >= nu^2 d_eff/eps compares xi^2 with a loss, and is not needed.",
        statement="The statement is that of Theorem 4.",
        source=source("Corollary 2"),
        hypotheses="",
    ),
    corollary_2,
)
