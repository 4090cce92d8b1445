"""All-for-all with noise that grows with the loss, as in the linear model of Section 6: its mean loss, two stages."""

from __future__ import annotations

from functools import partial

from ...elementary import fall, spare, survive
from ...quantities import Quantity
from ...theorem import Conditions, records, theorem
from .paper import ALL_FOR_ALL, source
from .theorem_3 import spectrum_conditions

_NOISE = (
    "gradients are unbiased, independent across agents, agent j's of total variance at most sigma2 + 2 growth "
    "(f_j(x_j) - f_j*); W = Lambda Lambda^T with Lambda >= 0 of unit row sums; all agents start at one point"
)
_record = partial(theorem, source=source("Theorem 3, for the linear model of Section 6", **ALL_FOR_ALL))

# Noise of y: E|Lambda^T n|^2/N = (1/N) sum_j W_jj E|n_j|^2 is at most sigma^2 Lambda_2 + 2 A w F, w = max_j W_jj, and
# F = delta + min phi/N <= delta + Phi: s + 2 A w delta with s = sigma^2 Lambda_2 + 2 A w Phi. Into the inequality of
# theorem-3-two-stage-step:
#   E D+ <= (1 - eta m) D - 2 eta (1 - eta m - eta A w) delta + eta^2 s.                                        (*)
# For convex losses, m = 0: 2 eta (1 - eta A w) delta_t <= D_t - D_{t+1} + eta^2 s. Sum over t <= T, where the step at T
# is in the proof alone and has no noise.


def growing_conditions(*, eta, beta, smax, growth, row_weight) -> Conditions:
    """The limits of the step, for the descent and for the noise that grows."""
    return {
        "step size eta <= 1/(beta smax)": (eta, 1 / (beta * smax)),
        "growing noise eta growth row_weight <= 0.9": (eta * growth * row_weight, 0.9),
    }


@_record(
    key="sample-optimal/theorem-3-growing",
    title="All-for-all, mean loss with noise that grows with the loss",
    quantity=Quantity.MEAN_OF_EXCESSES,
    hypotheses=f"f_i is L-smooth and convex, with a minimiser; {_NOISE}",
    conditions=growing_conditions,
    tight="The bound is tight at curvature L = 1/eta from the minimiser for T large; without growth at every T, and "
    "from anywhere at T = 0.",
    monotone={"start2": 1, "sigma2": 1, "lambda2": 1, "growth": 1, "row_weight": 1, "peer_excess": 1},
)
def growing_mean(*, eta, start2, sigma2, lambda2, growth, row_weight, peer_excess, T):
    """With any step eta <= 1/(L smax), eta A w < 1, the mean of F over the iterates 0 to T is at most the bound, and so
    is F at the mean of these models, after T rounds. Without growth theorem-3-averaged-sharp says nearly the same of
    the iterates 1 to T, from the distances to the agents' own minimisers.

    Phi + (D_0/(2 eta (T + 1)) + (eta s/2) T/(T + 1))/(1 - eta A w), s = sigma^2 Lambda_2 + 2 A w Phi, A = growth."""
    noise = sigma2 * lambda2 + 2 * growth * row_weight * peer_excess
    mean = (start2 / (2 * eta) + eta * noise * T / 2) / (T + 1)
    return peer_excess + mean / spare(eta * growth * row_weight)


# Two stages. Stage 1 at eta: delta >= m D/2 in (*) leaves D+ <= r D + eta^2 s, 1 - r = eta m (2 - eta (m + A w)).
# Stage 2 as in theorem-3-two-stage, eta_t = 2/(m (n + 2)): delta_t now has the weight p_t (1 - g/n), g = 2 A w/m. It is
# (n + 1) (n - g)/(n + 2) = n - 1 - g + (2 + g)/(n + 2), convex in n: the sum is again at least T2 + 1 times its value
# at the mean index.


def growing_stages_conditions(*, eta, mu, beta, smin, smax, offset, T2, growth, row_weight) -> Conditions:
    """Both limits of either stage, and weights that are not negative."""
    m, most, extra = mu * smin, beta * smax, growth * row_weight
    return {
        "step size eta <= 1/(beta smax)": (eta, 1 / most),
        "growing noise eta (mu smin + growth row_weight) <= 1": (eta * (m + extra), 1),
        "first step 2 beta smax/(mu smin) - 2 <= offset": (2 * most / m - 2, offset),
        "weights 2 growth row_weight/(mu smin) <= offset": (2 * extra / m, offset),
        "a weight in stage 2, 1 + 2 growth row_weight/(mu smin) <= offset + T2/2": (1 + 2 * extra / m, offset + T2 / 2),
        **spectrum_conditions(mu=mu, beta=beta, smin=smin, smax=smax),
    }


@_record(
    key="sample-optimal/theorem-3-two-stage-growing",
    title="All-for-all in two stages with noise that grows with the loss",
    quantity=Quantity.STAGE_EXCESS,
    hypotheses=f"f_i is L-smooth and mu-strongly convex; {_NOISE}",
    conditions=growing_stages_conditions,
    tight="The bound is tight at curvature L and steps of nearly 1/L all along, if 1 << T2 << a; and at curvature mu "
    "if T2 is far beyond a.",
    monotone={"start2": 1, "sigma2": 1, "lambda2": 1, "growth": 1, "row_weight": 1, "peer_excess": 1},
)
def growing_stages(
    *, eta, mu, smin, offset, T1, T2, start2, sigma2, lambda2, growth, row_weight, peer_excess
):  # fmt: skip
    """T1 rounds have the step eta, then T2 have 2/(mu smin (n + 2)), n = a + t, t = 0, 1, ... The mean of F over the T2
    + 1 models of stage 2 with weights p_t = (n + 1) (n - g)/(n + 2), g = 2 A w/m, is at most the bound; so is F at
    their mean. Without growth theorem-3-two-stage has the longer first steps 2/(L smax + mu smin).

    Phi + s/(m (nbar - g)) + a (a + 1) (nbar + 2) m D/(4 (T2 + 1) (nbar + 1) (nbar - g)), nbar = a + T2/2, m = mu smin,
    D = r^T1 D_0 + (1 - r^T1) eta s/(m z), z = 2 - eta (m + A w), r = 1 - eta m z, s = sigma^2 Lambda_2 + 2 A w Phi."""
    m, extra, mean = mu * smin, growth * row_weight, offset + T2 / 2
    noise = sigma2 * lambda2 + 2 * extra * peer_excess
    gain = 2 - eta * (m + extra)
    distance = survive(eta * m * gain, T1) * start2 + eta * noise / (m * gain) * fall(eta * m * gain, T1)
    room = mean * spare(2 * extra / (m * mean))
    left = offset * (offset + 1) * (mean + 2) / (4 * (T2 + 1) * (mean + 1) * room)
    return peer_excess + noise / (m * room) + left * m * distance


THEOREMS = records(growing_mean, growing_stages)
