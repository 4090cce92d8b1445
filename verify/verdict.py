"""What a check concluded, with what it rests on."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from bounds import Theorem

POINTS = 200
"""Instances that a verdict keeps for pictures, evenly spread over those that counted, the worst among them."""


class Outcome(Enum):
    """Never a bare yes: `WEAK` is a bound that holds beside a wrong variant that the check could not refute."""

    HOLDS = "holds"
    WEAK = "weak"
    VIOLATED = "violated"
    VACUOUS = "vacuous"
    INCONCLUSIVE = "inconclusive"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The outcome of one claim.

    instances counts those that met the hypotheses. worst_ratio is the largest measured/bound (bound/measured for
    lower bounds) of the exact engines, at worst_instance. error_probability bounds the chance that
    sampling alone produced a violation (0 when nothing was sampled). survivors names the mutants left standing.
    points are (bound, measured) of up to `POINTS` instances, for pictures.
    counterexample is the violation shrunk to a simple instance, at 50 digits, where the claim can shrink.
    """

    theorem: Theorem
    engine: str
    outcome: Outcome
    instances: int
    worst_ratio: float
    worst_instance: dict[str, Any]
    error_probability: float
    mutants: int
    survivors: tuple[str, ...]
    seconds: float
    necessity: dict[str, bool] = field(default_factory=dict)
    counterexample: dict[str, Any] | None = None
    points: tuple[tuple[float, float], ...] = ()

    @property
    def holds(self) -> bool:
        return self.outcome is Outcome.HOLDS

    @property
    def instance(self) -> dict[str, Any]:
        """The instance of the worst ratio."""
        return self.worst_instance

    @property
    def expected(self) -> bool:
        """A corrected statement holds; a printed one with a fault is violated or vacuous."""
        wanted = (Outcome.HOLDS,) if self.theorem.guarantee else (Outcome.VIOLATED, Outcome.VACUOUS)
        return self.outcome in wanted

    def __str__(self) -> str:
        refuted = self.mutants - len(self.survivors)
        if not self.instances:
            return f"{self.outcome.value}: no instance meets the hypotheses"
        text = f"{self.outcome.value} on {self.instances:,} instances, worst ratio {self.worst_ratio:.4g}"
        if self.mutants:
            text += f", {refuted} of {self.mutants} mutants refuted"
        if self.survivors:
            text += f" (surviving: {'; '.join(self.survivors)})"
        return text

    def to_dict(self) -> dict[str, Any]:
        """The row of `suffice verify --json`."""
        return {
            "key": self.theorem.key,
            "edition": self.theorem.edition,
            "engine": self.engine,
            "verdict": self.outcome.value,
            "instances": self.instances,
            "worst_ratio": self.worst_ratio,
            "worst_instance": self.worst_instance,
            "error_probability": self.error_probability,
            "refuted_mutants": self.mutants - len(self.survivors),
            "mutants": self.mutants,
            "survivors": list(self.survivors),
            "conditions_shown_necessary": self.necessity,
            "seconds": self.seconds,
            "statement": self.theorem.statement,
        }
