"""Constant weights and step of one client at one precision, with the time they take: exact, or measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from suffice.support.errors import InputError

ROUNDING = 1e-13
"""The least share of the starting excess that can be told from rounding."""


@dataclass(frozen=True, kw_only=True)
class ConstantPlan:
    """Constant weights and step of one client at one precision. None marks what is not known, or not looked for.

    start           excess of the start [loss]
    weights         (N,), of sum 1; all 0 where no step is needed or none is known
    eta             sum of the rates [theta^2 / loss]; in the coordinates of the preconditioner, where there is one
    iterations      the first T with E e_T <= epsilon, exactly, or measured: of the mean over paths; None: at no T that
                    was looked at
    excess          E e_T there [loss]; where a measured plan does not arrive, at the last t followed
    note            why there is no T, or what it is not
    preconditioner  the name of P's coordinates; `matrix` is P (d, d), None for the identity
    step_limit      eta from which on the second moment does not contract
    floor           lim E e_t [loss] if the rates are kept up
    holds           E e_t <= epsilon for all t >= T too; otherwise the client stops at T
    stages          constant plans one after the other that take fewer iterations, where they were asked for and found
    follow          gives E e_t / epsilon, t = 0..steps, of rates (0, c), c times the plan's; nothing of measured plans

    Of a measured plan alone:

    model           the exact plan of the quadratic model that its weights and step are the best for
    between         the first t at which the mean less, and plus, two standard errors is at most epsilon
    excess_se       standard error of `excess` [loss]; seeds  paths that it was followed on
    """

    epsilon: float
    start: float
    weights: np.ndarray
    eta: float = 0.0
    iterations: int | None = None
    excess: float | None = None
    note: str = ""
    preconditioner: str = "none"
    matrix: np.ndarray | None = field(default=None, repr=False)
    step_limit: float | None = None
    floor: float | None = None
    holds: bool | None = None
    stages: tuple[ConstantPlan, ...] = ()
    follow: Callable[[np.ndarray, int], np.ndarray] | None = field(default=None, repr=False)
    model: ConstantPlan | None = None
    between: tuple[int | None, int | None] = (None, None)
    excess_se: float | None = None
    seeds: int = 0

    @classmethod
    def begun(cls, clients: int, epsilon: float, start: float) -> ConstantPlan:
        """A plan to be made from an excess of `start`, or one that says why there is none to make."""
        plan = cls(epsilon=epsilon, start=start, weights=np.zeros(clients))
        if start <= epsilon:
            note = "the start is already below this precision: 0 iterations, alone or together"
            return replace(plan, iterations=0, note=note, excess=start, floor=start, holds=True)
        if epsilon < ROUNDING * start:
            return plan.noted(f"this precision is below rounding, {ROUNDING:g} of the starting excess {start:.3g}")
        return plan

    def noted(self, note: str) -> ConstantPlan:
        return replace(self, note=note)

    rates = property(lambda self: self.eta * self.weights)

    @property
    def scheduled(self) -> int | None:
        """Iterations of the stages, or of the constant plan where there are none."""
        return sum(stage.iterations or 0 for stage in self.stages) if self.stages else self.iterations

    def curve(self, steps: int) -> np.ndarray:
        """E e_t for t = 0..steps with these rates throughout [loss]; `InputError` where it is not known exactly."""
        if not self.eta:
            return np.full(steps + 1, self.start)
        if self.follow is None:
            remedy = "only whole exact plans have an exact curve"
            raise InputError("curve", f"{'a measured' if self.model else 'an exact'} plan", remedy)
        return self.epsilon * self.follow(np.array([0.0, 1.0]), steps)

    def matrix_name(self, client: str) -> str | None:
        """The name of the matrix among a plan's matrices, None for the identity: clients share all but their own."""
        name = self.preconditioner
        return None if self.matrix is None else name + f" of {client}" * name.startswith("own")

    def to_dict(self, client: str, names: Sequence[str]) -> dict[str, Any]:
        """The object `exact` or `measured` of a row of `suffice plan --json`, of one of the clients `names`."""
        parts = () if self.iterations is None else self.stages or (self,)
        answer = {name: getattr(self, name) for name in ("iterations", "weights")} | {
            "weights_of": {name: w for name, w in zip(names, self.weights.tolist()) if w},
            "eta": self.eta,
            "schedule": [{"iterations": one.iterations, "weights": one.weights, "eta": one.eta} for one in parts],
            "excess": self.excess,
            "preconditioner": self.preconditioner,
            "matrix": self.matrix_name(client),
            "note": self.note,
        }
        if self.model is None:
            known = {name: getattr(self, name) for name in ("step_limit", "floor", "holds")}
            return answer | known | {"schedule_excess": (self.stages or (self,))[-1].excess}
        model = {"iterations": self.model.iterations, "step_limit": self.model.step_limit}
        return answer | {name: getattr(self, name) for name in ("between", "excess_se", "seeds")} | {"model": model}
