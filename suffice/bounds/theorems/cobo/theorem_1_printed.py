"""Theorem I and Corollary II as printed."""

from __future__ import annotations

from functools import partial

from ...elementary import sqrt
from ...quantities import Quantity
from ...theorem import Conditions, records, theorem
from .descent import minibatch_printed
from .paper import source

# Delta = (1/c^2) sum_ij (f_ij(z_ij^0) - inf f_ij), which is fbar(x^0) - inf fbar for a common start x^0 and shared
# minimisers; r = sqrt(L sigma2 Delta / T).


def rate_printed(*, beta, e0, sigma2, T):
    """r = sqrt(L sigma2 Delta / T)."""
    return sqrt(beta * sigma2 * e0 / T)


_ONE_CLUSTER = (
    "For several clusters, zeta_ik^2 >= |grad f_i + grad f_k|^2 for all x is impossible once a loss grows "
    "superlinearly. For one cluster, the term that stays as sigma goes to 0 is missing, eta is only bounded above, and "
    "eta <= 1/(2 rho c) of Lemma 4 is missing"
)


def conditions_printed(*, eta, beta, rho, size, M, batch, e0, sigma2, T) -> Conditions:
    """As printed; eta may be as small as one likes, and eta <= 1/(2 rho c) of Lemma 4 is missing."""
    return {
        "iterations 1 <= T": (1, T),
        "step size eta <= 2 sqrt(e0/(beta sigma2 T))": (eta, 2 * sqrt(e0 / (beta * sigma2 * T))),
        "step size eta <= 1/(2 sqrt(3) beta)": (eta, 1 / (2 * 3**0.5 * beta)),
        "penalty sqrt(3) beta/size <= rho": (3**0.5 * beta / size, rho),
        "relative heterogeneity M <= 1/sqrt(5)": (M, 0.2**0.5),
        **minibatch_printed(eta=eta, beta=beta, size=size, batch=batch, sigma2=sigma2),
    }


_PRINTED = "A1 to A5 hold; weights are at w* from the first step on; Delta = (1/c^2) sum_ij (f_ij(z_ij^0) - inf f_ij)"

_record = partial(theorem, hypotheses=_PRINTED, conditions=conditions_printed, edition="printed")


@_record(
    key="cobo/theorem-1-consensus",
    title="Consensus inside a cluster",
    source=source("Theorem I, first bound"),
    quantity=Quantity.AVERAGE_CONSENSUS,
    fault=f"{_ONE_CLUSTER}; the noise that keeps identical clients (M = 0) apart is dropped.",
    monotone={"e0": 1, "T": -1, "rho": -1, "size": -1},
)
def consensus_printed(*, beta, rho, size, M, e0, sigma2, T):
    """The average of E|x_i - x_j|^2 over pairs and steps 1 to T is at most 6 M^2 r / (rho^2 c^2), r = sqrt(L sigma2
    Delta/T)."""
    return 6 * M**2 / (rho**2 * size**2) * rate_printed(beta=beta, e0=e0, sigma2=sigma2, T=T)


@_record(
    key="cobo/theorem-1-midpoint-gradient",
    title="Stationarity at the midpoints",
    source=source("Theorem I, second bound"),
    quantity=Quantity.AVERAGE_MIDPOINT_GRADIENT,
    fault=f"{_ONE_CLUSTER}; 2 + 24 M^2 <= 3 needs M^2 <= 1/24, not 1/5.",
    monotone={"e0": 1, "beta": 1, "T": -1},
)
def midpoint_gradient_printed(*, beta, e0, sigma2, T):
    """The average of E|grad f_ij(z_ij)|^2 over pairs and T steps is at most 3 r, r = sqrt(L sigma2 Delta/T)."""
    return 3 * rate_printed(beta=beta, e0=e0, sigma2=sigma2, T=T)


@_record(
    key="cobo/corollary-2",
    title="Stationarity of every client",
    source=source("Corollary II"),
    quantity=Quantity.AVERAGE_CLIENT_GRADIENT,
    fault=f"{_ONE_CLUSTER}; the left side is printed without an expectation.",
    monotone={"e0": 1, "beta": 1, "T": -1},
)
def client_gradient_printed(*, beta, e0, sigma2, T):
    """The average of |grad f_i(x_i)|^2 over clients and T steps is at most 4 r, r = sqrt(L sigma2 Delta/T)."""
    return 4 * rate_printed(beta=beta, e0=e0, sigma2=sigma2, T=T)


THEOREMS = records(midpoint_gradient_printed, consensus_printed, client_gradient_printed)
