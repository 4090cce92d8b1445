"""Theorem I and Corollary II, corrected: averages over T steps inside a cluster."""

from __future__ import annotations

from functools import partial
from math import inf

from ...elementary import maximum, minimum, spare, sqrt
from ...quantities import Quantity
from ...theorem import Conditions, Sharper, Source, records, theorem
from .assumption_4 import cluster_dissimilarity, collaborative
from .best_tilt import of_settled_clients
from .descent import COLLABORATIVE
from .paper import source
from .theorem_1_star import of_settled, of_settled_consensus, of_settled_midpoints, of_tuned, star_midpoints

# Averages over t < T: A of E|grad fbar(xbar_t)|^2 and B of E Xi_t. With k = rho c - L, l = L/k, m^2 of
# `cluster_dissimilarity`, Delta = fbar(xbar_0) - inf fbar:
#     A <= 2 Delta/(eta T) + L^2 B + L eta sigma2/c                          (`mean_descent`, summed)
#     B <= Xi_0/(eta T k) + m^2 A/k^2 + (eta sigma2/k)(1 - 1/c)              (`lemma_4`, summed; p = eta k)
# Insert B in A: with v = 1/c + l (1 - 1/c), and m l < 1 exactly when rho c > (1 + m) L,
#     (1 - m^2 l^2) A <= (2 Delta + l L Xi_0)/(eta T) + L eta sigma2 v.
# B also bounds the average over t = 1..T: p sum Xi_t is then at most (1 - p)(Xi_0 - Xi_T) and the same other terms.


def lag(*, beta, rho, size):
    """l = L / (rho c - L): how far the models lag behind their mean, in units of the curvature."""
    return beta / (rho * size - beta)


def noise_share(*, beta, rho, size):
    """v = 1/c + l (1 - 1/c): the share of one client's variance that is left; at most 2/c when rho c >= L (c + 1)."""
    return (1 + lag(beta=beta, rho=rho, size=size) * (size - 1)) / size


def start(*, beta, rho, size, e0, spread):
    """P = 2 Delta + l L Xi_0."""
    return 2 * e0 + lag(beta=beta, rho=rho, size=size) * beta * spread


def absorbed(*, beta, rho, size, M):
    """1 - m^2 l^2."""
    return spare(cluster_dissimilarity(M=M, size=size) * lag(beta=beta, rho=rho, size=size) ** 2)


_A = (
    "A = [(2 Delta + l L Xi_0)/(eta T) + L eta sigma2 v]/(1 - m^2 l^2), l = L/(rho c - L), v = 1/c + l (1 - 1/c), "
    "Delta = fbar(xbar_0) - inf fbar, Xi_0 the consensus distance at the start, m^2 that of cobo/cluster-dissimilarity"
)
_NEED = "For rho c >= 1.01 (1 + m) L and eta <= 1/(rho c)"

# `star` with rho - L/c for rho has the lag l = L/(rho c - L), and 1 - m^2 l^2 with m^2 (1 - l^2) for m^2.


def _of_star(new, *, beta, rho, size, M, **others):
    """`mean_gradient` from `star`, or what `others` change of it."""
    m2 = cluster_dissimilarity(M=M, size=size) * (1 - lag(beta=beta, rho=rho, size=size) ** 2)
    return new(rho=rho - beta / size, dissimilarity=m2, **others)


def _place(locator: str) -> Source:
    return source(locator, spread=r"\Xi_0")


def conditions(*, eta, beta, rho, size, M, T) -> Conditions:
    """The step must not overshoot the mean."""
    return {
        "step size eta <= 1/(rho size)": (eta, 1 / (rho * size)),
        **tuned_conditions(beta=beta, rho=rho, size=size, M=M, T=T),
    }


_SETTLED = (
    f"{COLLABORATIVE}; fbar is bounded below. If the weights of a run settle at a stopping time, Delta and Xi_0 are "
    "taken there and steps counted from there. Under noise weights never settle, and theorem-1-star covers such runs"
)
_MONOTONE = {"e0": 1, "spread": 1, "sigma2": 1, "M": 1, "beta": 1, "T": -1}

_record = partial(theorem, conditions=conditions, monotone=_MONOTONE | {"rho": -1}, hypotheses=_SETTLED)


@_record(
    key="cobo/theorem-1-mean-gradient",
    title="Stationarity of the mean model",
    source=_place("Theorem I, for the mean of the cluster"),
    statement=f"{_NEED}, the average over T steps of E|grad fbar(xbar_t)|^2 is at most {_A}.",
    quantity=Quantity.AVERAGE_MEAN_GRADIENT,
    tight="For one client with eta near 1/L the term of the start is tight at T = 1, and the noise term for T large.",
    superseded_by=Sharper(key="cobo/theorem-1-star", ratio=(1, inf), at=of_settled, exactly=_of_star),
)
def mean_gradient(*, eta, beta, rho, size, M, e0, spread, sigma2, T):
    """[(2 Delta + l L Xi_0)/(eta T) + L eta sigma2 v] / (1 - m^2 l^2)."""
    bias = start(beta=beta, rho=rho, size=size, e0=e0, spread=spread) / (eta * T)
    noise = beta * eta * sigma2 * noise_share(beta=beta, rho=rho, size=size)
    return (bias + noise) / absorbed(beta=beta, rho=rho, size=size, M=M)


