"""A plan made for a quadratic model of a loss that is not quadratic, and what simulation of the loss itself gave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .exact.plan import ExactPlan
from .number import Number


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
