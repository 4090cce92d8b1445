"""All-for-one with fixed weights under strong convexity: no kappa in the noise, weights in closed form.

The agents follow h = sum_j lambda_ij f_j, which is mu-strongly convex and L-smooth with the minimiser y; its noise has
the variance s = sigma^2 Lambda_2. What h leaves is turned into agent i's own excess.
"""

from __future__ import annotations

from ...elementary import log_ratio, maximum, spare, sqrt
from ...parameters import new_parameter
from ...quantities import Quantity
from ...theorem import Conditions, records, theorem
from ...units import LOSS
from .paper import source
from .theorem_2 import convexity_conditions

new_parameter(
    "mixture_excess",
    "G",
    LOSS,
    (1e-6, 1.0),
    "expected excess of the mixture of losses, E h(x) - min h with h = sum_j lambda_ij f_j",
)

_STRONG = (
    "every f_j is mu-strongly convex; |grad f_i(x) - grad f_j(x)| <= b_ij for all x (strong dissimilarity; the weak "
    "one does not suffice: theorem-2-weak); weights lambda_ij >= 0 sum to 1"
)

# |grad h - grad f_i| <= B: f_i - h changes by at most B |x - y| between x and y, and |grad f_i(y)| <= B gives
# f_i(y) - f_i* <= B^2/(2 mu). With delta = h(x) - min h >= mu |x - y|^2/2,
#     f_i(x) - f_i* <= delta + B sqrt(2 delta/mu) + B^2/(2 mu) = (sqrt(delta) + B/sqrt(2 mu))^2,
# and E sqrt(delta) <= sqrt(E delta).


@theorem(
    key="sample-optimal/theorem-2-mixture",
    title="Excess of an agent that follows a mixture",
    source=source("Theorem 2"),
    quantity=Quantity.EXCESS,
    hypotheses=f"{_STRONG}; x may be random",
    tight="The bound is always attained, at curvature mu without noise, by a start beyond the mixture's minimiser.",
    monotone={"mixture_excess": 1, "bias": 1, "mu": -1},
)
def mixture(*, mixture_excess, bias, mu):
    """Any model x with E h(x) - min h at most G has E f_i(x) - f_i* at most the bound, B = sum_j lambda_ij b_ij.

    (sqrt(G) + B/sqrt(2 mu))^2."""
    return (sqrt(mixture_excess) + bias / sqrt(2 * mu)) ** 2


# Rounds. c = sqrt(2 mu eps): G <= s' = (c - B)^2/(2 mu) will do. D_t = E|x_t - y|^2, K = T2 + 1.
#   Stage 1, T1 rounds at 2/(L + mu): D <= rho^(2 T1) D_0 + (1 - rho^(2 T1)) s/(mu L), rho = (kappa - 1)/(kappa + 1).
#   If s < mu s' it is all: T1 >= (kappa/4) ln_+(L D_0/s') gives E h - h* <= (L/2) D <= s'/2 + s/(2 mu) <= s'.
#   Else T1 >= (kappa/4) ln_+(kappa mu^2 D_0/s) leaves D <= 2 s/(mu L), and stage 2 runs at eta_t = 2/(mu (n + 2)),
#   n = 2 kappa + t, which is at most 1/L. A step has D+ <= (1 - eta mu)(D - 2 eta delta) + eta^2 s; multiplied by
#   (n + 1)(n + 2) and summed over t = 0 .. T2, with the output's weights p = n (n + 1)/(n + 2) >= n - 1,
#       sum p delta <= kappa (2 kappa + 1) mu D/2 + K s/mu <= (s/mu)(K + 2 kappa + 1),
#       sum p >= K (K + 4 kappa - 3)/2, and (K + 2 kappa + 1)(K - 4) <= K (K + 4 kappa - 3):
#   E h - h* <= 2 s/(mu (K - 4)), at most s' at K >= 2 s/(mu s') + 4.
# 2 s/(mu s') = 4 s/(c - B)^2, mu s' = (c - B)^2/2; T1 + T2 <= (both before rounding) + 1 + 4.

_PLAN = (
    "f_j are L-smooth; gradients are unbiased, independent across agents, each of total variance at most sigma2; "
    "distance2 is the squared distance of the start to the minimiser of the mixture; T1 rounds have the step 2/(L + "
    "mu), then T2 rounds have the steps 2/(mu (n + 2)), n = 2 kappa, 2 kappa + 1, ...; the output averages the T2 + 1 "
    "iterates of stage 2 with weights n (n + 1)/(n + 2)"
)


