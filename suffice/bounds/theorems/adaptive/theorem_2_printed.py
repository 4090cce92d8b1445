"""Table 1, the rows of Theorem 2, as printed."""

from __future__ import annotations

from functools import partial

from ...elementary import log, maximum, survive
from ...quantities import Quantity
from ...step_size_condition import step_conditions
from ...theorem import Conditions, theorem
from .hypotheses import STANDING
from .paper import source

_record = partial(theorem, hypotheses=STANDING, quantity=Quantity.EXCESS, edition="printed")


@_record(
    key="adaptive/theorem-2-constant",
    title="Constant step size",
    source=source("Theorem 2, Table 1, row 1"),
    # As printed: eta <= 1/mu in the table and eta <= (sigma_phi / sigma_psi)^2 / beta in the text.
    conditions=lambda *, eta, q, beta, mu: {
        "step size eta <= 1/mu": (eta, 1 / mu),
        **step_conditions(eta=eta, q=q, beta=beta, mu=mu),
    },
    fault="The hypothesis is on the expectation, but collaboration stops on the paths below eps: the expectation of "
    "the sufficient variance is not the variance at the expectation.",
    monotone={"e0": 1, "s2": 1, "beta": 1},
)
def theorem_2_constant_printed(*, eta, mu, beta, e0, s2, T):
    """If E[e_{T-1}] >= eps, then E[e_T] is at most the bound."""
    return survive(eta * mu, T) * e0 + eta * beta / (2 * mu) * s2


def horizon_conditions_printed(*, mu, beta, q, e0, s2, T) -> Conditions:
    """The printed step within the limits that the text asks for."""
    step = log(2 * T * mu**2 * e0 / (beta * s2)) / (mu * T)
    return {
        "iterations 1 <= T": (1, T),
        "step ln(e0/K)/(mu T) <= 1/mu": (step, 1 / mu),
        "step ln(e0/K)/(mu T) <= q/beta": (step, q / beta),
    }


@_record(
    key="adaptive/theorem-2-horizon",
    title="Step size for a horizon",
    source=source("Theorem 2, Table 1, row 2"),
    conditions=horizon_conditions_printed,
    fault="The bound is conditioned on an expectation, as in row 1; and eta and the bound are negative when e_0 < K.",
    monotone={"e0": 1},
)
def theorem_2_horizon_printed(*, mu, beta, e0, s2, T):
    """If E[e_{T-1}] >= eps, then E[e_T] is at most the bound at eta = ln(e_0/K)/(mu T), K = beta s2/(2 mu^2 T)."""
    return beta * s2 / (2 * mu**2 * T) * (log(2 * T * mu**2 * e0 / (beta * s2)) + 1)


def decreasing_conditions_printed(*, C, mu, beta, q) -> Conditions:
    """The first step, C/mu, within the limit: impossible, since C > 1 >= q mu/beta."""
    return {"first step C/mu <= q/beta": (C / mu, q / beta), "curvature mu <= beta": (mu, beta)}


@_record(
    key="adaptive/theorem-2-decreasing",
    title="Decreasing step size",
    source=source("Theorem 2, Table 1, row 3"),
    conditions=decreasing_conditions_printed,
    fault="No first step meets eta_1 <= q/beta, because C/mu > 1/mu >= 1/beta.",
    monotone={"e0": 1, "s2": 1},
)
def theorem_2_decreasing_printed(*, C, mu, beta, e0, s2, T):
    """With eta_t = C/(mu t), C > 1: if E[e_{T-1}] >= eps, then E[e_T] is at most the bound."""
    return maximum(beta * s2 * C**2 / (2 * mu**2 * (C - 1)), e0) / T
