"""The plan of All-for-all: Even, Massoulie, Scaman (2022), Theorem 3 and Corollary 1, in rounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..evaluate import evaluate
from ..quantities import Quantity
from ..theorems import find
from ..weights import components, spectrum
from .method_plan import MethodPlan, failure, unknown_excess, whole
from .network import Network

LAST, AVERAGED, CLUSTERS = (
    f"sample-optimal/{name}"
    for name in ("theorem-3-sharp-rounds", "theorem-3-averaged-sharp-rounds", "corollary-1-sharp")
)
PROMISES: dict[str, tuple[Quantity, str]] = {
    LAST: (
        Quantity.MEAN_EXCESS,
        "the mean over the clients of E[e_i] is <= epsilon after every T >= rounds; one client may be above",
    ),
    AVERAGED: (
        Quantity.AVERAGED_EXCESS,
        "the mean over the clients of the expected excess of the averaged iterates is <= epsilon after every "
        "T >= rounds; one client may be above",
    ),
}
PROMISES[CLUSTERS] = PROMISES[LAST]
MOST_THRESHOLDS, MANY_CLIENTS = 24, 100
"""Thresholds tried, evenly among all; a third of them, and clusters alone, for more clients than that."""
LEAST_EIGENVALUE = 1e-6
"""Relative size from which on the smallest eigenvalue of W is trusted; below, only averaged iterates are planned."""


@dataclass(frozen=True, kw_only=True)
class _Candidate:
    theorem: str
    rounds: float
    eta: float
    weights: np.ndarray
    peer_excess: float
    rule: str


def all_for_all_plan(network: Network, epsilon: float) -> MethodPlan:
    """The fewest rounds over thresholds of R_i(x_j*) - min R_i: clusters, and equal weights on the near clients.

    mu is the smallest, L the largest of the clients. sigma^2 |W|_F^2 stands for sum_ij W_ij^2 sigma_j^2, which is all
    that the proof uses of it.
    """
    quantity, guarantee = PROMISES[LAST]
    row = MethodPlan(
        method="all-for-all", epsilon=epsilon, theorem=LAST, quantity=quantity.expression, guarantee=guarantee
    )
    constants = network.constants
    if constants.excess is None:
        return replace(row, failure=unknown_excess())
    if network.spread:
        reason = "all models have to start at one point"
        return replace(row, failure=failure("common start: largest distance <= 0", network.spread, 0.0, reason))
    best = min(_candidates(network, epsilon), key=lambda one: one.rounds)
    rounds = whole(np.full(network.clients, best.rounds))
    W = best.weights @ best.weights.T
    links = int((W > 0).sum() - (W.diagonal() > 0).sum())
    quantity, guarantee = PROMISES[best.theorem]
    notes = list(constants.notes)
    if network.start is None:
        notes.append("assumes a common start and mu-strong convexity, which constants do not show")
    return replace(
        row,
        theorem=best.theorem,
        quantity=quantity.expression,
        guarantee=guarantee,
        rounds=rounds,
        samples_per_client=rounds[0],
        vectors=links * rounds[0],
        settings={"eta": best.eta, "weights": best.weights, "peer_excess": best.peer_excess, "rule": best.rule},
        notes=tuple(notes),
    )


def _candidates(network: Network, epsilon: float) -> Iterator[_Candidate]:
    constants, excess = network.constants, network.excess_at_peers
    apart = np.maximum(excess, excess.T)
    levels = np.unique(apart[np.isfinite(apart)])
    levels = levels[levels <= 2 * epsilon * network.clients]
    few = constants.clients <= MANY_CLIENTS
    most = MOST_THRESHOLDS if few else MOST_THRESHOLDS // 3
    if len(levels) > most:
        levels = levels[np.unique(np.linspace(0, len(levels) - 1, most).round().astype(int))]
    for level in levels:
        near = apart <= level
        labels = components(near)
        same = labels[:, None] == labels[None]
        yield from _planned(network, epsilon, same / same.sum(-1, keepdims=True), excess, rule="clusters")
        if few and not (near == same).all():
            yield from _planned(network, epsilon, near / near.sum(-1, keepdims=True), excess, rule="threshold")


def _planned(
    network: Network, epsilon: float, weights: np.ndarray, excess: np.ndarray, *, rule: str
) -> Iterator[_Candidate]:
    constants = network.constants
    assert constants.excess is not None
    mu, beta, sigma2 = constants.mu.min().item(), constants.beta.max().item(), constants.sigma2.max().item()
    e0, relative = constants.excess.mean().item(), constants.sigma2 / sigma2
    peer_excess = (weights * np.where(weights > 0, excess, 0)).sum(-1).mean().item()
    if not peer_excess <= 0.9 * epsilon:
        return
    W = weights if rule == "clusters" else weights @ weights.T
    weight2 = (W**2 * relative).sum(-1).mean().item()
    lambda2 = ((weights**2).sum(-1) * relative).mean().item()
    smax, smin = (1.0, 1.0) if rule == "clusters" else (float(part) for part in spectrum(weights)[:2])
    slack = epsilon - peer_excess
    common: dict[str, Any] = {"weights": weights, "peer_excess": peer_excess, "rule": rule}
    given: dict[str, Any] = {"beta": beta, "smax": smax, "eps": epsilon, "sigma2": sigma2, "peer_excess": peer_excess}
    if smin > LEAST_EIGENVALUE * smax:
        rounds = float(evaluate(find(LAST), **given, mu=mu, smin=smin, e0=e0, weight2=weight2))
        noise = beta * sigma2 * weight2 / (mu**2 * slack * smin**2)
        eta = 2 / ((max(beta * smax / (mu * smin), noise) + 1) * mu * smin)
        yield _Candidate(theorem=LAST, rounds=rounds, eta=eta, **common)
    distance2 = network.distance2
    if distance2 is not None:
        mean = distance2.mean().item()
        if mean > 0:
            rounds = max(1.0, float(evaluate(find(AVERAGED), **given, lambda2=lambda2, mean_distance2=mean)))
            eta = min(1 / (beta * smax), slack / (sigma2 * lambda2))
            yield _Candidate(theorem=AVERAGED, rounds=rounds, eta=eta, **common)
    if rule == "clusters" and excess[weights > 0].max() <= epsilon / 2:
        rounds = float(evaluate(find(CLUSTERS), mu=mu, beta=beta, eps=epsilon, e0=e0, sigma2=sigma2, lambda2=weight2))
        eta = 2 / (max(beta, 2 * beta * sigma2 * weight2 / (mu * epsilon)) + mu)
        yield _Candidate(theorem=CLUSTERS, rounds=rounds, eta=eta, **common)