@theorem(
    key="sample-optimal/theorem-2-mixture-rounds",
    title="All-for-one in two stages, rounds without kappa on the noise",
    source=source("Theorem 2", distance2=r"\|x^0-y\|^2"),
    quantity=Quantity.ROUNDS,
    reaches=Quantity.OUTPUT_EXCESS,
    hypotheses=f"{_STRONG}; {_PLAN}. theorem-2-rounds needs PL alone and is smaller where kappa is 1 and the noise is "
    "small",
    # The bias leaves a twentieth of sqrt(eps).
    conditions=lambda *, mu, beta, eps, bias: {
        "bias bias^2 <= 1.8 mu eps": (bias**2, 1.8 * mu * eps),
        **convexity_conditions(mu=mu, beta=beta),
    },
    tight="The bound is tight for the plan's own rounds: the plan's exact excess on kinked losses reaches more than "
    "half of eps.",
    monotone={"distance2": 1, "bias": 1, "beta": 1},
)
def mixture_rounds(*, mu, beta, eps, distance2, sigma2, lambda2, bias):
    """With c = sqrt(2 mu eps), s = sigma2 lambda2, T1 = ceil((kappa/4) ln_+(L mu |x^0 - y|^2/max(s, (c - B)^2/2))),
    and T2 = max(0, ceil(4 s/(c - B)^2 + 3)) if s >= (c - B)^2/2, else 0, two stages have E[e] <= eps; T1 + T2 is at
    most the bound.

    (kappa/4) ln_+(L mu |x^0 - y|^2/max(s, (c - B)^2/2)) + 4 sigma^2 Lambda_2/(c - B)^2 + 5."""
    room = 2 * mu * eps * spare(bias / sqrt(2 * mu * eps)) ** 2
    noise = sigma2 * lambda2
    start = beta / mu / 4 * log_ratio(beta * mu * distance2, maximum(noise, room / 2))
    return start + 4 * noise / room + 5


# Which weights? z = lambda/(c - B) has sum_j (c - b_j) z_j = 1, and |z|^2 = Lambda_2/(c - B)^2 is least, by Cauchy and
# Schwarz over z >= 0, at z ~ (c - b)_+: 1/S with S = sum_j (c - b_ij)_+^2. Then (c - B)^2 = S Lambda_2.


def optimal_conditions(*, mu, beta, eps, signal2) -> Conditions:
    """b_ii = 0."""
    return {
        "agent i's own share 2 mu eps <= signal2": (2 * mu * eps, signal2),
        **convexity_conditions(mu=mu, beta=beta),
    }


@theorem(
    key="sample-optimal/theorem-2-optimal-rounds",
    title="All-for-one with the best fixed weights, sample-optimal for any dissimilarities",
    source=source("Theorem 2", distance2=r"\|x^0-y\|^2"),
    quantity=Quantity.ROUNDS,
    reaches=Quantity.OUTPUT_EXCESS,
    hypotheses=f"{_STRONG}; {_PLAN}. Equal weights of theorem-2-rounds-threshold need PL alone",
    conditions=optimal_conditions,
    tight="The bound is tight for the plan's own rounds; the lower bound theorem-1-sum is .8508 sigma^2/sum_j (2 "
    "sqrt(mu eps) - b_ij)_+^2.",
    monotone={"distance2": 1, "signal2": -1, "beta": 1},
)
def optimal_rounds(*, mu, beta, eps, distance2, sigma2, lambda2, signal2):
    """With lambda_ij = (c - b_ij)_+/sum_k (c - b_ik)_+, c = sqrt(2 mu eps), signal2 = sum_j (c - b_ij)_+^2 and two
    stages as in theorem-2-mixture-rounds, E[e] <= eps; T1 + T2 is at most the bound.

    (kappa/4) ln_+(L mu |x^0 - y|^2/(Lambda_2 max(sigma^2, S/2))) + 4 sigma^2/S + 5, S = sum_j (c - b_ij)_+^2."""
    start = beta / mu / 4 * log_ratio(beta * mu * distance2, lambda2 * maximum(sigma2, signal2 / 2))
    return start + 4 * sigma2 / signal2 + 5


THEOREMS = records(mixture, mixture_rounds, optimal_rounds)
