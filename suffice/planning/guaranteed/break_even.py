"""Break-even precisions: from which one on the plan with peers is faster than alone."""

from __future__ import annotations

import numpy as np

from suffice.bounds.constants import Constants
from suffice.bounds.criteria import Criterion
from suffice.bounds.sufficient_cluster import entry_precisions

from ..break_even import BreakEven
from .plan import weighing

GRID, HALVINGS = 33, 26
GAIN = 1 + 1e-9
"""A speed-up above this counts as one."""
REACH = 1e-9
"""Smallest precision that is tried, relative to the largest."""

MOST_CLIENTS = 200
"""Beyond that many clients the search takes minutes."""


# E[tau] is (1 + ln(e_0/eps)) / Delta, alone and together: the speed-up is the ratio of the drifts Delta, whatever e_0.


def gain(constants: Constants, precisions: np.ndarray, criterion: Criterion | None = None) -> np.ndarray:
    """Predicted speed-up (N,) of each client at a precision of its own (N,), as `bounds.plan_rows` has it."""
    mu, beta, sigma2 = constants.mu, constants.beta, constants.sigma2
    similarity = constants.heterogeneity.similarity(2 * mu * precisions)
    s2, q = np.array([(s2, q) for _, s2, q in weighing(constants, similarity, criterion)]).T

    def drift(ratio: np.ndarray, variance: np.ndarray) -> np.ndarray:
        eta = np.minimum(ratio / beta, mu * precisions / (beta * variance))
        return eta * mu - eta**2 * beta * variance / (2 * precisions)

    return drift(q, s2) / drift(np.ones_like(q), sigma2)


def break_even(constants: Constants, *, criterion: Criterion | None = None) -> list[BreakEven]:
    """For each client the largest precision below which the plan with peers is not faster than alone.

    33 precisions between that of the first peer and the initial excess (1000 times the last peer's if there is none)
    are tried, and the first gain is located by bisection: gains that vanish between two of them are not seen.
    """
    first = entry_precisions(constants.heterogeneity, mu=constants.mu, threshold=0.0)
    first = np.where(np.eye(constants.clients, dtype=bool), np.inf, first)
    entry = first.min(-1)
    last = 1e3 * np.where(np.isfinite(first), first, 0).max(-1)
    top = constants.excess if constants.excess is not None else np.where(last > 0, last, 1.0)
    top = np.maximum(top, 1e-50)
    reachable = entry < top
    low = np.where(reachable, np.maximum(entry, REACH * top), REACH * top)
    grid = low * (top / low) ** np.linspace(0, 1, GRID)[:, None]
    gains = np.stack([gain(constants, at, criterion) for at in grid]) > GAIN
    position = gains.argmax(0)
    gaining = reachable & gains.any(0)
    everyone = np.arange(constants.clients)
    below, above = grid[np.maximum(position - 1, 0), everyone], grid[position, everyone]
    for _ in range(HALVINGS if (gaining & (position > 0)).any() else 0):
        middle = np.sqrt(below * above)
        faster = gain(constants, middle, criterion) > GAIN
        below, above = np.where(faster, below, middle), np.where(faster, middle, above)
    # nothing is gained below the first peer's precision, which was the smallest one tried if it is not 0
    stopped = np.where(position == 0, entry, below)
    return [
        BreakEven(
            client=i,
            name=constants.names[i],
            kind="guaranteed",
            helped=above[i].item() if gaining[i] else None,
            stopped=stopped[i].item() if gaining[i] and stopped[i] > 0 else None,
            tried=low[i].item(),
            first_peer=entry[i].item() if np.isfinite(entry[i]) else None,
        )
        for i in range(constants.clients)
    ]
