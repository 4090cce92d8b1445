"""One method's plan for a network at one precision: what it costs, what its theorem promises, or why it is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arrays import plain
from ..errors import ConditionError, InputError


@dataclass(frozen=True, kw_only=True)
class MethodPlan:
    """A row of the network table.

    method              its name in `bounds.planning.comparison.METHODS`
    theorem             key of the theorem that the plan follows
    quantity            what the theorem controls; `guarantee` says it in words, and no more is promised
    rounds              (N,) iterations until client i is served; None where refused
    samples_per_client  samples that every client draws until the last one is served
    vectors             d-vectors communicated until then, both directions, all clients together
    settings            step sizes, weights and what else the method runs with
    failure             the condition that fails with both sides and the reason, None where the plan applies
    """

    method: str
    epsilon: float
    theorem: str
    quantity: str
    guarantee: str
    rounds: tuple[float, ...] | None = None
    samples_per_client: float | None = None
    vectors: float | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    failure: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()

    @property
    def applies(self) -> bool:
        return self.failure is None

    def __repr__(self) -> str:
        if self.failure is not None:
            said = f"refused: {self.failure['condition']}"
        else:
            costs = (("samples per client", self.samples_per_client), ("vectors", self.vectors))
            said = ", ".join(f"{value:.4g} {name}" for name, value in costs if value is not None)
            said += f" by {self.theorem}"
        return f"MethodPlan({self.method} at {self.epsilon:.6g}: {said})"

    def to_dict(self) -> dict[str, Any]:
        """The row of "methods" in `suffice plan --json`."""
        answer = {
            "method": self.method,
            "epsilon": self.epsilon,
            "applies": self.applies,
            "theorem": self.theorem,
            "quantity": self.quantity,
            "guarantee": self.guarantee,
            "rounds": None if self.rounds is None else list(self.rounds),
            "samples_per_client": self.samples_per_client,
            "vectors": self.vectors,
            "settings": self.settings,
            "failure": self.failure,
            "notes": list(self.notes),
        }
        return plain(answer)


def failure(condition: str, lhs: float, rhs: float, reason: str) -> dict[str, Any]:
    """A failing condition lhs <= rhs with both sides, and what it means here."""
    return {"condition": condition, "lhs": float(lhs), "rhs": float(rhs), "reason": reason}


def of_error(error: ConditionError | InputError, reason: str = "") -> dict[str, Any]:
    """The failure that an error of `evaluate` tells."""
    if isinstance(error, ConditionError):
        return failure(error.condition, error.lhs, error.rhs, reason or error.remedy)
    return failure(str(error), np.nan, np.nan, reason or "an input is outside the theorem's domain")


def unknown_excess() -> dict[str, Any]:
    return failure("initial excess known", np.inf, np.inf, "without the initial excess no iterations can be counted")


def whole(rounds: Any) -> tuple[float, ...]:
    """Bounds of iterations (N,) as the smallest whole numbers that satisfy them."""
    values = np.asarray(rounds, dtype=float)
    return tuple(np.where(values < 1e-200, 0.0, np.ceil(values)).tolist())  # an outward-rounded 0 stays 0
