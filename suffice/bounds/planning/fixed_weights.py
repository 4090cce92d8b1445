"""The plan of All-for-one with fixed weights: Even, Massoulie, Scaman (2022), Theorem 2, in rounds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import ConditionError
from ..evaluate import evaluate
from ..quantities import Quantity
from ..theorems import find
from ..weights import optimal_weights
from .method_plan import MethodPlan, failure, of_error, unknown_excess, whole
from .network import Network

KEY = "sample-optimal/theorem-2-rounds"
GUARANTEE = "E[e_i] <= epsilon after every T >= rounds_i, for each client: the mean at a fixed time, not stopped"
CAPS = np.linspace(0, 0.94, 48)
"""Caps of water-filling in units of sqrt(2 mu eps); the theorem asks for at most sqrt(0.9) of it."""


def fixed_weights_plan(network: Network, epsilon: float) -> MethodPlan:
    """For each client the fewest rounds over thresholds (equal weights on the nearest) and water-filling weights.

    The proof uses sigma^2 Lambda_2 only as a bound of sum_j lambda_j^2 sigma_j^2, which is what is inserted.
    """
    refused = MethodPlan(
        method="fixed-weights", epsilon=epsilon, theorem=KEY, quantity=Quantity.EXCESS.expression, guarantee=GUARANTEE
    )
    constants, b = network.constants, network.uniform
    peers = b[~np.eye(network.clients, dtype=bool)]
    if constants.excess is None:
        return replace(refused, failure=unknown_excess())
    if network.clients > 1 and not np.isfinite(peers).any():
        level = 1.8 * constants.mu.max().item() * epsilon
        return replace(
            refused,
            failure=failure(
                "squared bias <= 1.8 mu eps",
                np.inf,
                level,
                "no pair has a known b with c = 0 (quadratics: equal Hessians)",
            ),
        )
    weights, rules, rounds, steps = [], [], [], []
    for i in range(network.clients):
        try:
            row, rule, T, eta = _best(network, b[i], i, epsilon)
        except ConditionError as error:
            return replace(refused, failure=of_error(error))
        weights.append(row)
        rules.append(rule)
        rounds.append(T)
        steps.append(eta)
    used = np.array(weights)
    served = whole(rounds)
    return replace(
        refused,
        rounds=served,
        samples_per_client=max(served),
        vectors=float(np.dot(2 * ((used > 0).sum(-1) - (used.diagonal() > 0)), served)),
        settings={"eta": steps, "weights": used, "rule": rules},
        notes=constants.notes,
    )


def _best(network: Network, b: np.ndarray, i: int, epsilon: float) -> tuple[np.ndarray, str, float, float]:
    """Weights (N,), their rule, rounds and step of client i."""
    constants = network.constants
    mu, beta, top = constants.mu[i].item(), constants.beta[i].item(), constants.sigma2.max().item()
    assert constants.excess is not None
    order = np.argsort(np.where(np.arange(len(b)) == i, -1.0, b), kind="stable")  # the client itself first
    prefixes = np.tril(np.ones((len(b), len(b))))[: int(np.isfinite(b).sum())]
    threshold = np.zeros_like(prefixes)
    threshold[:, order] = prefixes / prefixes.sum(-1, keepdims=True)
    caps = CAPS[1:] * np.sqrt(2 * mu * epsilon)
    filled = optimal_weights(b=np.broadcast_to(b, (len(caps), len(b))), cap=caps)
    filled = filled[np.isfinite(filled).all(-1)]
    candidates = np.concatenate((threshold, filled))
    rules = ["threshold"] * len(threshold) + ["water-filling"] * len(filled)
    bias = np.where(candidates > 0, candidates * np.where(candidates > 0, b, 0), 0).sum(-1)
    noise = (candidates**2 * constants.sigma2).sum(-1) / top
    given: dict[str, Any] = {"mu": mu, "beta": beta, "eps": epsilon, "e0": constants.excess[i].item(), "sigma2": top}
    fits = bias**2 <= 1.8 * mu * epsilon
    values = np.full(len(candidates), np.inf)
    values[fits] = evaluate(find(KEY), enforce=False, **given, lambda2=noise[fits], bias=bias[fits])
    at = int(np.argmin(values))
    T = float(evaluate(find(KEY), **given, lambda2=noise[at].item(), bias=bias[at].item()))
    slack = epsilon - bias[at].item() ** 2 / (2 * mu)
    eta = min(1 / beta, mu * slack / (beta * top * noise[at].item()))
    return candidates[at], rules[at], T, eta
