"""Theorem 3 for the mean of All-for-all's iterates: convexity is enough, the spectrum of W does not enter."""

from __future__ import annotations

from functools import partial
from math import inf

from ...elementary import maximum, spare, up
from ...quantities import Quantity
from ...theorem import Conditions, Sharper, records, theorem
from .paper import ALL_FOR_ALL, source


def averaged_conditions(*, eta, beta, smax, T) -> Conditions:
    """The step of the descent inequality for W, and something to average."""
    return {"step size eta <= 1/(beta smax)": (eta, 1 / (beta * smax)), "one round 1 <= T": (1, T)}


_EXCESS = {"mean_distance2": 1, "sigma2": 1, "lambda2": 1, "peer_excess": 1, "T": -1}
_MEAN = (
    "With any step eta <= 1/(L smax) the average of the iterates 1 to T has an excess loss, mean over the agents, of "
    "at most the bound; the spectrum of W does not enter."
)

_CONVEX = (
    "f_i is L-smooth and convex, with a minimiser x_i*; gradients are unbiased, independent across agents, each of "
    "total variance at most sigma2; W = Lambda Lambda^T, Lambda >= 0 of unit row sums; all agents start at one point; "
    "mean_distance2 may leave out what Lambda maps to 0"
)

_record = partial(theorem, source=source("Theorem 3", **ALL_FOR_ALL), hypotheses=_CONVEX)

# x = Lambda y, phi(y) = F(Lambda y) is convex and L smax-smooth; y+ = y - eta (grad phi(y) + z) with z = Lambda^T n,
# E|z|^2 <= s = sigma^2 |Lambda|_F^2. phi depends on P y alone, P the projector on the range of Lambda^T, and y - P y
# stays: D = |P (y^0 - x*)|. Put u_t = y^t - x*, g_t = grad phi(y^t), a = grad phi(x*), which need not be 0.
# By interpolation and eta L smax <= 1
#   A_t: phi(y^t) - phi(x*)  <= <g_t, u_t> - (eta/2) |g_t - a|^2,
#   B_t: phi(y^t) - phi(y^0) <= <g_t, u_t - u_0> - (eta/2) |g_t - g_0|^2.
# Take T/(T + 1) of A_t and 1/(T + 1) of B_t + A_0, for t = 1..T, and u_t = u_0 - eta sum_{k < t} (g_k + z_k). The
# |g_t|^2 cancel. With q = T/(T + 1), p = u_0 + eta a and G = g_1 + ... + g_T the sum over t of phi(y^t) - phi(x*) is
# at most
#   q <G + g_0, p - eta g_0> - (eta/2) |G|^2 - (eta/2) T |a|^2 - eta sum_{k < T} <z_k, g_{k+1} + ... + g_T>.
# Noise: E<z_k, g_{k+1} + ... + g_T> = E<z_k, d_k>, d_k what z_k adds to the conditional mean of G; these are
# orthogonal, so that -(eta/2) E|G|^2 = -(eta/2) (|E G|^2 + sum_k E|d_k|^2) pays for all but (eta/2) T s. What is left
# is, by three squares, at most T D^2/(2 eta (T + 1)). Jensen for the mean of y^1..y^T; phi(x*) <= N Phi; divide by N.
# (a = 0 leaves D^2/(2 eta (T + 2)) in the mean: Huber losses of one agent attain it.)


@_record(
    key="sample-optimal/theorem-3-averaged-sharp",
    title="All-for-all, averaged iterate, half the noise",
    statement=_MEAN,
    quantity=Quantity.AVERAGED_EXCESS,
    conditions=averaged_conditions,
    tight="The bound is tight at any T if all follow one agent, at whose minimiser the losses of the others, very "
    "many, are linear; for one step of curvature L = 1/eta from the minimiser; and for both at once at T = 1.",
    monotone=_EXCESS,
)
def theorem_3_averaged_sharp(*, eta, sigma2, lambda2, mean_distance2, peer_excess, T):
    """D^2/(2 eta (T + 1) N) + eta sigma^2 |Lambda|_F^2/(2 N) + Phi."""
    return mean_distance2 / (2 * eta * (T + 1)) + eta * sigma2 * lambda2 / 2 + peer_excess


