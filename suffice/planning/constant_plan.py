"""Constant weights and step of one client at one precision, with the time they take: exact, or measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from suffice.support.errors import InputError

from .number import Number


class Curve(Protocol):
    """A recursion with one peer that stands for all: rates (0, c) are c times the plan's."""

    def curve(self, rates: np.ndarray, steps: int, /) -> np.ndarray: ...


class LongRun(NamedTuple):
    """What happens if the rates are kept up.

    step_limit  eta from which on the second moment does not contract
    floor       lim E e_t [loss]
    holds       E e_t <= epsilon for all t >= T too; otherwise the client stops at T
    hitting     {"eta", "expected_iterations"}: with this step, perhaps a smaller one, E[tau] is at most that many,
                tau = min{t: e_t < epsilon} on single paths; None where that is not certain at any step
    """

    step_limit: float | None = None
    floor: float | None = None
    holds: bool | None = None
    hitting: dict[str, float] | None = None


class Preconditioner(NamedTuple):
    """P, by the name of its coordinates, and as a matrix (d, d), None for the identity."""

    name: str = "none"
    matrix: np.ndarray | None = None

    def __repr__(self) -> str:
        return f"Preconditioner({self.name!r})"


UNKNOWN, IDENTITY = LongRun(), Preconditioner()


@dataclass(frozen=True, kw_only=True)
class ConstantPlan:
    """Constant weights and step of one client at one precision, theta+ = theta - eta P sum_k w_k g_k.

    start         excess of the start [loss]
    weights       (N,), of sum 1; all 0 where no step is needed or none is known
    eta           sum of the rates [theta^2 / loss]; in the coordinates of the preconditioner, where there is one
    time          the first T with E e_T <= epsilon, exactly, or measured: of the mean over paths, with the first t at
                  which that mean less, and plus, two standard errors is. None: at no t that was looked at
    end           E e_T there [loss]; where a measured plan does not arrive, at the last t followed
    conditioning  P: its name, and its `matrix`, an attribute of the plan, too
    long_run      step limit, floor, what is certain of single paths
    stages        constant plans one after the other that take fewer iterations, where they were asked for and found
    model         of a measured plan, the exact plan of the quadratic model that its weights and step are the best for
    seeds         paths that a measured plan was followed on
    """

    epsilon: float
    start: float
    weights: np.ndarray
    eta: float
    time: Number
    end: Number
    conditioning: Preconditioner = IDENTITY
    long_run: LongRun = UNKNOWN
    stages: tuple[ConstantPlan, ...] = ()
    model: ConstantPlan | None = None
    seeds: int = 0
    recursion: Curve | None = field(default=None, repr=False)  # merged

    iterations = property(lambda plan: plan.time.value)
    note = property(lambda plan: plan.time.why_not)
    excess = property(lambda plan: plan.end.value)
    matrix = property(lambda plan: plan.conditioning.matrix)

    def noted(self, note: str) -> ConstantPlan:
        """The plan with a note on its time: why there is none, or what it is not."""
        return replace(self, time=replace(self.time, why_not=note))

    @property
    def excess_se(self) -> float | None:
        """Standard error of a measured `excess` [loss]."""
        low, high = self.end.error
        return None if low is None or high is None else (high - low) / 4

    @property
    def rates(self) -> np.ndarray:
        return self.eta * self.weights

    @property
    def scheduled(self) -> int | None:
        """Iterations of the stages, or of the constant plan where there are none."""
        return sum(stage.iterations for stage in self.stages) if self.stages else self.iterations

    @property
    def last(self) -> ConstantPlan:
        """The last of its stages, or the plan itself."""
        return self.stages[-1] if self.stages else self

    def curve(self, steps: int) -> np.ndarray:
        """E e_t for t = 0..steps with these rates throughout [loss]; `InputError` where it is not known exactly."""
        if not self.eta:
            return np.full(steps + 1, self.start)
        if self.recursion is None:
            raise InputError("curve", f"a {self.time.kind} plan", "only whole exact plans have an exact curve")
        return self.recursion.curve(np.array([0.0, 1.0]), steps)

    def matrix_name(self, client: str) -> str | None:
        """That of its matrix among the plan's, None for the identity: clients share all but their own."""
        name = self.conditioning.name
        return None if self.matrix is None else name + f" of {client}" * name.startswith("own")

    def to_dict(self, client: str, names: Sequence[str]) -> dict[str, Any]:
        """The object `exact` or `measured` of a row of `suffice plan --json`, of one of the clients `names`."""
        parts = () if self.iterations is None else self.stages or (self,)
        schedule = [{"iterations": one.iterations, "weights": one.weights.tolist(), "eta": one.eta} for one in parts]
        answer = {
            "iterations": self.iterations,
            "weights": self.weights.tolist(),
            "weights_of": {name: w for name, w in zip(names, self.weights.tolist()) if w},
            "eta": self.eta,
            "schedule": schedule,
            "excess": self.excess,
            "preconditioner": self.conditioning.name,
            "matrix": self.matrix_name(client),
            "note": self.note,
        }
        if self.model is None:
            return answer | self.long_run._asdict() | {"schedule_excess": self.last.excess}
        model = {"iterations": self.model.iterations, "step_limit": self.model.long_run.step_limit}
        return answer | {
            "between": list(self.time.error),
            "excess_se": self.excess_se,
            "seeds": self.seeds,
            "model": model,
        }
