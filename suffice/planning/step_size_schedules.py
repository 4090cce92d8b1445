"""Step-size schedules of All-for-one that theorems bound: constant, for a horizon, decreasing, for a hitting time.

Every bound is of the stopped process: it holds until tau = min{t: e_t < eps}. Steps that no theorem has to bound are
found by `exact.weights`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from suffice.bounds.client_constants import Constants
from suffice.bounds.evaluate import evaluate, outward
from suffice.bounds.theorems import find

CONSTANT, HITTING = "adaptive/theorem-2-constant", "adaptive/corollary-1-expected-time"
DECREASING_FACTOR = 2.0
"""C of the decreasing step size C / (mu (t + gamma))."""


class Schedules(NamedTuple):
    """The four step-size schedules of one client at one precision, with their stopped bounds, and fixed weights.

    Each is a dictionary as in the JSON contract; None marks what has no horizon, confidence or start. `fixed_weights`
    are those of `guaranteed.fixed_weights`; what promises less time gives `eta`, `iterations`, `theorem` and `promise`.
    """

    constant: dict[str, Any]
    horizon: dict[str, Any]
    decreasing: dict[str, Any]
    hitting: dict[str, Any]
    fixed_weights: dict[str, Any] | None = None

    @property
    def fixed(self) -> dict[str, Any] | None:
        """The fixed weights, where they promise fewer iterations than the hitting time."""
        fixed = self.fixed_weights
        return fixed if fixed and fixed["rounds"] < self.hitting["expected_iterations"] else None

    @property
    def best(self) -> tuple[str, str, float, float | None]:
        """The theorem, the promise, the step (of two stages that of the first) and the iterations of the hitting time,
        or of fixed weights where these promise fewer iterations."""
        fixed = self.fixed
        if fixed is None:
            return HITTING, "E[tau], stopped", self.hitting["eta"], self.hitting["expected_iterations"]
        return fixed["theorem"], fixed["promise"], next((one["eta"] for one in fixed["stages"]), 0.0), fixed["rounds"]

    theorem = property(lambda one: one.best[0])
    promise = property(lambda one: one.best[1])
    eta = property(lambda one: one.best[2])
    iterations = property(lambda one: one.best[3])


def schedules(
    constants: Constants,
    s2: np.ndarray,
    q: np.ndarray,
    epsilon: np.ndarray,
    horizon: int | None,
    confidence: float | None,
) -> list[Schedules]:
    """The schedules of each client, from its variance, step ratio and precision, all (N,)."""
    mu, beta, e0 = constants.mu, constants.beta, constants.excess
    limit, gamma = q / beta, DECREASING_FACTOR * beta / (mu * q) - 1
    values: dict[str, Any] = {"mu": mu, "beta": beta, "q": q, "s2": s2}
    eta, unknown = np.minimum(limit, mu * epsilon / (beta * s2)), np.full(len(mu), None)
    constant = horizon_eta = horizon_bound = decreasing = expected = at_confidence = unknown
    if e0 is not None and horizon is not None:
        given: dict[str, Any] = values | {"e0": e0, "T": horizon}
        constant, decreasing = evaluate(find(CONSTANT), eta=limit, **given), _decreasing(gamma, given)
        horizon_eta, horizon_bound = _horizon(limit, given)
    if e0 is not None:
        above, e0 = e0 >= epsilon, np.maximum(e0, epsilon)
        expected = np.where(above, evaluate(find(HITTING), eta=eta, eps=epsilon, e0=e0, **values), 0.0)
        if confidence is not None:
            # (1 - Delta)^T <= exp(-Delta T): T = ln(e_0 / (eps delta)) / Delta is enough
            drift = eta * mu - eta**2 * beta * s2 / (2 * epsilon)
            steps = np.ceil((np.log(e0 / epsilon) - np.log(confidence)) / drift)
            at_confidence = np.array([max(int(T), 1) if runs else 0 for T, runs in zip(steps, above)], dtype=object)
    parts = (
        {"eta": limit, "bound": constant},
        {"eta": horizon_eta, "bound": horizon_bound},
        {"C": np.full(len(mu), DECREASING_FACTOR), "gamma": gamma, "bound": decreasing},
        {"eta": eta, "expected_iterations": expected, "iterations_at_confidence": at_confidence},
    )
    rows = ([dict(zip(part, row)) for row in zip(*(column.tolist() for column in part.values()))] for part in parts)
    return [Schedules(*each) for each in zip(*rows)]


def _horizon(limit: np.ndarray, given: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """eta = min(q/beta, ln(e_0 / K) / (mu T)), K = beta s2 / (2 mu^2 T), and the bound there.

    That step minimises exp(-eta mu T) e_0 + eta beta s2 / (2 mu), an upper bound of B_T, over all steps; if
    e_0 <= K its minimum is at eta = 0 with value e_0. B_T itself is reported at the step.
    """
    mu, e0, T = given["mu"], given["e0"], given["T"]
    floor = given["beta"] * given["s2"] / (2 * mu**2 * T)
    moves, eta = e0 > floor, np.minimum(limit, np.log(np.maximum(e0 / floor, 1)) / (mu * T))
    bound = evaluate(find(CONSTANT), eta=np.where(moves, eta, limit), **given)
    return np.where(moves, eta, 0.0), np.where(moves, bound, e0)


def _decreasing(gamma: np.ndarray, given: dict[str, Any]) -> np.ndarray:
    """B_T of Theorem 2's recursion for eta_t = 2 / (mu (t + gamma)), in closed form; at most nu / (gamma + T + 1)
    with nu = max(2 beta s2 / mu^2, (gamma + 1) e_0), the corrected row of Table 1."""
    from scipy.special import digamma

    # With n = t + gamma the factors 1 - 2/n telescope: prod_{m = n+1}^{M} (m - 2)/m = n (n - 1) / (M (M - 1)), so
    # B_T M (M - 1) = gamma (gamma - 1) e_0 + (2 beta s2 / mu^2) sum_{n = gamma+1}^{M} (n - 1)/n,  M = gamma + T.
    last = gamma + given["T"]
    total = given["T"] - (digamma(last + 1) - digamma(gamma + 1))
    level = gamma * (gamma - 1) * given["e0"] + 2 * given["beta"] * given["s2"] / given["mu"] ** 2 * total
    return outward(level / (last * (last - 1)), "upper")
