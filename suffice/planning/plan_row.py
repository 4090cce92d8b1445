"""The plan of one client at one precision, and what it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from suffice.bounds.criteria import Binary, Criterion
from suffice.support.numbers import plain
from suffice.support.text import printable

from .number import Kind
from .precision import Precision
from .schedules import Schedules

SHOWN = 6
"""Collaborators that the short text of a row names."""


@dataclass(frozen=True, kw_only=True)
class SufficientCluster:
    """Whom a client may follow at one precision, by its constants alone.

    similarity           (N,) guaranteed before the precision is reached, rho_ik
    weights              (N,) of Definition 1 at these similarities: each path has its own, from the similarities along
                         it. A plan's rows make the network's collaboration matrix
    cluster              peers of positive weight there, the client itself included
    sufficient_variance  what the schedules use [(loss / theta)^2], as the two variances after it: Definition 2's own
                         value and the client's alone
    step_limit           step_ratio / beta [theta^2 / loss]
    continuous           variance, step ratio, step and expected iterations that continuous weights would give
    """

    criterion: Criterion
    similarity: np.ndarray
    weights: np.ndarray
    cluster: tuple[int, ...]
    sufficient_variance: float
    definition_2_variance: float
    local_variance: float
    step_ratio: float
    step_limit: float | None
    continuous: dict[str, float | None]


def _plan(kind: Kind, side: int) -> Any:
    return property(lambda row: row.plans.get(kind, (None, None))[side])


@dataclass(frozen=True, kw_only=True)
class Row:
    """The plan of one client at one precision.

    names          of all N clients
    epsilon        precision [loss]; epsilon_given  as it was given, "10%", say; epsilon_of  of what: the excess of the
                   "start", of the best "constant" or the "base rate"; the "noise" of rows; or "loss", a number
    plain          the exact plan alone with plain gradients, where plans multiply them by matrices; of many clients
                   some have it
    sufficient     the cluster, with its variances and its step limit
    plans          of each kind with peers and alone. guaranteed: `schedules` and `local`, of theorems; exact: `exact`
                   and `exact_local`, where there are second moments; measured: `measured` and `measured_local`, of
                   logistic losses, with times from simulation. Each has a step `eta` and a `time`, a `Number`
    refusal        why the schedules do not hold here: there are none, or estimates where there is no exact plan
    """

    client: int
    name: str
    names: tuple[str, ...]
    epsilon: float
    epsilon_given: str = ""
    epsilon_of: str = "loss"
    sufficient: SufficientCluster
    plans: Mapping[Kind, tuple[Any, Any]] = field(default_factory=dict)
    plain: Any = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    refusal: str = ""

    schedules, local = _plan("guaranteed", 0), _plan("guaranteed", 1)
    exact, exact_local = _plan("exact", 0), _plan("exact", 1)
    measured, measured_local = _plan("measured", 0), _plan("measured", 1)

    def planned(self, kind: Kind, together: Any, alone: Any) -> Row:
        """The row with plans of one more kind."""
        return replace(self, plans={**self.plans, kind: (together, alone)})

    @property
    def followed(self) -> np.ndarray:
        """The weights of the guaranteed plan: fixed ones, or those of Definition 1 at the guaranteed similarities."""
        fixed = None if self.schedules is None else self.schedules.fixed
        return self.sufficient.weights if fixed is None else fixed["weights"]

    def peers(self, kind: Kind) -> tuple[str, ...]:
        """Names of those that the plan with peers of a kind follows, the client itself left out."""
        if kind == "guaranteed" and self.followed is self.sufficient.weights:
            members = self.sufficient.cluster
        else:
            weights = self.followed if kind == "guaranteed" else self.plans[kind][0].weights
            members = np.flatnonzero(weights).tolist()
        return tuple(self.names[k] for k in members if k != self.client)

    @property
    def collaborators(self) -> tuple[str, ...]:
        """Names of the peers to follow: by the exact plan where there is one, else those of the sufficient cluster."""
        return self.peers("guaranteed" if self.exact is None else "exact")

    def gain(self, kind: Kind) -> float | None:
        """Alone over together of the times of a kind."""
        together, alone = self.plans.get(kind, (None, None))
        return None if together is None else quotient(alone.time.value, together.time.value)

    guaranteed_speedup = property(lambda row: row.gain("guaranteed"))
    exact_speedup = property(lambda row: row.gain("exact"))
    measured_speedup = property(lambda row: row.gain("measured"))

    @property
    def speedup(self) -> float | None:
        """Of the guaranteed times, or of the exact ones where nothing is guaranteed."""
        return self.exact_speedup if self.schedules is None else self.guaranteed_speedup

    @property
    def recommended_speedup(self) -> float | None:
        """Of the exact times, or of the guaranteed ones where nothing is exact."""
        return self.guaranteed_speedup if self.exact is None else self.exact_speedup

    def times(self) -> tuple[str, float | None, float | None, float | None]:
        """What the plan recommends: a sign ("" exact, "<= " guaranteed), step, iterations alone and together."""
        both = self.plans.get("exact") or self.plans.get("guaranteed")
        if both is None:
            return "", None, None, None
        together, alone = both
        sign = "<= " if together.time.kind == "guaranteed" else ""
        return sign, together.eta, alone.time.value, together.time.value

    def __repr__(self) -> str:
        peers = ", ".join(self.collaborators[:SHOWN]) + (", ..." if len(self.collaborators) > SHOWN else "")
        sign, eta, alone, together = self.times()
        known = together is not None and alone is not None
        times = f"together {sign}{together:.4g}, alone {sign}{alone:.4g}" if known else "iterations unknown"
        ratio = self.recommended_speedup
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
                "Criterion": text(repr(self.sufficient.criterion)),
                "Step": number(eta),
                "Iterations alone, together": f"{'at most ' if sign else ''}{number(alone)}, {number(together)}",
                "Speed-up": number(self.recommended_speedup, 3),
                "Warnings": "<br>".join(text(warning) for warning in self.warnings),
            }
        )

    def _shown(self, plan: Any, speedup: float | None) -> dict[str, Any] | None:
        return None if plan is None else plan.to_dict(self.name, self.names) | {"speedup": speedup}

    def to_dict(self) -> dict[str, Any]:
        """The row of `suffice plan --json`."""
        rule = self.sufficient.criterion
        answer = {
            "client": self.client,
            "name": self.name,
            "epsilon": self.epsilon,
            "epsilon_given": self.epsilon_given or f"{self.epsilon:.12g}",
            "epsilon_of": self.epsilon_of,
            **vars(self.sufficient),
            "criterion": {"kind": rule.kind, "threshold": getattr(rule, "threshold", None)},
            "schedules": None if self.schedules is None else self.schedules._asdict(),
            "local": (dict.fromkeys(Schedules._fields) if self.local is None else self.local._asdict())
            | {
                "exact": None if self.exact_local is None else self.exact_local.to_dict(self.name, self.names),
                "measured": None if self.measured_local is None else self.measured_local.to_dict(self.name, self.names),
                "plain": None if self.plain is None else {"iterations": self.plain.iterations, "eta": self.plain.eta},
            },
            "exact": self._shown(self.exact, self.exact_speedup),
            "measured": self._shown(self.measured, self.measured_speedup),
            "guaranteed": {"holds": not self.refusal, "reason": self.refusal},
            "speedup": self.speedup,
            "labels": LABELS,
            "warnings": self.warnings,
        }
        return plain(answer)


class Rows(tuple[Row, ...]):
    """The rows of one client, one per precision, in the order in which the precisions were given."""

    def __getattr__(self, name: str) -> Any:
        # an AttributeError, not an InputError: hasattr must go on working
        if name.startswith("__") or (not hasattr(Row, name) and name not in Row.__dataclass_fields__):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        who, count = self[0].name, len(self)
        raise AttributeError(
            f"the plan has {count} precisions, so plan[{who!r}] has {count} rows: choose one, "
            f"as plan[{who!r}][0].{name}, or go through them"
        )


LABELS = {
    "constant": "E[e_T 1{tau >= T}] <= bound at eta = step limit",
    "horizon": "E[e_T 1{tau >= T}] <= bound at the step chosen for the horizon",
    "decreasing": "E[e_T 1{tau >= T}] <= bound with eta_t = C / (mu (t + gamma))",
    "hitting": "E[tau] <= expected_iterations; P(tau > iterations_at_confidence) <= delta",
    "fixed_weights": "what its `promise` says, at T = rounds, not stopped",
    "scope": "stopped at tau = min{t: e_t < epsilon}; nothing is promised after tau",
}


def quotient(alone: float | None, together: float | None) -> float | None:
    """Alone over together; 1 where neither takes a step, None where only together takes none."""
    if alone is None or together is None or (together == 0 and alone > 0):
        return None
    return 1.0 if together == 0 else alone / together


def unguaranteed_rows(names: Sequence[str], precision: Precision, reason: str) -> list[Row]:
    """Rows of clients whose constants are not known: similarities and variances are nan, nothing is guaranteed."""
    n = len(names)
    alone = np.eye(n)  # once: each row keeps a view of all of it
    return [
        Row(
            client=i,
            name=name,
            names=tuple(names),
            epsilon=epsilon,
            epsilon_given=precision.given,
            sufficient=SufficientCluster(
                criterion=Binary(threshold=0.5),
                similarity=np.where(alone[i], 1.0, np.nan),
                weights=alone[i],
                cluster=(i,),
                sufficient_variance=np.nan,
                definition_2_variance=np.nan,
                local_variance=np.nan,
                step_ratio=np.nan,
                step_limit=None,
                continuous={},
            ),
            refusal=reason,
        )
        for i, (name, epsilon) in enumerate(zip(names, precision.levels(n).tolist()))
    ]
