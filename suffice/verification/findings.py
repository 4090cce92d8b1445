"""What a check found: of the instances, and of wrong variants of the bound."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Self

from suffice.bounds import Theorem

from .evidence_summary import EvidenceSummary
from .regime import Sharpness

VISIBLE = 0.01
"""A variant counts at an instance where it is stronger than the bound by this share or more."""


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
class Weakness:
    """Why no instance known tells some wrong variants from a bound; a claim states it beforehand.

    `survivors` are the ids that `verify.mutants` gives those variants. `reason` says what the bound gives away.
    """

    reason: str
    survivors: tuple[str, ...]

    def covers(self, survivors: tuple[str, ...]) -> bool:
        """Whether every survivor was foreseen."""
        return set(survivors) <= set(self.survivors)


@dataclass(frozen=True, kw_only=True)
class Variants:
    """Wrong variants of a bound and of its conditions, which some instance should refute.

    mutants          how many were tried
    survivors        what speaks against the check: two routes that differ, proof steps that are not certified, and the
                     mutants left standing
    survivor_ratios  of each of these mutants the largest measured/bound where it is stronger by `VISIBLE` or more: how
                     nearly the bound is attained where the changed part counts
    weakness         the claim's own account of the survivors, where it foresaw them all
    opaque           why no formula could be read from the bound: its mutants then change keywords, not terms
    necessity        of each condition, whether an instance that breaks it alone violates the bound
    """

    mutants: int = 0
    survivors: tuple[str, ...] = ()
    survivor_ratios: tuple[float, ...] = ()
    weakness: Weakness | None = None
    opaque: str = ""
    necessity: dict[str, bool] = field(default_factory=dict)

    @property
    def standing(self) -> tuple[str, ...]:
        """The survivors that are mutants."""
        return self.survivors[len(self.faults) :]

    @property
    def faults(self) -> tuple[str, ...]:
        """The others, which are listed first: what is wrong with the check."""
        return self.survivors[: max(len(self.survivors) - len(self.survivor_ratios), 0)]

    @property
    def refuted(self) -> int:
        """How many of the `mutants` are refuted: all but those with a survivor ratio."""
        return self.mutants - len(self.survivor_ratios)


@dataclass(frozen=True, kw_only=True)
class Extent:
    """Of a bound of one's own, the ranges that were `tried` and what was `not_tried`, in words; a least `constant`."""

    tried: str = ""
    not_tried: str = ""
    constant: float | None = None


@dataclass(frozen=True, kw_only=True)
class Findings:
    """The outcome of one claim, with what it rests on.

    evidence           what came of the instances, variants  of the wrong variants of the bound; some of their
                       attributes are the verdict's, too
    counterexample     the violation shrunk to a simple instance, where the claim can shrink: its arguments, `bound` and
                       `measured` as mpmath numbers that are good to `digits` significant digits, 50 or 15
    error_probability  bounds the chance that sampling alone produced a violation (0 when nothing was sampled)
    extent             of a bound of one's own, what was tried and what was not
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
    extent: Extent = field(default_factory=Extent)
    reason: str = ""
    proof: Any = None
    sharpness: Sharpness = field(default_factory=Sharpness)

    tried = property(lambda verdict: verdict.extent.tried)
    not_tried = property(lambda verdict: verdict.extent.not_tried)
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
    def weak(self) -> str:
        """Why the survivors of a weak verdict survive, or "" where one of them was not foreseen."""
        weakness = self.variants.weakness
        return weakness.reason if self.outcome is Outcome.WEAK and weakness is not None else ""

    @property
    def expected(self) -> bool:
        """A corrected statement, or a printed one that its record calls true, holds, or is weak as its claim says; any
        other printed one is violated or vacuous."""
        if self.theorem.guarantee or self.theorem.true_as_printed:
            return self.outcome is Outcome.HOLDS or self.weak != ""
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
            "survivor_ratios": list(self.variants.survivor_ratios),
            "weak": self.weak,
            "conditions_shown_necessary": self.necessity,
            "seconds": self.seconds,
            "statement": self.theorem.statement,
        }