@_record(
    key="sample-optimal/theorem-3-averaged",
    title="All-for-all, averaged iterate",
    statement=_MEAN,
    quantity=Quantity.AVERAGED_EXCESS,
    conditions=averaged_conditions,
    tight="The bound is tight without noise for T large, as the sharper one is.",
    superseded_by=Sharper(
        key="sample-optimal/theorem-3-averaged-sharp",
        ratio=(1, 2),
        exactly=lambda new, *, T, sigma2, **others: new(T=T - 1, sigma2=2 * sigma2),
    ),
    monotone=_EXCESS,
)
def theorem_3_averaged(*, eta, sigma2, lambda2, mean_distance2, peer_excess, T):
    """D^2/(2 eta T N) + eta sigma^2 |Lambda|_F^2/N + Phi: by one step's descent alone."""
    return mean_distance2 / (2 * eta * T) + eta * sigma2 * lambda2 + peer_excess


def averaged_rounds_conditions(*, eps, peer_excess) -> Conditions:
    """The bias leaves at least a tenth of the precision."""
    return {"bias peer_excess <= 0.9 eps": (peer_excess, 0.9 * eps)}


_COUNT = {"mean_distance2": 1, "sigma2": 1, "lambda2": 1, "peer_excess": 1, "smax": 1, "beta": 1, "eps": -1}

# Rounds: s = eps - Phi, V = sigma^2 Lambda_2/s. At eta = 1/M, M = max(L smax, V), the noise is (V/(2 M)) s <= s/2, and
# D^2 M/(2 (T + 1) N) at most the other (2 M - V) s/(2 M) from T + 1 = D^2 M^2/(N s (2 M - V)) on. The older count has
# twice the noise: eta = min(1/(L smax), 1/(2 V)), and D^2/(2 eta T N) <= s/2.


@_record(
    key="sample-optimal/theorem-3-averaged-sharp-rounds",
    title="All-for-all, half the rounds to a precision for the averaged iterate",
    quantity=Quantity.ROUNDS,
    conditions=averaged_rounds_conditions,
    tight="The bound is tight where the bound at a step is: for linear losses without noise, and with noise at T = 1.",
    monotone=_COUNT,
)
def theorem_3_averaged_sharp_rounds(*, beta, smax, eps, sigma2, lambda2, mean_distance2, peer_excess):
    """With s = eps - peer_excess and eta = min(1/(L smax), s/(sigma2 lambda2)), the average of the iterates 1 to T has
    a mean excess loss of at most eps for every T >= 1 of at least the bound.

    ((D^2/(N s)) M^2/(2 M - V) - 1)_+, V = sigma^2 Lambda_2/s, M = max(L smax, V), s = eps - Phi."""
    slack = eps * spare(peer_excess / eps)
    noise = sigma2 * lambda2 / slack
    most = maximum(beta * smax, noise)
    return maximum(0, up(mean_distance2 / slack * most**2 / (2 * most - noise)) - 1)


# Without noise the sharper count is max(0, D L smax/(2 s) - 1): the old one, where half of L smax is the inverse of the
# old step. From 10^40 times as far off the 1 and the maximum make no difference.
_FAR = 1e40


def _of_sharper_rounds(new, *, beta, smax, eps, sigma2, lambda2, mean_distance2, peer_excess):
    """`theorem_3_averaged_rounds` from the sharper one."""
    inverse = maximum(beta * smax, 2 * sigma2 * lambda2 / (eps - peer_excess))
    return (new(sigma2=0 * sigma2, beta=2 * inverse / smax, mean_distance2=_FAR * mean_distance2) + 1) / _FAR


@_record(
    key="sample-optimal/theorem-3-averaged-rounds",
    title="All-for-all, rounds to a precision for the averaged iterate",
    quantity=Quantity.ROUNDS,
    conditions=averaged_rounds_conditions,
    superseded_by=Sharper(
        key="sample-optimal/theorem-3-averaged-sharp-rounds", ratio=(1.5, inf), exactly=_of_sharper_rounds
    ),
    monotone=_COUNT,
)
def theorem_3_averaged_rounds(*, beta, smax, eps, sigma2, lambda2, mean_distance2, peer_excess):
    """With s = eps - peer_excess and eta = min(1/(L smax), s/(2 sigma2 lambda2)), the average of the iterates 1 to T
    has a mean excess loss of at most eps for every T >= 1 of at least the bound.

    (D^2/(N s)) max(L smax, 2 sigma^2 Lambda_2/s), s = eps - Phi."""
    slack = eps * spare(peer_excess / eps)
    return mean_distance2 / slack * maximum(beta * smax, 2 * sigma2 * lambda2 / slack)


THEOREMS = records(
    theorem_3_averaged_sharp, theorem_3_averaged, theorem_3_averaged_sharp_rounds, theorem_3_averaged_rounds
)
