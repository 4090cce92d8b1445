"""Schedules of three stages: constant rates in each, all three chosen together, in fewer steps than one constant plan.

E e_T = loss . M(v_3)^T_3 M(v_2)^T_2 M(v_1)^T_1 z_0 for rates v_j kept up for T_j steps, exactly, and its derivatives by
all 3 N rates come from one pass forward and one backward. The search that polishes constant rates goes on from the
constant plan, which is the schedule (v, v, v), with goals for T that are shorter. So no schedule is slower than the
constant plan. It is a local optimum: no proof that none is faster.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from suffice.simulate.moments.orbits import orbit, orbit_sum
from suffice.simulate.moments.recursion import ExactRecursion

from ..constant_plan import ConstantPlan
from .weights import NEGLIGIBLE, Rates, polished

STAGES = 3
ROUNDS = 40
"""Iterations of descent for each length that is tried."""
WORK = 3e8
"""Multiplications of one gradient up to which plans are looked at."""


def lengths(steps: int) -> list[int]:
    """The lengths of the stages, as equal as can be, of sum `steps`."""
    return np.diff([steps * j // STAGES for j in range(STAGES + 1)]).tolist()


@dataclass(frozen=True)
class StagedRecursion:
    """One client's model at rates (3 N,), stage after stage, the stages being about equally long."""

    recursion: ExactRecursion

    def passed(self, v: np.ndarray, steps: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """The rates (N,) of each stage, the matrix of a step and the moments from its start to its end, in columns."""
        z = self.recursion.start
        for rates, part in zip(v.reshape(STAGES, -1), lengths(steps)):
            M = self.recursion.matrix(rates)
            Z = orbit(M, z, part)
            yield rates, M, Z
            z = Z[:, -1]

    def curve(self, v: np.ndarray, steps: int) -> np.ndarray:
        """E e_t, t = 0..steps."""
        parts = [self.recursion.loss @ Z[:, 1:] for _, _, Z in self.passed(v, steps)]
        return np.concatenate(([self.recursion.excess], *parts))

    def derivatives(self, v: np.ndarray, steps: int) -> tuple[float, np.ndarray]:
        """E e_T and its derivatives by all rates, at the end of the last stage."""
        p, stages, gradient = self.recursion.loss, [*self.passed(v, steps)], []
        for rates, M, Z in reversed(stages):
            part = Z.shape[1] - 1
            gradient.insert(0, self.recursion.contract(rates, orbit_sum(M, Z[:, 0], p, part)[0]))
            p = orbit(M.T, p, part)[:, -1]
        return float(self.recursion.loss @ stages[-1][-1][:, -1]), np.concatenate(gradient)

    @property
    def sizes(self) -> np.ndarray:
        """The sizes of the rates, (3 N,): those of one stage, repeated for each."""
        return np.tile(self.recursion.sizes, STAGES)

    def stable(self, v: np.ndarray) -> bool:
        """Whether every stage is below its step limit."""
        return all(self.recursion.stable(rates) for rates in v.reshape(STAGES, -1))

    def arrival(self, v: np.ndarray, most: int) -> float:
        """A T <= `most` with E e_T <= 1 < E e_(T-1), each with stages of its own lengths; inf where E e is larger."""
        if self.curve(v, most)[-1] > 1:
            return np.inf
        return float(most - bisect_left(range(most - 1, 0, -1), True, key=lambda T: not self.curve(v, T)[-1] <= 1))


def in_stages(plan: ConstantPlan, recursion: ExactRecursion, peers: np.ndarray) -> ConstantPlan:
    """The plan with stages, where these are faster; one too long to be looked at stays as it is.

    Every stage is below its step limit. peers  (n, N), which of all clients the n of the recursion are.
    """
    T, curve, v = plan.iterations or 0, StagedRecursion(recursion), np.tile(peers @ plan.rates, STAGES)
    if T <= 1 or 3.0 * T * len(recursion.loss) ** 2 > WORK:
        return plan
    # a rate of 0 may grow again: what matters at the start is little
    start = Rates(v=np.maximum(v, 1e-3 * v.max()))
    best = polished(curve, start, Rates(v=v, time=T), T, {}, ROUNDS)
    steps, tidy = int(best.time), np.where(best.v < NEGLIGIBLE * best.v.max(), 0, best.v)
    if steps == T:
        return plan
    v = tidy if curve.curve(tidy, steps)[-1] <= 1 and curve.stable(tidy) else best.v
    excess, ends = plan.epsilon * curve.curve(v, steps), np.cumsum(lengths(steps))
    unknown = dict.fromkeys(("step_limit", "floor", "holds", "follow"))
    stages = tuple(
        replace(
            plan,
            start=float(excess[end - part]),
            weights=rates / rates.sum() @ peers,
            eta=float(rates.sum()),
            iterations=part,
            excess=float(excess[end]),
            **unknown,
        )
        for rates, part, end in zip(v.reshape(STAGES, -1), lengths(steps), ends)
        if part
    )
    return replace(plan, stages=stages)
