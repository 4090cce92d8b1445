"""A claim ties one edition of a theorem to the instances and engines that could refute it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Self

import numpy as np

from suffice.bounds import Theorem, find

from .evidence import AGREEMENT, CLEAR, Evidence, joined
from .evidence_summary import EvidenceSummary
from .family import Family
from .identities import identities
from .mutants import Mutant, mutants, numeric_mutants, readable
from .readable_bound import opaque
from .regime import Sharpness, where_attained
from .verdict import Outcome, Variants, Verdict
from .violation_search import search
from .widened_conditions import FURTHEST, violates_beyond, widened


@dataclass(frozen=True)
class Effort:
    """How much a check may spend.

    Instances; restarts and ascents of the search; `corners` are further instances many of whose parameters are at an
    end of their interval or alike.
    """

    instances: int
    restarts: int
    ascents: int
    corners: int = 0


EFFORTS = {
    "quick": Effort(instances=24, restarts=2, ascents=2),
    "full": Effort(instances=400, restarts=8, ascents=20),
}


@dataclass(frozen=True, kw_only=True)
class Claim:
    """Everything that could refute `theorem`.

    `families` are drawn from, searched, and asked for their sharp instances; `exact(effort, root)` gives further
    evidence; the proof steps of `verification.identities` are certified.
    `equality` asks that the bound is attained: every ratio is at least 1 - equality. `outside_conditions`
    gives, for a condition, evidence that breaks it alone: it counts, and violates, as soon as the condition admits it;
    `unrefuted_conditions` says of any other condition why no such instance is known at most `FURTHEST` times beyond it,
    but of those that hold of every instance there is.
    `true_variants` names the mutants, by their ids, that are true as well, with the proof, and are not tried. With
    `until_refuted` nothing more is tried once an instance clearly violates.
    """

    theorem: Theorem
    families: Sequence[Family] = ()
    exact: Callable[[Effort, int], list[Evidence]] | None = None
    equality: float | None = None
    outside_conditions: Mapping[str, Callable[[], Evidence]] = field(default_factory=dict)
    unrefuted_conditions: Mapping[str, str] = field(default_factory=dict)
    true_variants: Mapping[str, str] = field(default_factory=dict)
    until_refuted: bool = False
    extends: str = ""
    """Key of the claim whose instances this one measures as well: one process checks both, and measures them once."""
    in_regime: Sequence[Family] | None = ()
    """Further families that `sharpness` asks: those of the claim do not reach the regime. None: long paths of its
    instances take too long, and nothing is asked."""
    progress: Callable[[int, int], None] | None = None
    """Told before each family how many are done, of how many."""
    further: Callable[[Sequence[Evidence], int], Iterator[Evidence]] | None = None
    """Further evidence, which depends on what all the rest gave, and on the root."""

    @classmethod
    def on(cls, key: str, *families: Family, edition: str = "corrected", **more: Any) -> Self:
        """The claim on the record of a key; `more` are the other fields."""
        return cls(theorem=find(key, edition), families=families, **more)

    def verify(self, *, effort: str | Effort = "quick", root: int = 0) -> Verdict:
        """Run every engine, then try to tell the bound from its mutants."""
        began = time.perf_counter()
        theorem, spend = self.theorem, effort if isinstance(effort, Effort) else EFFORTS[effort]
        evidence = self.explored(spend, root)
        engines = list(dict.fromkeys(piece.engine for piece in evidence))
        outside = {name: make() for name, make in self.outside_conditions.items()}
        evidence += outside.values()
        steps = identities(theorem.key) if theorem.guarantee else []
        whole = joined(evidence, theorem)
        seen = EvidenceSummary.from_evidence(evidence, whole, theorem, equality=self.equality)
        if steps:
            engines.insert(0, f"{len(steps)} proof step{'s' if len(steps) > 1 else ''}")
        refused = {step.says: step.step().refusal() for step in steps}
        uncertified = tuple(f"proof step not certified: {says}: {why}" for says, why in refused.items() if why)
        # none is tried where the bound is violated
        count, left = (0, []) if seen.violations else self._mutants(whole, seen.worst_ratio)
        standing = tuple(mutant.change for mutant in left)
        necessity = {
            name: violates_beyond(theorem, widened(theorem, name, FURTHEST), piece) for name, piece in outside.items()
        }
        return Verdict(
            theorem=theorem,
            outcome=_outcome(seen, (*uncertified, *standing)),
            engine=" + ".join(engines),
            evidence=seen,
            variants=Variants(
                mutants=count,
                standing=standing,
                faults=uncertified,
                opaque=opaque(theorem.bound),
                necessity=necessity,
            ),
            sharpness=Sharpness(attained=where_attained(theorem, whole)),
            seconds=time.perf_counter() - began,
        )

    def explored(self, spend: Effort, root: int) -> list[Evidence]:
        """Measure what `exact` gives, and sharp, drawn and searched instances of every family, or all of few."""
        evidence = list[Evidence]()
        further = iter(()) if self.further is None else self.further(evidence, root)
        for piece in chain(self._pieces(spend, root), further):
            evidence.append(piece)
            if self.until_refuted and self._refutes(piece):
                break
        return evidence

    def _pieces(self, spend: Effort, root: int) -> Iterator[Evidence]:
        yield from [] if self.exact is None else self.exact(spend, root)
        for done, family in enumerate(self.families):
            if self.progress is not None:
                self.progress(done, len(self.families))
            if family.sharp is not None:
                yield family.evidence(family.sharp())
            amounts = {"draws": spend.instances, "corners": spend.corners}
            amounts |= {"restarts": spend.restarts, "ascents": spend.ascents}
            yield from search(self.theorem, family, **amounts, root=root + 1)

    def _refutes(self, piece: Evidence) -> bool:
        """Return True if an instance violates by more than rounding could."""
        bound = piece.bound(self.theorem)
        ratio = piece.against(bound, self.theorem.direction)
        return bool((piece.counted(self.theorem) & piece.exact & ~np.isnan(bound) & (ratio > 1 + CLEAR)).any())

    def _mutants(self, whole: Evidence, worst_ratio: float) -> tuple[int, list[Mutant]]:
        """Count the mutants tried and list those that nothing refutes; one that is nowhere stronger is not tried."""
        theorem = self.theorem
        unread = opaque(theorem.bound)
        same = theorem.bound if unread else readable(theorem).value
        made = (numeric_mutants if unread else mutants)(theorem, worst_ratio=worst_ratio)
        if self.true_variants:
            made = [mutant for mutant in made if mutant.id not in self.true_variants]
        own = whole.bound(theorem, same)
        held = np.flatnonzero(whole.counted(theorem) & (whole.against(own, theorem.direction) <= 1 + AGREEMENT / 2))
        piece, bound, count, left = whole.rows(held), own[held], 0, list[Mutant]()
        for mutant in made:
            variant = piece.bound(theorem, mutant.value)
            with np.errstate(all="ignore"):
                gain = bound - variant if theorem.direction == "upper" else variant - bound
            if (gain > AGREEMENT * np.abs(bound)).any():
                count += 1
                if not (piece.against(variant, theorem.direction) > 1 + AGREEMENT / 2).any():
                    left.append(mutant)
        return count, left


def _outcome(seen: EvidenceSummary, survivors: Sequence[str]) -> Outcome:
    if seen.instances == 0:
        return Outcome.VACUOUS
    if seen.violations:
        return Outcome.VIOLATED
    if seen.dropped_ratio > 1 + CLEAR:
        return Outcome.INCONCLUSIVE
    return Outcome.WEAK if survivors else Outcome.HOLDS
