"""All-for-all in two stages: neither kappa nor a logarithm multiplies the noise in the number of rounds.

Stage 1 brings the distance down to the noise at one constant step, stage 2 averages at decreasing steps.
"""

from __future__ import annotations

from functools import partial

from ...elementary import difference, fall, log_ratio, maximum, spare, survive
from ...quantities import Quantity
from ...theorem import Conditions, records, theorem
from .paper import ALL_FOR_ALL, source
from .theorem_3 import STANDING, rounds_conditions, spectrum_conditions

_record = partial(
    theorem,
    source=source("Theorem 3", **ALL_FOR_ALL),
    hypotheses=f"{STANDING}; near the numerical tolerance of smin use theorem-3-averaged-sharp",
)

# x = Lambda y, y in V = range(Lambda^T): phi(y) = F(Lambda y) is M-smooth and m-strongly convex there, M = L smax,
# m = mu smin, and a round is y+ = y - eta (grad phi(y) + Lambda^T n). Let u = y - y*, g = grad phi(y), delta = phi(y) -
# min phi. Strong convexity gives <g, u> >= delta + m |u|^2/2, interpolation between y and y* with m |u|^2/2 set aside
# gives <g, u> >= (1 - m/M) delta + |g|^2/(2 M) + m |u|^2/2. With the weights 1 - eta M and eta M of the two
#   <g, u> >= (1 - eta m) delta + eta |g|^2/2 + m |u|^2/2,
# so |u - eta g|^2 <= (1 - eta m) (|u|^2 - 2 eta delta). Noise adds eta^2 E|Lambda^T n|^2 = eta^2 sum_j W_jj E|n_j|^2,
# at most eta^2 sigma^2 |Lambda|_F^2. Divide by N.


@_record(
    key="sample-optimal/theorem-3-two-stage-step",
    title="One round of All-for-all, seen from the minimiser",
    quantity=Quantity.NEXT_FILTERED_DISTANCE,
    conditions=lambda *, eta, mu, beta, smin, smax, start2, filtered_excess: {
        "step size eta <= 1/(beta smax)": (eta, 1 / (beta * smax)),
        "smoothness 2 eta filtered_excess <= start2": (2 * eta * filtered_excess, start2),
        **spectrum_conditions(mu=mu, beta=beta, smin=smin, smax=smax),
    },
    tight="The bound is tight for curvature mu at every step and for curvature 1/eta, and for both at once where the "
    "slope changes.",
    monotone={"start2": 1, "filtered_excess": -1, "sigma2": 1, "lambda2": 1},
)
def two_stage_step(*, eta, mu, smin, start2, filtered_excess, sigma2, lambda2):
    """For any step eta <= 1/(L smax) the mean squared distance of y to the minimiser of F(Lambda y), x = Lambda y, is
    after one round at most the bound.

    (1 - eta m) (D - 2 eta delta) + eta^2 sigma^2 |Lambda|_F^2/N, m = mu smin."""
    left = survive(eta * mu * smin, 1) * difference(start2, 2 * eta * filtered_excess)
    return left + eta**2 * sigma2 * lambda2


def stages_conditions(*, mu, beta, smin, smax, offset, T2) -> Conditions:
    """Steps of stage 2 that start within the limit, and a weight to average with."""
    return {
        "first step 2 beta smax/(mu smin) - 2 <= offset": (2 * beta * smax / (mu * smin) - 2, offset),
        "a weight in stage 2, 1 <= offset + T2": (1, offset + T2),
        **spectrum_conditions(mu=mu, beta=beta, smin=smin, smax=smax),
    }


# Stage 1: a gradient step at eta = 2/(M + m) contracts distances by rho = (M - m)/(M + m), and the noise sums to
# eta^2 s/(1 - rho^2) = s/(m M), s = sigma^2 Lambda_2. So D is at most rho^2T1 D_0 + (1 - rho^2T1) s/(m M).
# Stage 2: with eta_t = 2/(m (n + 2)), n = a + t, multiply the step's inequality by (n + 1) (n + 2): as
# (1 - eta_t m) (n + 1) (n + 2) = n (n + 1) the distances telescope, and with p_t = n (n + 1)/(n + 2)
#   (4/m) sum_{t <= T2} p_t delta_t <= a (a + 1) D + (4 s/m^2) sum_{t <= T2} (n + 1)/(n + 2);
# the step at t = T2 is in the proof alone. p_t = n - 1 + 2/(n + 2) is convex in t and (n + 1)/(n + 2) concave: their
# sums are at least, and at most, T2 + 1 times what they are at the mean nbar = a + T2/2 of n. min phi <= N Phi.


