"""Theorem I with one Lyapunov function: any weights that stay above a positive least one, noise included.

The corrected Theorem I (`theorem_1`) needs weights that have settled at 1. Under noise the weights of one cluster go
on moving, so that it covers no run with noise; these records do, wherever the least weight of the run is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

from ...elementary import maximum, minimum, quotient, spare, sqrt
from ...parameters import new_parameter
from ...quantities import Quantity
from ...theorem import Conditions, records, theorem
from ...units import DIMENSIONLESS, GRADIENT_SQUARED, THETA_SQUARED
from .assumption_4 import cluster_dissimilarity
from .paper import source

new_parameter(
    "least_weight",
    r"\omega",
    DIMENSIONLESS,
    (0.1, 1.0),
    "least weight w_ij inside the cluster over the whole run; 1 for settled weights",
    positive=True,
    upper=1.0,
)
new_parameter(
    "dissimilarity",
    "m^2",
    DIMENSIONLESS,
    (1e-3, 3.0),
    "(1/c) sum_i |grad f_i - grad fbar|^2 <= m^2 |grad fbar|^2 at the mean models of the run",
)
new_parameter(
    "mean_gradient2", "A", GRADIENT_SQUARED, (1e-4, 10.0), "bound of the average over T steps of E|grad fbar(xbar_t)|^2"
)
new_parameter(
    "consensus2", "C", THETA_SQUARED, (1e-4, 10.0), "bound of the average over pairs and T steps of E|x_i - x_j|^2"
)
new_parameter(
    "tilt",
    r"\lambda",
    DIMENSIONLESS,
    (1.0, 5.0),
    "weight of the consensus distance in the Lyapunov function, in units of L^2/(2 k0)",
    lower=1.0,
)
new_parameter(
    "kept",
    r"\theta",
    DIMENSIONLESS,
    (0.01, 0.5),
    "share of the clients' squared gradients that the Lyapunov function loses in eta/2",
    positive=True,
)


def star_conditions(*, eta, beta, rho, size, least_weight, dissimilarity, T) -> Conditions:
    """k0 >= 1.01 sqrt(1 + m^2) L, which keeps 1 - m^2 l2 above .0197: at the threshold itself models need not stay."""
    required = 1.01 * sqrt(1 + dissimilarity) * beta / (least_weight * size)
    return {
        "penalty 1.01 sqrt(1 + dissimilarity) beta/(least_weight size) <= rho": (required, rho),
        **run_conditions(eta=eta, rho=rho, size=size, least_weight=least_weight, T=T),
    }


STANDING = (
    "every f_i is L-smooth on R^d; noise is of mean zero given the past and the weights, uncorrelated between clients, "
    "of total variance at most sigma2; weights w_ij = w_ji are in [least_weight, 1] between any two clients of the "
    "cluster at every step and 0 to the others; the rest is free: weights may depend on the past and on samples of "
    "their own"
)

# x_i+ = x_i - eta (grad f_i(x_i) + n_i + rho sum_k w_ik (x_i - x_k)), w symmetric, in [omega, 1] inside the cluster, 0
# outside, whatever it depends on in the past. Put k0 = omega rho c. Symmetry keeps the penalty off the mean, and the
# Laplacian of w has its spectrum on centred vectors in [omega c, c]: for eta <= 2/((1 + omega) rho c) the penalty takes
# deviations to at most 1 - q of their norm, q = eta k0.
# Norms of families are root mean squares over the clients. e = grad fbar(xbar) - (1/c) sum_i grad f_i(x_i); a_i is the
# centred part of grad f_i(x_i) - grad f_i(xbar), b_i that of grad f_i(xbar); g = grad fbar(xbar), |b| <= m |g|.
#   E fbar+ - fbar <= -(eta/2)(|g|^2 - |e|^2) + L eta^2 sigma^2/(2c),
#   E Xi+ <= (1 - q) Xi + (eta/k0)(|a| + |b|)^2 + eta^2 sigma^2 (1 - 1/c)       (convexity of the square),
#   |e|^2 + |a|^2 <= L^2 Xi                                                     (mean and centred part of one vector).
# Take fbar + lam Xi with lam = L^2/(2 k0), r = L^2/k0^2: lam q Xi = (eta/2) L^2 Xi cancels |e|^2 and leaves
# (eta/2)[-|a|^2 + r (|a| + |b|)^2] <= (eta/2) r/(1 - r) |b|^2. With l2 = r/(1 - r) = L^2/(k0^2 - L^2), summed over t,
#   (1 - m^2 l2) A <= [2 Delta + (L/k0) L Xi_0]/(eta T) + L eta sigma^2 [1/c + (L/k0)(1 - 1/c)].


@theorem(
    key="cobo/theorem-1-star",
    title="Stationarity of the mean model, with noise",
    source=source("Theorem I, for the mean of the cluster", spread=r"\Xi_0"),
    quantity=Quantity.AVERAGE_MEAN_GRADIENT,
    hypotheses=f"{STANDING}; fbar is bounded below, e0 = E fbar(xbar_0) - inf fbar",
    conditions=star_conditions,
    tight="The bound is tight for one client with eta near 1/L; in a large cluster of clients with a kink at their "
    "mean, alike or not, every factor of the noise term is attained at any k0.",
    monotone={"e0": 1, "spread": 1, "sigma2": 1, "dissimilarity": 1, "beta": 1, "T": -1, "rho": -1},
)
def star(*, eta, beta, rho, size, least_weight, dissimilarity, e0, spread, sigma2, T):
    """With k0 = least_weight rho c >= 1.01 sqrt(1 + m^2) L and eta <= 2/((1 + least_weight) rho c), the average over T
    steps of E|grad fbar(xbar_t)|^2 is at most the bound. It covers runs with noise, in which the weights of a cluster
    go on moving; least_weight = 1 are settled weights.

    {[2 Delta + (L/k0) L Xi_0]/(eta T) + L eta sigma^2 [1/c + (L/k0)(1 - 1/c)]}/(1 - m^2 L^2/(k0^2 - L^2))."""
    pull = least_weight * rho * size
    bias = (2 * e0 + beta / pull * beta * spread) / (eta * T)
    noise = beta * eta * sigma2 * (1 + beta / pull * (size - 1)) / size
    return (bias + noise) / spare(dissimilarity * beta**2 / ((pull - beta) * (pull + beta)))


# Consensus, k = k0 - L, p = eta k: |(1 - q) d - eta a| <= (1 - p)|d| as L |d| >= |a|, so that
#   E Xi+ <= ((1 - p)|d| + eta m |g|)^2 + eta^2 sigma^2 (1 - 1/c)
# and, summed, with Cauchy-Schwarz for the mixed term: b^2 = B, nu = m sqrt(A)/k,
#   p (2 - p) b^2 <= Xi_0/T + 2 (1 - p) p nu b + p^2 nu^2 + eta^2 sigma^2 (1 - 1/c).
# Divide by p: b is at most the larger root, P2 = Xi_0/(p T) + (eta sigma^2/k)(1 - 1/c).


@theorem(
    key="cobo/theorem-1-star-consensus",
    title="Consensus inside a cluster, with noise",
    source=source("Theorem I, first bound", spread=r"\Xi_0"),
    quantity=Quantity.AVERAGE_CONSENSUS,
    hypotheses=STANDING,
    # The penalty outweighs the curvature.
    conditions=lambda *, eta, beta, rho, size, least_weight, T: {
        "penalty 1.01 beta/(least_weight size) <= rho": (1.01 * beta / (least_weight * size), rho),
        **run_conditions(eta=eta, rho=rho, size=size, least_weight=least_weight, T=T),
    },
    tight="The bound is tight for clients f_i = -L x^2/2 in noise for T large, at any step and penalty; and for "
    "concave clients that drift apart.",
    monotone={"mean_gradient2": 1, "dissimilarity": 1, "spread": 1, "sigma2": 1, "beta": 1, "T": -1, "rho": -1},
)
def star_consensus(*, eta, beta, rho, size, least_weight, dissimilarity, mean_gradient2, spread, sigma2, T):
    """With k0 = least_weight rho c >= 1.01 L, eta <= 2/((1 + least_weight) rho c), A = mean_gradient2 a bound of the
    average of E|grad fbar(xbar_t)|^2 (theorem-1-star), the average over pairs and steps 0 to T - 1 of E|x_i - x_j|^2 is
    at most the bound.

    2 {[(1 - p) nu + sqrt(nu^2 + (2 - p) P2)]/(2 - p)}^2: the mean of |x_i - x_j|^2 over pairs is 2 Xi."""
    margin = least_weight * rho * size - beta
    kept = eta * margin
    drift2 = dissimilarity * mean_gradient2 / margin**2
    rest = spread / (kept * T) + eta * sigma2 / margin * (size - 1) / size
    root = ((1 - kept) * sqrt(drift2) + sqrt(drift2 + (2 - kept) * rest)) / (2 - kept)
    return 2 * root**2


def clients_conditions(*, eta, beta, rho, size, least_weight, dissimilarity, T, tilt, kept) -> Conditions:
    """What `tilt` and `kept` may be: with tilt = 1, kept <= min(1 - L eta, 1/(1 + m^2) - L^2/k0^2); for clients alike,
    kept <= min(2 - L eta - 1/tilt, tilt (1 - L^2/k0^2))."""
    used = tilt * (beta / (least_weight * rho * size)) ** 2 + kept
    kap = minimum(quotient(tilt * used * dissimilarity, maximum(tilt - used, 0)), tilt)  # more is refused by the share
    return {
        "share s (1 + dissimilarity) <= tilt, s = tilt (beta/k0)^2 + kept": (used * (1 + dissimilarity), tilt),
        "mean kept <= 1 - eta beta + (1 - kap) (tilt - 1)/(tilt - kap), kap = tilt s dissimilarity/(tilt - s)": (
            kept,
            1 - eta * beta + quotient((1 - kap) * (tilt - 1), tilt - kap),
        ),
        **run_conditions(eta=eta, rho=rho, size=size, least_weight=least_weight, T=T),
    }


# Clients: keep the -(eta/2)(1 - L eta)|G|^2 of the mean's descent, G = (1/c) sum_i grad f_i(x_i), e = g - G, and give
# the consensus distance the weight lam L^2/(2 k0). One step loses at least eta/2 times
#   |g|^2 - |e|^2 + (1 - h)|G|^2 + lam (|e|^2 + |a|^2) - lam r (|a| + |b|)^2,   h = L eta, r = L^2/k0^2,
# and (1/c) sum |grad f_i(x_i)|^2 = |G|^2 + |a + b|^2. So the average of the latter is at most P(lam)/theta if theta
# times it is at most this form. With s = lam r + theta and |b| <= m |g|, lam |a|^2 - s (|a| + m |g|)^2 is bounded below
# if s < lam, or s = lam and m = 0; its least over |a| is -kap |g|^2, kap = lam s m^2/(lam - s), 0 for m = 0. The rest,
#   A |g|^2 + C |e|^2 + B |g - e|^2,   A = 1 - kap, B = 1 - h - theta, C = lam - 1,
# is nowhere negative if and only if, with the least of the first two for a given g - e,
#   A + C >= 0   and   B + A C/(A + C) >= 0,
# where the quotient is 0 for A = C = 0, and -infinity for A = -C < 0. The former and s <= lam are s (1 + m^2) <= lam.
# The latter must not be multiplied by A + C: at A = C = 0 that would say 0 >= 0, whatever theta is.


@theorem(
    key="cobo/corollary-2-star",
    title="Stationarity of every client, with noise",
    source=source("Corollary II", spread=r"\Xi_0"),
    quantity=Quantity.AVERAGE_CLIENT_GRADIENT,
    hypotheses=f"{STANDING}; fbar is bounded below, e0 = E fbar(xbar_0) - inf fbar",
    conditions=clients_conditions,
    tight="The bound is tight for one client with eta near 1/L; and for identical concave clients in noise at eta = "
    "1/k0, if c is large.",
    monotone={"e0": 1, "spread": 1, "sigma2": 1, "beta": 1, "T": -1, "rho": -1, "tilt": 1, "kept": -1},
)
def star_clients(*, eta, beta, rho, size, least_weight, e0, spread, sigma2, T, tilt, kept):
    """With k0 = least_weight rho c and eta <= 2/((1 + least_weight) rho c), for any tilt and kept that meet the
    conditions, the average over clients and T steps of E|grad f_i(x_i)|^2 is at most the bound.

    {[2 Delta + lam (L/k0) L Xi_0]/(eta T) + L eta sigma^2 [1/c + lam (L/k0)(1 - 1/c)]}/theta."""
    lag = tilt * beta / (least_weight * rho * size)
    bias = (2 * e0 + lag * beta * spread) / (eta * T)
    noise = beta * eta * sigma2 * (1 + lag * (size - 1)) / size
    return (bias + noise) / kept


# Midpoints, by Minkowski over pairs, steps and randomness: at the mean model
#   (1/c^2) sum |grad f_ij|^2 = |g|^2 + (1/(2c)) sum |grad f_i - g|^2 <= (1 + m^2/2)|g|^2,
# and z_ij - xbar = (d_i + d_j)/2 has mean square Xi/2, a quarter of the mean of |x_i - x_j|^2 = 2 Xi.


@theorem(
    key="cobo/theorem-1-star-midpoint",
    title="Stationarity at the midpoints, with noise",
    source=source("Theorem I, second bound", spread=r"\Xi_0"),
    quantity=Quantity.AVERAGE_MIDPOINT_GRADIENT,
    hypotheses="every f_i is L-smooth on R^d; m^2 holds at the mean models",
    tight="The bound is tight for clients alike whose midpoints' gradients are longer than their mean's, all by the "
    "same; and for two clients of opposite gradients' differences at consensus.",
    monotone={"mean_gradient2": 1, "consensus2": 1, "dissimilarity": 1, "beta": 1},
)
def star_midpoints(*, beta, dissimilarity, mean_gradient2, consensus2):
    """With A = mean_gradient2 a bound of the average of E|grad fbar(xbar_t)|^2 (theorem-1-star) and C = consensus2 one
    of the average over pairs of E|x_i - x_j|^2 (theorem-1-star-consensus), both over the same steps, the average over
    pairs of E|grad f_ij(z_ij)|^2 is at most the bound, whatever makes the models move."""
    return (sqrt((1 + dissimilarity / 2) * mean_gradient2) + beta * sqrt(consensus2) / 2) ** 2


# The step that balances start and noise, P = 2 Delta + (L/k0) L Xi_0 and v = 1/c + (L/k0)(1 - 1/c).


def star_step(*, beta, rho, size, least_weight, e0, spread, sigma2, T, **others):
    """eta = min(2/((1 + least_weight) rho c), sqrt(P/(T L sigma^2 v))), for a start P > 0."""
    lag = beta / (least_weight * rho * size)
    balance = T * beta * sigma2 * (1 + lag * (size - 1)) / size
    return 1 / maximum((1 + least_weight) * rho * size / 2, sqrt(balance / (2 * e0 + lag * beta * spread)))


def of_settled(*, M, size, **others) -> Mapping[str, Any]:
    """The arguments of `star` from those of the corrected Theorem I."""
    return {**others, "size": size, "dissimilarity": cluster_dissimilarity(M=M, size=size), "least_weight": 1.0}


def of_tuned(**values) -> Mapping[str, Any]:
    """The arguments of `star`, at the step that it balances, from those of Theorem I at the tuned step."""
    given = of_settled(**values)
    return {**given, "eta": star_step(**given)}


def of_settled_midpoints(**values) -> Mapping[str, Any]:
    """The arguments of `star_midpoints`: A by `star` and C by `star_consensus`."""
    given = of_settled_consensus(**values)
    named = {name: given[name] for name in signature(star_consensus).parameters}
    return {**given, "consensus2": star_consensus(**named)}


def of_settled_consensus(*, e0, **values) -> Mapping[str, Any]:
    """The same for `star_consensus`, A by `star`."""
    given = of_settled(**values)
    return {**given, "mean_gradient2": star(e0=e0, **given)}


def run_conditions(*, eta, rho, size, least_weight, T) -> Conditions:
    """Deviations are not overshot under any of the weights."""
    return {
        "step size eta <= 2/((1 + least_weight) rho size)": (eta, 2 / ((1 + least_weight) * rho * size)),
        "horizon 1 <= T": (1, T),
    }


THEOREMS = records(star, star_consensus, star_midpoints, star_clients)