# eta = min(1/(rho c), sqrt(P/(T L sigma2 v))) and S = sqrt(P L sigma2 v/T). L eta sigma2 v <= S since eta is at most
# the root; P/(eta T) is S at the root and rho c P/T >= S at the limit.


def tuned_step(*, beta, rho, size, e0, spread, sigma2, T):
    """eta = min(1/(rho c), sqrt(P/(T L sigma2 v))), for a start P > 0."""
    balance = T * beta * sigma2 * noise_share(beta=beta, rho=rho, size=size)
    return 1 / maximum(rho * size, sqrt(balance / start(beta=beta, rho=rho, size=size, e0=e0, spread=spread)))


# The margin 1.01 keeps m l <= 1/1.01, so that 1 - m^2 l^2 >= 0.019. The printed M^2 <= 1/5 (m^2 < 1/2) and
# rho >= sqrt(3) L/c suffice, since 1.01 (1 + sqrt(1/2)) < sqrt(3).


def tuned_conditions(*, beta, rho, size, M, T) -> Conditions:
    """The penalty outweighs curvature and heterogeneity: rho c >= 1.01 (1 + m) L."""
    m = sqrt(maximum(0, cluster_dissimilarity(M=M, size=size)))  # negative beyond M = 1, which is refused below
    required = 1.01 * (1 + m) * beta / size
    return {"penalty 1.01 (1 + m) beta/size <= rho": (required, rho), **collaborative(M=M), "horizon 1 <= T": (1, T)}


def _of_tuned_star(new, *, e0, spread, sigma2, T, **given):
    """`tuned` from `star`: its start at the tuned step without noise, its noise at the balanced step."""
    place = {name: given[name] for name in ("beta", "rho", "size")}
    bias = start(**place, e0=e0, spread=spread)
    balanced = sqrt(bias / (T * given["beta"] * sigma2 * noise_share(**place)))
    tuned = minimum(1 / (given["rho"] * given["size"]), balanced)
    left = _of_star(new, **given, e0=e0, spread=spread, sigma2=0 * sigma2, T=T, eta=tuned)
    return left + _of_star(new, **given, e0=0 * e0, spread=0 * spread, sigma2=sigma2, T=T, eta=balanced)


@theorem(
    key="cobo/theorem-1-tuned",
    title="Stationarity of the mean model at the tuned step",
    source=_place("Theorem I, for the mean of the cluster"),
    quantity=Quantity.AVERAGE_MEAN_GRADIENT,
    hypotheses=_SETTLED,
    conditions=tuned_conditions,
    tight="The bound is tight for one client with eta near 1/L at T = 1, without noise.",
    monotone=_MONOTONE,
    superseded_by=Sharper(key="cobo/theorem-1-star", ratio=(1, inf), at=of_tuned, exactly=_of_tuned_star),
)
def tuned(*, beta, rho, size, M, e0, spread, sigma2, T):
    """For rho c >= 1.01 (1 + m) L and eta = min(1/(rho c), sqrt(P/(T L sigma2 v))), P = 2 Delta + l L Xi_0 > 0,
    l = L/(rho c - L), v = 1/c + l (1 - 1/c), the average over T steps of E|grad fbar(xbar_t)|^2 is at most [max(rho c
    P/T, S) + S]/(1 - m^2 l^2), S = sqrt(P L sigma2 v/T). From rho c >= L (c + 1) on v <= 2/c, which is a linear
    speed-up in the clients."""
    bias = start(beta=beta, rho=rho, size=size, e0=e0, spread=spread)
    noise = sqrt(bias * beta * sigma2 * noise_share(beta=beta, rho=rho, size=size) / T)
    return (maximum(rho * size * bias / T, noise) + noise) / absorbed(beta=beta, rho=rho, size=size, M=M)


def mean_distance(*, eta, beta, rho, size, M, e0, spread, sigma2, T):
    """B = Xi_0/(eta T k) + m^2 A/k^2 + (eta sigma2/k)(1 - 1/c), k = rho c - L."""
    margin = rho * size - beta
    gradient = mean_gradient(eta=eta, beta=beta, rho=rho, size=size, M=M, e0=e0, spread=spread, sigma2=sigma2, T=T)
    drift = cluster_dissimilarity(M=M, size=size) * gradient / margin**2
    return spread / (eta * T * margin) + drift + eta * sigma2 * (size - 1) / (size * margin)


_B = f"B = Xi_0/(eta T k) + m^2 A/k^2 + (eta sigma2/k)(1 - 1/c), k = rho c - L, {_A}"


def _of_star_consensus(new, *, eta, beta, rho, size, spread, sigma2, **others):
    """`consensus` from `star_consensus`: at eta = 1/k its root is that of nu^2 + P2 alone, k = rho c - L, p = eta k."""
    margin, given = rho * size - beta, {"eta": eta, "beta": beta, "rho": rho, "size": size, **others}
    gradient = mean_gradient(**given, spread=spread, sigma2=sigma2)
    kept = eta * margin
    return new(eta=1 / margin, spread=spread / kept, sigma2=sigma2 * kept, mean_gradient2=gradient)


