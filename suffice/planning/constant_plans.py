"""Constant weights and step of one client at one precision, with the time they take: exact, or measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from suffice.support.parts import Of

from .number import Number


class Curve(Protocol):
    """A recursion with one peer that stands for all: rates (0, c) are c times the plan's."""

    def curve(self, rates: np.ndarray, steps: int, /) -> np.ndarray: ...


class LongRun(NamedTuple):
    """What happens if the rates are kept up.

    step_limit  eta from which on the second moment does not contract
    floor       lim E e_t [loss]
    holds       E e_t <= epsilon for all t >= T too; otherwise the client stops at T
    """

    step_limit: float | None = None
    floor: float | None = None
    holds: bool | None = None


class Preconditioner(NamedTuple):
    """P, by the name of its coordinates, and as a matrix (d, d), None for the identity."""

    name: str = "none"
    matrix: np.ndarray | None = None

    def __repr__(self) -> str:
        return f"Preconditioner({self.name!r})"


UNKNOWN, IDENTITY = LongRun(), Preconditioner()


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Constant weights (N,) and step eta [theta^2 / loss] for some iterations; `excess` is E e at their end [loss]."""

    iterations: int
    weights: np.ndarray
    eta: float
    excess: float

    def to_dict(self) -> dict[str, Any]:
        return {"iterations": self.iterations, "weights": self.weights.tolist(), "eta": self.eta}


@dataclass(frozen=True, kw_only=True)
class ExactPlan:
    """Constant weights and step of one client at one precision, theta+ = theta - eta P sum_k w_k g_k.

    start        excess of the start [loss]
    weights      (N,), of sum 1; all 0 where no step is needed or none is known
    eta          sum of the rates [theta^2 / loss]; in the coordinates of the preconditioner, where there is one
    iterations   the first T with E e_T <= epsilon, exactly; None: none was found (`note` says why)
    excess       E e_T there [loss]
    long_run     step limit, floor, and whether the excess stays below epsilon: attributes of the plan, too
    conditioning  P: its name is the attribute `preconditioner`, its `matrix` one, too
    hitting      {"eta", "expected_iterations"}: with this step, perhaps a smaller one, E[tau] is at most that many,
                 tau = min{t: e_t < epsilon} on single paths; None where that is not certain at any step
    stages       a schedule that takes fewer iterations, where one was asked for and found
    """

    epsilon: float
    start: float
    weights: np.ndarray
    eta: float
    iterations: int | None
    excess: float | None = None
    long_run: LongRun = UNKNOWN
    conditioning: Preconditioner = IDENTITY
    hitting: dict[str, float] | None = None
    stages: tuple[Stage, ...] = ()
    note: str = ""
    recursion: Curve | None = field(default=None, repr=False)  # merged

    step_limit, floor, holds = Of("long_run"), Of("long_run"), Of("long_run")
    preconditioner, matrix = Of("conditioning", "name"), Of("conditioning")

    @property
    def rates(self) -> np.ndarray:
        return self.eta * self.weights

    @property
    def time(self) -> Number:
        return Number(self.iterations, "exact", why_not=self.note)

    @property
    def scheduled(self) -> int | None:
        """Iterations of the stages, or of the constant plan where there are none."""
        return sum(stage.iterations for stage in self.stages) if self.stages else self.iterations

    @property
    def staged_excess(self) -> float | None:
        """E e at the end of the stages, exactly [loss]; None where there are none."""
        return self.stages[-1].excess if self.stages else None

    def curve(self, steps: int) -> np.ndarray:
        """E e_t for t = 0..steps with these rates throughout [loss]."""
        if self.recursion is None:
            return np.full(steps + 1, self.start)
        return self.recursion.curve(np.array([0.0, 1.0]), steps)

    def to_dict(self) -> dict[str, Any]:
        """The object `exact` of `suffice plan --json`."""
        constant = {"iterations": self.iterations, "weights": self.weights.tolist(), "eta": self.eta}
        schedule = [] if self.iterations is None else [stage.to_dict() for stage in self.stages] or [constant]
        return {
            **constant,
            **self.long_run._asdict(),
            "schedule": schedule,
            "schedule_excess": self.staged_excess if self.stages else self.excess,
            "excess": self.excess,
            "hitting": self.hitting,
            "preconditioner": self.preconditioner,
            "matrix": None if self.matrix is None else self.matrix.tolist(),
            "note": self.note,
        }


@dataclass(frozen=True, kw_only=True)
class MeasuredPlan:
    """Constant weights and step of one client at one precision; nothing of it is exact or guaranteed.

    model          the plan, with times of the quadratic model: iterations, excess, step limit and floor there
    iterations     first t at which the mean excess over `seeds` paths of the loss itself is at most epsilon; None: at
                   none of those followed (`note` says why)
    between        first t at which that mean less, and plus, two standard errors is; None where at none
    excess         mean excess at `iterations`, or at the last t followed [loss]; excess_se its standard error
    """

    model: ExactPlan
    iterations: int | None = None
    between: tuple[int | None, int | None] = (None, None)
    excess: float | None = None
    excess_se: float | None = None
    seeds: int = 0
    note: str = ""

    @property
    def weights(self) -> np.ndarray:
        """Those of the model, as the step is."""
        return self.model.weights

    @property
    def eta(self) -> float:
        return self.model.eta

    @property
    def time(self) -> Number:
        return Number(self.iterations, "measured", self.between, self.note)

    def to_dict(self) -> dict[str, Any]:
        """The object `measured` of a row of `suffice plan --json`."""
        plan = {"weights": self.weights.tolist(), "eta": self.eta}
        return {
            **plan,
            "iterations": self.iterations,
            "between": list(self.between),
            "excess": self.excess,
            "excess_se": self.excess_se,
            "seeds": self.seeds,
            "schedule": [] if self.iterations is None else [{"iterations": self.iterations, **plan}],
            "preconditioner": self.model.preconditioner,
            "matrix": None if self.model.matrix is None else self.model.matrix.tolist(),
            "model": {"iterations": self.model.iterations, "step_limit": self.model.step_limit},
            "note": self.note,
        }