@_record(
    key="sample-optimal/theorem-3-two-stage",
    title="All-for-all in two stages",
    quantity=Quantity.STAGE_EXCESS,
    conditions=stages_conditions,
    tight="The bound is tight at T2 = 0 if all follow agent 1 of three, of curvature L and minimisers 0, D and -D; and "
    "from the minimiser with curvature L if 1 << T2 << a.",
    monotone={"start2": 1, "sigma2": 1, "lambda2": 1, "peer_excess": 1},
)
def two_stage(*, mu, beta, smin, smax, offset, T1, T2, start2, sigma2, lambda2, peer_excess):
    """T1 rounds have the step eta = 2/(L smax + mu smin), then T2 have 2/(mu smin (n + 2)), n = a + t, t = 0, 1, ...
    The mean of F over the T2 + 1 models of stage 2, its first one included, with weights p_t = n (n + 1)/(n + 2) is at
    most the bound; so is F at the mean of these models with these weights, which is the output.

    Phi + s/(m nbar) + a (a + 1) (nbar + 2) m D/(4 (T2 + 1) nbar (nbar + 1)), nbar = a + T2/2, m = mu smin, D = q D_0 +
    (1 - q) s/(m L smax), s = sigma^2 Lambda_2, q = ((kappa - 1)/(kappa + 1))^2T1, kappa = L smax/m."""
    m, most, noise = mu * smin, beta * smax, sigma2 * lambda2
    lost, mean = 2 * m / (most + m), offset + T2 / 2
    distance = survive(lost, 2 * T1) * start2 + noise / (m * most) * fall(lost, 2 * T1)
    left = offset * (offset + 1) * (mean + 2) / (4 * (T2 + 1) * mean * (mean + 1))
    return peer_excess + noise / (m * mean) + left * m * distance


# Rounds. s' = eps - Phi, a = 2 kappa. T1 is the least number with rho^2T1 D_0 <= max(s, m s')/(kappa m^2); as
# -ln(rho) = ln((kappa + 1)/(kappa - 1)) >= 2/kappa and D_0 <= 2 F^0/m, it is at most 1 more than the first term.
# If s <= m s': D <= 2 s'/(kappa m), and already F at the first model of stage 2 is at most Phi + M D/2 <= eps.
# Else D <= 2 s/(kappa m^2), and with n = T2 + 1, nbar = 2 kappa + (n - 1)/2 the bound is at most
#   Phi + (s/m) (1 + (2 kappa + 1) (nbar + 2)/(n (nbar + 1)))/nbar.
# It is at most eps for n >= 2 s/(m s') + c: as n >= 1 this is a polynomial inequality in n and kappa, true with c = 0
# for kappa >= 3/2, and with c = 1/2 for every kappa >= 1. So T2 <= 2 s/(m s') + 1/2.


@_record(
    key="sample-optimal/theorem-3-two-stage-rounds",
    title="All-for-all in two stages, rounds to a precision",
    quantity=Quantity.ROUNDS,
    reaches=Quantity.MEAN_OUTPUT_EXCESS,
    conditions=rounds_conditions,
    tight="T1 + T2 itself is tight where what is rounded up is just above a whole number and kappa < 3/2.",
    monotone={"e0": 1, "peer_excess": 1, "smax": 1, "beta": 1, "eps": -1},
)
def two_stage_rounds(*, mu, beta, smin, smax, eps, e0, sigma2, lambda2, peer_excess):
    """With kappa = L smax/m, m = mu smin, s = sigma2 lambda2, s' = eps - peer_excess and X = 2 kappa m e0/max(s, m s')
    take T1 = ceil(ln(X)_+/(2 ln((kappa + 1)/(kappa - 1)))), a = 2 kappa and T2 = 0 if s <= m s', else ceil(2 s/(m s') +
    c) - 1, c = 1/2 if kappa < 3/2, else 0: the output of theorem-3-two-stage has E[F] <= eps. T1 + T2 is at most the
    bound.

    (kappa/4) ln(X)_+ + 2 s/(m s') + 3/2. Where the noise decides it is the less of the rounds of
    theorem-3-sharp-rounds; these are fewer where nearly all is start, by up to ln(kappa) kappa/4 and 3/2."""
    m, noise, slack = mu * smin, sigma2 * lambda2, eps * spare(peer_excess / eps)
    start = log_ratio(2 * beta * smax * e0, maximum(noise, m * slack))
    return beta * smax / (4 * m) * start + 2 * noise / (m * slack) + 3 / 2


THEOREMS = records(two_stage_step, two_stage, two_stage_rounds)
