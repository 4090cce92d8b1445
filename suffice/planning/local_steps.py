"""Whether FedAvg with local steps needs fewer rounds than a plan, whose rounds are of one weighted gradient each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from suffice.simulate.moments.gradient_moments import moments_at
from suffice.simulate.moments.recursion import orbit
from suffice.simulate.moments.server_rounds import ServerRounds

from .plan_row import Row

if TYPE_CHECKING:
    from suffice.simulate import Problem

STEPS, LOCAL_STEPS = np.geomspace(0.03, 1.0, 10), (4, 16)
"""FedAvg's, times 1/L, L the largest beta; local steps of a round."""
WORK, LONGEST = 1e9, 2000
"""Multiplications of the matrices of all steps, and rounds, up to which this is looked at."""
FEWER = (
    "In rounds FedAvg with local steps is faster: every client is at eps after {rounds} rounds of {steps} gradients "
    "each at step {eta:.3g}; this plan takes {taken} rounds, of one gradient for each model a client helps (--methods)"
)


def fewer_rounds(problem: Problem, rows: Sequence[Row]) -> tuple[str, ...]:
    """The note that says so, of all clients' exact plans at one precision; by exact moments of the server's model."""
    taken = [row.exact.iterations for row in rows if row.exact is not None and row.exact.iterations]
    D, n = (d * (d + 1) // 2 for d in (problem.features, problem.features + 1))
    if len(taken) < len(rows) or not 1 < max(taken) <= LONGEST or len(STEPS) * len(rows) * D**2 * n * 16 > WORK:
        return ()
    moments = problem.gradient_moments()
    if moments is None:
        return ()
    epsilon, start = np.array([[row.epsilon] for row in rows]), moments_at(moments.start.mean(0))
    eta, best = STEPS / (2 * np.linalg.eigvalsh(moments.A)[:, -1].max()), (max(taken), 0, 0.0)
    for steps in LOCAL_STEPS:
        server = ServerRounds(moments=moments, steps=steps, participants=moments.clients)
        with np.errstate(all="ignore"):
            excess = server.losses @ orbit(
                server.matrices(eta), start + np.zeros((len(eta), len(start))), max(taken) - 1
            )
            below: np.ndarray = np.all(excess <= epsilon, axis=1)
        first = np.where(below.any(1), below.argmax(1), max(taken))
        best = min(best, (int(first.min()), steps, float(eta[first.argmin()])), key=lambda one: one[0])
    rounds, steps, step = best
    return (FEWER.format(rounds=rounds, steps=steps, eta=step, taken=max(taken)),) if steps else ()