@_record(
    key="cobo/theorem-1-consensus",
    title="Consensus inside a cluster",
    source=_place("Theorem I, first bound"),
    statement=f"{_NEED}, the average over pairs and T steps (0 to T - 1, or 1 to T) of E|x_i - x_j|^2 is at most "
    f"2 B; {_B}.",
    quantity=Quantity.AVERAGE_CONSENSUS,
    tight="The bound is tight for identical clients if rho c is much larger than L, eta = 1/(rho c) and T is large.",
    superseded_by=Sharper(
        key="cobo/theorem-1-star-consensus", ratio=(1, inf), at=of_settled_consensus, exactly=_of_star_consensus
    ),
)
def consensus(*, eta, beta, rho, size, M, e0, spread, sigma2, T):
    """2 B: the mean of |x_i - x_j|^2 over pairs is 2 Xi."""
    return 2 * mean_distance(eta=eta, beta=beta, rho=rho, size=size, M=M, e0=e0, spread=spread, sigma2=sigma2, T=T)


# Minkowski over clients (or pairs), steps and randomness. At the mean model (1/c) sum |grad f_i|^2 is at most
# (1 + m^2)|grad fbar|^2, and its distance to the gradients at the x_i at most L |d_i|. Over pairs,
# (1/c^2) sum |grad f_ij|^2 = |grad fbar|^2 + (1/(2c)) sum |grad f_i - grad fbar|^2 <= (1 + m^2/2)|grad fbar|^2, and
# z_ij - xbar = (d_i + d_j)/2 has mean square Xi/2.


@_record(
    key="cobo/corollary-2",
    title="Stationarity of every client",
    source=_place("Corollary II"),
    statement=f"{_NEED}, the average over clients and T steps of E|grad f_i(x_i)|^2 is at most "
    f"(sqrt((1 + m^2) A) + L sqrt(B))^2; {_B}.",
    quantity=Quantity.AVERAGE_CLIENT_GRADIENT,
    tight="For one client with eta near 1/L the term of the start is tight at T = 1, and the noise term for T large.",
    superseded_by=Sharper(
        key="cobo/corollary-2-star",
        ratio=(1, inf),
        at=of_settled_clients,
        exactly=lambda new, **values: _of_midpoints(2, **values),  # its own proof goes another way
    ),
)
def client_gradient(*, eta, beta, rho, size, M, e0, spread, sigma2, T):
    """(sqrt((1 + m^2) A) + L sqrt(B))^2."""
    at = {"eta": eta, "beta": beta, "rho": rho, "size": size, "M": M, "e0": e0, "spread": spread}
    share = 1 + cluster_dissimilarity(M=M, size=size)
    gradient, distance = mean_gradient(**at, sigma2=sigma2, T=T), mean_distance(**at, sigma2=sigma2, T=T)
    return (sqrt(share * gradient) + beta * sqrt(distance)) ** 2


@_record(
    key="cobo/theorem-1-midpoint-gradient",
    title="Stationarity at the midpoints",
    source=_place("Theorem I, second bound"),
    statement=f"{_NEED}, the average over pairs and T steps of E|grad f_ij(z_ij)|^2 is at most "
    f"(sqrt((1 + m^2/2) A) + L sqrt(B/2))^2; {_B}.",
    quantity=Quantity.AVERAGE_MIDPOINT_GRADIENT,
    tight="For one client with eta near 1/L the term of the start is tight at T = 1, and the noise term for T large.",
    superseded_by=Sharper(
        key="cobo/theorem-1-star-midpoint",
        ratio=(1, inf),
        at=of_settled_midpoints,
        exactly=lambda new, **values: _of_midpoints(1, **values),
    ),
)
def midpoint_gradient(*, eta, beta, rho, size, M, e0, spread, sigma2, T):
    """(sqrt((1 + m^2/2) A) + L sqrt(B/2))^2."""
    at = {"eta": eta, "beta": beta, "rho": rho, "size": size, "M": M, "e0": e0, "spread": spread}
    share = 1 + cluster_dissimilarity(M=M, size=size) / 2
    gradient, distance = mean_gradient(**at, sigma2=sigma2, T=T), mean_distance(**at, sigma2=sigma2, T=T)
    return (sqrt(share * gradient) + beta * sqrt(distance / 2)) ** 2


def _of_midpoints(share, **values):
    """(sqrt((1 + s m^2/2) A) + L sqrt(s B/2))^2 by `star_midpoints`: its midpoints at s = 1, clients at s = 2."""
    return star_midpoints(
        beta=values["beta"],
        dissimilarity=share * cluster_dissimilarity(M=values["M"], size=values["size"]),
        mean_gradient2=mean_gradient(**values),
        consensus2=share * consensus(**values),
    )


THEOREMS = records(mean_gradient, tuned, midpoint_gradient, consensus, client_gradient)
