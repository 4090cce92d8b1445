"""The plan of one client at one precision, and what it shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.bounds.criteria import Binary, Criterion
from suffice.support.numbers import plain
from suffice.support.text import printable

from .exact.plan import ExactPlan
from .measured_plan import MeasuredPlan
from .precision import Precision
from .schedules import SCHEDULES, Schedules

SHOWN = 6
"""Collaborators that the short text of a row names."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """The plan of one client at one precision.

    epsilon              precision [loss]
    similarity           (N,) guaranteed before it is reached, rho_ik
    weights              (N,) of Definition 1 at these similarities: each path has its own, from the similarities along
                         it. A plan's rows make the network's collaboration matrix
    cluster              peers of positive weight there, the client itself included; `names` labels all N
    sufficient_variance  what the schedules use [(loss / theta)^2], as the two variances after it: Definition 2's own
                         value and the client's alone
    step_limit           step_ratio / beta [theta^2 / loss]
    local                the same schedules alone; both None where an exact plan stands instead
    refusal              why the schedules do not hold here: they are None, or estimates where there is no exact plan
    epsilon_given        the precision as it was given, "10%" of the starting excess, say
    exact, exact_local   exact plans with peers and alone, where there are second moments
    measured, measured_local  plans of logistic losses, with times from simulation; together and alone
    continuous           variance, step ratio, step and expected iterations that continuous weights would give
    """

    client: int
    name: str
    epsilon: float
    criterion: Criterion
    similarity: np.ndarray
    weights: np.ndarray
    cluster: tuple[int, ...]
    names: tuple[str, ...]
    sufficient_variance: float
    definition_2_variance: float
    local_variance: float
    step_ratio: float
    step_limit: float | None
    schedules: Schedules | None
    local: Schedules | None
    continuous: dict[str, float | None]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    refusal: str = ""
    epsilon_given: str = ""
    exact: ExactPlan | None = None
    exact_local: ExactPlan | None = None
    measured: MeasuredPlan | None = None
    measured_local: MeasuredPlan | None = None

    @property
    def collaborators(self) -> tuple[str, ...]:
        """Names of the peers to follow, the client itself left out: by the exact plan where there is one, else those of
        the sufficient cluster."""
        members = self.cluster if self.exact is None else np.flatnonzero(self.exact.weights).tolist()
        return tuple(self.names[k] for k in members if k != self.client)

    @property
    def guaranteed_speedup(self) -> float | None:
        """Alone over together of what `schedules` promise."""
        if self.schedules is None or self.local is None:
            return None
        return quotient(*(part.hitting["expected_iterations"] for part in (self.local, self.schedules)))

    @property
    def exact_speedup(self) -> float | None:
        """Alone over together of the exact iterations."""
        if self.exact is None or self.exact_local is None:
            return None
        return quotient(self.exact_local.iterations, self.exact.iterations)

    @property
    def measured_speedup(self) -> float | None:
        """Alone over together of the measured iterations."""
        if self.measured is None or self.measured_local is None:
            return None
        return quotient(self.measured_local.iterations, self.measured.iterations)

    @property
    def speedup(self) -> float | None:
        """Of the guaranteed times, or of the exact ones where nothing is guaranteed."""
        return self.exact_speedup if self.schedules is None else self.guaranteed_speedup

    def times(self) -> tuple[str, float | None, float | None, float | None]:
        """What the plan recommends: a sign ("" exact, "<= " guaranteed), step, iterations alone and together."""
        if self.exact is not None and self.exact_local is not None:
            return "", self.exact.eta, self.exact_local.iterations, self.exact.iterations
        if self.schedules is None or self.local is None:
            return "", None, None, None
        alone, together = (part.hitting["expected_iterations"] for part in (self.local, self.schedules))
        return "<= ", self.schedules.hitting["eta"], alone, together

    def __repr__(self) -> str:
        peers = ", ".join(self.collaborators[:SHOWN]) + (", ..." if len(self.collaborators) > SHOWN else "")
        sign, eta, alone, together = self.times()
        known = together is not None and alone is not None
        times = f"together {sign}{together:.4g}, alone {sign}{alone:.4g}" if known else "iterations unknown"
        ratio = self.exact_speedup if self.exact is not None else self.speedup
        gain = "" if ratio is None else f", speed-up {ratio:.3g}"
        step = "no step" if eta is None else f"step {eta:.3g}"
        return printable(f"Row({self.name} at {self.epsilon:.6g}: with {peers or 'nobody'}; {step}, {times}{gain})")

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from suffice.support.html import facts, number, text

        sign, eta, alone, together = self.times()
        return facts(
            {
                "Client": text(self.name),
                "Precision": number(self.epsilon),
                "Collaborates with": text(", ".join(self.collaborators) or "nobody"),
                "Criterion": text(repr(self.criterion)),
                "Step": number(eta),
                "Iterations alone, together": f"{'at most ' if sign else ''}{number(alone)}, {number(together)}",
                "Speed-up": number(self.speedup if self.exact is None else self.exact_speedup, 3),
                "Warnings": "<br>".join(text(warning) for warning in self.warnings),
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """The row of `suffice plan --json`."""
        answer = {
            "client": self.client,
            "name": self.name,
            "epsilon": self.epsilon,
            "epsilon_given": self.epsilon_given or f"{self.epsilon:.12g}",
            "criterion": {
                "kind": self.criterion.kind,
                "threshold": getattr(self.criterion, "threshold", None),
            },
            "similarity": self.similarity.tolist(),
            "weights": self.weights.tolist(),
            "cluster": list(self.cluster),
            "sufficient_variance": self.sufficient_variance,
            "definition_2_variance": self.definition_2_variance,
            "local_variance": self.local_variance,
            "step_ratio": self.step_ratio,
            "step_limit": self.step_limit,
            "schedules": None if self.schedules is None else self.schedules.to_dict(),
            "local": (dict.fromkeys(SCHEDULES) if self.local is None else self.local.to_dict())
            | {
                "exact": None if self.exact_local is None else self.exact_local.to_dict(),
                "measured": None if self.measured_local is None else self.measured_local.to_dict(),
            },
            "exact": None if self.exact is None else self.exact.to_dict() | {"speedup": self.exact_speedup},
            "measured": None if self.measured is None else self.measured.to_dict() | {"speedup": self.measured_speedup},
            "guaranteed": {"holds": not self.refusal, "reason": self.refusal},
            "speedup": self.speedup,
            "continuous": self.continuous,
            "labels": LABELS,
            "warnings": list(self.warnings),
        }
        return plain(answer)


LABELS = {
    "constant": "E[e_T 1{tau >= T}] <= bound at eta = step limit",
    "horizon": "E[e_T 1{tau >= T}] <= bound at the step chosen for the horizon",
    "decreasing": "E[e_T 1{tau >= T}] <= bound with eta_t = C / (mu (t + gamma))",
    "hitting": "E[tau] <= expected_iterations; P(tau > iterations_at_confidence) <= delta",
    "scope": "stopped at tau = min{t: e_t < epsilon}; nothing is promised after tau",
}


def quotient(alone: float | None, together: float | None) -> float | None:
    """Alone over together; 1 where neither takes a step, None where only together takes none."""
    if alone is None or together is None or (together == 0 and alone > 0):
        return None
    return 1.0 if together == 0 else alone / together


def unguaranteed_rows(names: Sequence[str], precision: Precision, reason: str) -> list[Row]:
    """Rows of clients whose constants are not known: similarities and variances are nan, nothing is guaranteed."""
    n, rows = len(names), []
    for i, (name, epsilon) in enumerate(zip(names, precision.levels(n).tolist())):
        own = np.eye(n)[i]
        rows.append(
            Row(
                client=i,
                name=name,
                epsilon=epsilon,
                epsilon_given=precision.given,
                criterion=Binary(threshold=0.5),
                similarity=np.where(own, 1.0, np.nan),
                weights=own,
                cluster=(i,),
                names=tuple(names),
                sufficient_variance=np.nan,
                definition_2_variance=np.nan,
                local_variance=np.nan,
                step_ratio=np.nan,
                step_limit=None,
                schedules=None,
                local=None,
                continuous={},
                notes=(),
                warnings=(),
                refusal=reason,
            )
        )
    return rows
