"""Findings of a check: about the instances, and about wrong variants of the bound."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Self

from suffice.bounds import Theorem

from .evidence_summary import EvidenceSummary
from .regime import Sharpness


class Outcome(Enum):
    """`HOLDS` is never a bare yes: wrong variants of the bound were refuted. `VALID` (of somebody's own bound) and
    `WEAK` (of a claim of this project): nothing refutes the bound, and nothing refutes some wrong variant of it."""

    HOLDS = "holds"
    VALID = "valid"
    WEAK = "weak"
    VIOLATED = "violated"
    VACUOUS = "vacuous"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, kw_only=True)
class Variants:
    """Wrong variants of a bound and of its conditions, which some instance should refute.

    mutants    how many were tried
    standing   those that no instance refutes
    faults     what else speaks against the check: two routes that differ, proof steps that are not certified
    opaque     why no formula could be read from the bound: its mutants then change keywords, not terms
    necessity  of each condition, whether an instance that breaks it alone violates the bound
    """

    mutants: int = 0
    standing: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    opaque: str = ""
    necessity: dict[str, bool] = field(default_factory=dict)

    @property
    def survivors(self) -> tuple[str, ...]:
        """The faults of the check and the wrong variants that it left standing."""
        return (*self.faults, *self.standing)

    @property
    def refuted(self) -> int:
        return self.mutants - len(self.standing)


@dataclass(frozen=True, kw_only=True)
class Findings:
    """The outcome of one claim, with what it rests on.

    evidence           what came of the instances, variants  of the wrong variants of the bound; some of their
                       attributes are the verdict's, too
    counterexample     the violation shrunk to a simple instance, where the claim can shrink: its arguments, `bound` and
                       `measured` as mpmath numbers that are good to `digits` significant digits, 50, 15 or fewer
    error_probability  bounds the chance that sampling alone produced a violation (0 when nothing was sampled)
    tried, not_tried   of a bound of one's own, the ranges that were tried and what was not, in words
    constant           of `check(free=)`, the least that was needed
    reason             why nothing could be concluded
    proof              what `check(..., prove=True)` proved or refuted exactly; None where nobody asked
    sharpness          where alone the worst ratio is reached; of a corrected record at full effort, the ratio in the
                       regime
    """

    theorem: Theorem
    outcome: Outcome
    engine: str = "none"
    evidence: EvidenceSummary = field(default_factory=EvidenceSummary)
    variants: Variants = field(default_factory=Variants)
    counterexample: dict[str, Any] | None = None
    error_probability: float = 0.0
    seconds: float = 0.0
    tried: str = ""
    not_tried: str = ""
    constant: float | None = None
    reason: str = ""
    proof: Any = None
    sharpness: Sharpness = field(default_factory=Sharpness)

    examined = property(lambda verdict: verdict.evidence.examined)
    met = property(lambda verdict: verdict.evidence.met)
    instances = property(lambda verdict: verdict.evidence.instances)
    violations = property(lambda verdict: verdict.evidence.violations)
    worst_ratio = property(lambda verdict: verdict.evidence.worst_ratio)
    ranges = property(lambda verdict: verdict.evidence.ranges)
    points = property(lambda verdict: verdict.evidence.points)
    dropped = property(lambda verdict: verdict.evidence.dropped)
    mutants = property(lambda verdict: verdict.variants.mutants)
    refuted = property(lambda verdict: verdict.variants.refuted)
    survivors = property(lambda verdict: verdict.variants.survivors)
    necessity = property(lambda verdict: verdict.variants.necessity)

    @classmethod
    def inconclusive(cls, theorem: Theorem, reason: str) -> Self:
        """Nothing can be concluded, for a reason."""
        return cls(theorem=theorem, outcome=Outcome.INCONCLUSIVE, reason=reason)

    @property
    def holds(self) -> bool:
        """Nothing refutes the bound, and every wrong variant of it is refuted."""
        return self.outcome is Outcome.HOLDS

    @property
    def valid(self) -> bool:
        """Nothing refutes the bound on what was tried: see `tried` and `not_tried`."""
        return self.outcome in (Outcome.HOLDS, Outcome.VALID, Outcome.WEAK)

    @property
    def expected(self) -> bool:
        """A corrected statement, or a printed one that its record calls true, holds; any other printed one is violated
        or vacuous."""
        if self.theorem.guarantee or self.theorem.true_as_printed:
            return self.holds
        return self.outcome in (Outcome.VIOLATED, Outcome.VACUOUS)

    def to_dict(self) -> dict[str, Any]:
        """The row of `suffice verify --json`."""
        return {
            "key": self.theorem.key,
            "edition": self.theorem.edition,
            "engine": self.engine,
            "verdict": self.outcome.value,
            "instances": self.instances,
            "dropped": self.dropped,
            "worst_ratio": self.worst_ratio,
            "worst_instance": self.evidence.worst_instance,
            "attained": list(self.sharpness.attained),
            "regime": self.sharpness.to_dict(),
            "error_probability": self.error_probability,
            "refuted_mutants": self.refuted,
            "mutants": self.mutants,
            "survivors": list(self.survivors),
            "conditions_shown_necessary": self.necessity,
            "seconds": self.seconds,
            "statement": self.theorem.statement,
        }
