"""Every method's plan for one network, side by side in common units, and the lower bound beneath them."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import InputError
from ..heterogeneity import GradientDissimilarity, QuadraticCertificate
from ..quantities import Quantity
from .all_for_all import all_for_all_plan
from .cobo import cobo_plan
from .fixed_weights import fixed_weights_plan
from .lower_bound import needed_rounds
from .method_plan import MethodPlan, failure, unknown_excess, whole
from .network import Network, semimetric
from .row import Row, Schedules
from .scafflix import scafflix_plan

STANDARD = ("all-for-one", "fixed-weights", "all-for-all", "cobo", "scafflix", "local")
METHODS = (*STANDARD, "scafflix-paper", "scafflix-released")
"""Names; the last two run Scafflix by other rules and are planned when asked for."""
MOST_CLIENTS = 200
"""Beyond that many clients the comparison takes minutes: a plan has it only where one method is asked for."""
STOPPED = "adaptive/corollary-1-expected-time"
OPTIMISED = "sample-optimal/theorem-1-optimised"


def compare(
    network: Network, rows: Sequence[Row], *, method: str | None = None, alpha: float = 0.5
) -> list[MethodPlan]:
    """The plans of all standard methods, or of one, and the lower bound, at one precision.

    rows   those of `bounds.plan_rows` for the same constants and one precision
    alpha  Scafflix's personalisation weight in (0, 1]
    Raises `InputError` for an unknown method.
    """
    epsilon, chosen = rows[0].epsilon, STANDARD if method is None else (checked_method(method),)
    plans = [*(_plan(name, network, epsilon, rows, alpha) for name in chosen), lower_bound(network, epsilon)]
    return [_in_samples(_bounded(one, network), network.batch) for one in plans]


def checked_method(method: str) -> str:
    """`method` itself where there is one of that name, else `InputError`."""
    if method not in METHODS:
        near = difflib.get_close_matches(str(method), METHODS, n=1, cutoff=0.4)
        hint = f"did you mean {near[0]}? " if near else ""
        raise InputError("method", method, f"{hint}Methods: {', '.join(METHODS)}")
    return method


def _bounded(row: MethodPlan, network: Network) -> MethodPlan:
    """Refused where the theorem asks for one noise level and there is none: all but Scafflix, which has its own."""
    if not network.constants.unbounded or row.method.startswith("scafflix"):
        return row
    refused = failure("bounded variance", np.inf, network.constants.sigma2.max(), network.constants.unbounded)
    return replace(row, rounds=None, samples_per_client=None, vectors=None, settings={}, failure=refused, notes=())


def _in_samples(row: MethodPlan, batch: int) -> MethodPlan:
    """Rounds draw a batch each."""
    return row if row.samples_per_client is None else replace(row, samples_per_client=batch * row.samples_per_client)


def _plan(name: str, network: Network, epsilon: float, rows: Sequence[Row], alpha: float) -> MethodPlan:
    if name == "all-for-one":
        return _stopped(name, epsilon, [row.schedules for row in rows], rows)
    if name == "local":
        return _stopped(name, epsilon, [row.local for row in rows], rows)
    if name == "fixed-weights":
        return fixed_weights_plan(network, epsilon)
    if name == "all-for-all":
        return all_for_all_plan(network, epsilon)
    if name == "cobo":
        return cobo_plan(network, epsilon)
    return scafflix_plan(network, epsilon, rule=name, alpha=alpha)


def _stopped(name: str, epsilon: float, schedules: Sequence[Schedules | None], rows: Sequence[Row]) -> MethodPlan:
    """The hitting schedule of every client; models go to all peers and gradients come back, whoever is weighed."""
    row = MethodPlan(
        method=name,
        epsilon=epsilon,
        theorem=STOPPED,
        quantity=Quantity.HITTING_TIME.expression,
        guarantee="E[tau_i] <= rounds_i for each client, tau_i its first time below epsilon: a stopped guarantee, "
        "nothing is promised after tau_i",
    )
    known = [one for one in schedules if one is not None]
    expected = [one.hitting["expected_iterations"] for one in known]
    if None in expected or not known:
        return replace(row, failure=unknown_excess())
    settings: dict[str, Any] = {"eta": [one.hitting["eta"] for one in known]}
    if name == "all-for-one":
        settings["cluster"] = [list(one.cluster) for one in rows]
    vectors = 0.0 if name == "local" else 2 * (len(rows) - 1) * float(sum(expected))
    return replace(
        row,
        rounds=tuple(expected),
        samples_per_client=max(expected),
        vectors=vectors,
        settings=settings,
        notes=rows[0].notes,
    )


# The class: every R_i with the clients' mu_i and beta_i, excess and variance, every pair with the same (b, c). It
# contains the family of Theorem 1 with one curvature m in all [mu_i, beta_i], the smallest variance, a semi-metric
# below b (c >= 0 only enlarges the class), and starts within m r^2 / 2 = the smallest excess.


def lower_bound(network: Network, epsilon: float) -> MethodPlan:
    """Rounds that any method needs to have E[e_i] <= epsilon at a fixed time on every network of the class."""
    row = MethodPlan(
        method="lower-bound",
        epsilon=epsilon,
        theorem=OPTIMISED,
        quantity=Quantity.ROUNDS.expression,
        guarantee="no method has E[e_i] <= epsilon after fewer rounds on every network with these constants; it says "
        "nothing about stopped times",
    )
    constants = network.constants
    m, ceiling = constants.mu.max().item(), constants.beta.min().item()
    if m > ceiling:
        reason = "the bound is known for one curvature, and no curvature suits all clients"
        return replace(row, failure=failure("max mu <= min beta", m, ceiling, reason))
    known = constants.heterogeneity
    if isinstance(known, GradientDissimilarity):
        b = np.sqrt(known.b2)
    elif isinstance(known, QuadraticCertificate):
        b = np.sqrt(np.maximum(known.best_pair(2 * constants.mu * epsilon).b2, 0))
        b = np.where(np.isnan(b) | np.eye(network.clients, dtype=bool), 0.0, b)
    else:
        b = network.uniform
    smallest = 4 * epsilon if constants.excess is None else constants.excess.min().item()
    ball = float(np.sqrt(2 * max(smallest, 1e-60) / m))
    sigma2 = np.full(network.clients, constants.sigma2.min())
    needed = needed_rounds(b=semimetric(b), mu=np.full(network.clients, m), sigma2=sigma2,
                           eps=np.full(network.clients, epsilon), ball=np.full(network.clients, ball))  # fmt: skip
    rounds = whole(needed)
    settings = {"mu": m, "sigma2": sigma2[0].item()}
    return replace(row, rounds=rounds, samples_per_client=max(rounds), settings=settings)
