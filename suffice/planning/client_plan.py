"""The plan of one client at one precision, and what it shows; it is found by `exact.weights`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from suffice.bounds.collaboration_criteria import Criterion
from suffice.support.errors import InputError
from suffice.support.numbers import plain
from suffice.support.text import printable

from .constant_plan import ConstantPlan
from .step_size_schedules import Schedules

SHOWN = 6
"""Collaborators that the short text of a row names."""
Kind = Literal["measured", "exact", "guaranteed"]
"""Times that are means over simulated paths; means from second moments; upper bounds that a theorem proves."""
KINDS: dict[Kind, tuple[str, str]] = {
    "exact": ("exact", "exact_local"),
    "measured": ("measured", "measured_local"),
    "guaranteed": ("schedules", "local"),
}
"""The fields of a row that hold the plans of a kind, with peers and alone; the best known kind first."""


CLUSTER = (
    "criterion", "similarity", "weights", "cluster", "sufficient_variance", "definition_2_variance", "local_variance",
    "step_ratio", "step_limit",
)  # fmt: skip
"""The fields of a row that its client's constants alone determine."""


@dataclass(frozen=True, kw_only=True)
class ClientPlan:
    """The plan of one client at one precision. Plans that there are not are None.

    names       of all N clients
    epsilon     precision [loss]; epsilon_given  as it was given, "10%", say; epsilon_of  of what: the excess of the
                "start", of the best "constant" or the "base rate"; the "noise" of rows; or "loss", a number

    Whom the client may follow, by its constants alone:

    criterion            that weighs peers
    similarity           (N,) guaranteed before the precision is reached, rho_ik
    weights              (N,) of Definition 1 at these similarities: each path has its own, from the similarities along
                         it. A plan's rows make the network's collaboration matrix
    cluster              peers of positive weight there, the client itself included
    sufficient_variance  what the schedules use [(loss / theta)^2], as the two variances after it: Definition 2's own
                         value and the client's alone
    step_limit           step_ratio / beta [theta^2 / loss]

    What it should do:

    schedules, local           `Schedules` of theorems, with peers and alone
    exact, exact_local         `ConstantPlan`, where there are second moments
    measured, measured_local   the same of logistic losses, with times from simulation
    Each plan has a step `eta` and `iterations`

    refusal     why the schedules do not hold here: there are none, or estimates where there is no exact plan
    """

    client: int
    name: str
    names: tuple[str, ...]
    epsilon: float
    epsilon_given: str
    epsilon_of: str
    criterion: Criterion
    similarity: np.ndarray
    weights: np.ndarray
    cluster: tuple[int, ...]
    sufficient_variance: float
    definition_2_variance: float
    local_variance: float
    step_ratio: float
    step_limit: float | None
    schedules: Any = None
    local: Any = None
    exact: Any = None
    exact_local: Any = None
    measured: Any = None
    measured_local: Any = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    refusal: str = ""

    def both(self, kind: Kind) -> tuple[Any, Any]:
        """The plans of a kind, with peers and alone."""
        together, alone = KINDS[kind]
        return getattr(self, together), getattr(self, alone)

    def constant(self) -> tuple[Any, Any]:
        """The plans of constant rates that are to be followed: measured ones, or exact ones."""
        return self.both("exact" if self.measured is None else "measured")

    @property
    def starts_there(self) -> bool:
        """Whether the start is at the precision already, so that the plan takes no step."""
        plan, _ = self.constant()
        return plan is not None and plan.iterations == 0

    def to_follow(self) -> ConstantPlan:
        """The plan of constant rates, with peers. `InputError` where there is none that arrives."""
        plan, _ = self.constant()
        if plan is None:
            why = self.refusal if self.schedules is None else "there are only guarantees of the papers' schedules"
            raise InputError("federated", self.name, f"no plan with weights and a step to follow: {why}")
        if plan.iterations is None:
            raise InputError("federated", self.name, f"its plan does not arrive: {plan.note}; take a larger epsilon")
        return plan

    @property
    def followed(self) -> np.ndarray:
        """The weights of the guaranteed plan: fixed ones, or those of Definition 1 at the guaranteed similarities."""
        fixed = None if self.schedules is None else self.schedules.fixed
        return self.weights if fixed is None else fixed["weights"]

    def peers(self, kind: Kind) -> tuple[str, ...]:
        """Names of those that the plan with peers of a kind follows, the client itself left out."""
        if kind == "guaranteed" and self.followed is self.weights:
            members: Sequence[int] = self.cluster
        else:
            weights = self.followed if kind == "guaranteed" else self.both(kind)[0].weights
            members = np.flatnonzero(weights).tolist()
        return tuple(self.names[k] for k in members if k != self.client)

    def gain(self, kind: Kind) -> float | None:
        """The time alone over the time together, of the plans of a kind; None where there is no such ratio."""
        together, alone = self.both(kind)
        return None if together is None else quotient(alone.iterations, together.iterations)

    exact_speedup = property(lambda row: row.gain("exact"))

    @property
    def recommended(self) -> Kind:
        """The plan to follow: the exact one, where there is one."""
        return "guaranteed" if self.exact is None else "exact"

    collaborators = property(lambda row: row.peers(row.recommended))

    @property
    def speedup(self) -> float | None:
        """The time alone over the time together: of guaranteed plans, or of exact ones where nothing is guaranteed."""
        return self.gain("exact" if self.schedules is None else "guaranteed")

    def __repr__(self) -> str:
        peers = ", ".join(self.collaborators[:SHOWN]) + ", ..." * (len(self.collaborators) > SHOWN)
        sign, (together, alone), times = "" if self.exact else "<= ", self.both(self.recommended), "iterations unknown"
        if together is not None and None not in (together.iterations, alone.iterations):
            times = f"together {sign}{together.iterations:.4g}, alone {sign}{alone.iterations:.4g}"
        ratio = self.gain(self.recommended)
        gain = "" if ratio is None else f", speed-up {ratio:.3g}"
        step = "no step" if together is None else f"step {together.eta:.3g}"
        told = f"with {peers or 'nobody'}; {step}, {times}{gain}"
        return printable(f"ClientPlan({self.name} at {self.epsilon:.6g}: {told})")

    def to_dict(self) -> dict[str, Any]:
        """The row of `suffice plan --json`."""
        rule, local = self.criterion, self.local
        exact, exact_local, measured, measured_local = (
            plan and plan.to_dict(self.name, self.names) for kind in ("exact", "measured") for plan in self.both(kind)
        )
        answer = {name: getattr(self, name) for name in ("client", "name", "epsilon", "epsilon_given", "epsilon_of")}
        answer |= {name: getattr(self, name) for name in CLUSTER} | {
            "criterion": {"kind": rule.kind, "threshold": getattr(rule, "threshold", None)},
            "schedules": None if self.schedules is None else self.schedules._asdict(),
            "local": (dict.fromkeys(Schedules._fields) if local is None else local._asdict())
            | {"exact": exact_local, "measured": measured_local},
            "exact": exact and exact | {"speedup": self.exact_speedup},
            "measured": measured and measured | {"speedup": self.gain("measured")},
            "guaranteed": {"holds": not self.refusal, "reason": self.refusal},
            "speedup": self.speedup,
            "labels": LABELS,
            "warnings": self.warnings,
        }
        return plain(answer)


LABELS = {
    "constant": "E[e_T 1{tau >= T}] <= bound at eta = step limit",
    "horizon": "E[e_T 1{tau >= T}] <= bound at the step chosen for the horizon",
    "decreasing": "E[e_T 1{tau >= T}] <= bound with eta_t = C / (mu (t + gamma))",
    "hitting": "E[tau] <= expected_iterations; P(tau > iterations_at_confidence) <= delta",
    "fixed_weights": "what its `promise` says, at T = rounds, not stopped",
    "scope": "stopped at tau = min{t: e_t < epsilon}; nothing is promised after tau",
}


def quotient(alone: float | None, together: float | None) -> float | None:
    """Alone over together; 1 where neither takes a step, None where only together takes none or one is unknown."""
    if alone is None or together is None or (together == 0 and alone > 0):
        return None
    return 1.0 if together == 0 else alone / together
