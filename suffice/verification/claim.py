"""A claim ties one edition of a theorem to the instances and engines that could refute it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from suffice.bounds import PARAMETERS, Theorem, find

from .evidence import AGREEMENT, CLEAR, Evidence, joined
from .family import Family
from .identities import identities
from .mutants import Mutant, mutants, numeric_mutants, readable
from .sampled import SampledResult
from .search import search
from .verdict import POINTS, VISIBLE, Outcome, Verdict, Weakness
from .widened_conditions import FURTHEST, IMPLIED, violates_beyond, widened

FALSE_ALARMS = 1e-6
"""Probability that a whole run of `verify` reports a violation by chance; split evenly over its sampled claims."""

_NEAREST = 64
"""Instances of the largest ratios at which a mutant is tried first."""


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How much a check may spend.

    Instances of the exact engines; restarts and ascents of the search; networks, seeds, iterations of the sampled one;
    `corners` are further instances many of whose parameters are at an end of their interval or alike.
    """

    instances: int
    restarts: int
    ascents: int
    networks: int
    seeds: int
    iterations: int
    corners: int = 0


EFFORTS = {
    "quick": Effort(instances=24, restarts=2, ascents=2, networks=2, seeds=1024, iterations=25),
    "full": Effort(instances=400, restarts=8, ascents=20, networks=12, seeds=8192, iterations=60),
}


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What could refute `theorem`.

    `families` are drawn from, searched, and asked for their sharp instances; `exact(effort, root)` gives further
    evidence; `sampled(effort, root, alpha)` tests by simulation; the proof steps of `verify.identities` are certified.
    `equality` asks that the bound is attained: every ratio is at least 1 - equality. `outside_conditions`
    gives, for a condition, evidence that breaks it alone: it counts, and violates, as soon as the condition admits it;
    `unrefuted_conditions` says of any other condition why no such instance is known at most `FURTHEST` times beyond it.
    `weak` names the mutants that may survive, by their ids, and why; `true_variants` those that are true as well, with
    the proof, and are not tried. `opaque` says why the bound gives no expression, where it gives
    none. With `until_refuted` nothing more is tried once an instance clearly violates.
    """

    theorem: Theorem
    families: Sequence[Family] = ()
    exact: Callable[[Effort, int], list[Evidence]] | None = None
    sampled: Callable[[Effort, int, float], SampledResult] | None = None
    equality: float | None = None
    outside_conditions: Mapping[str, Callable[[], Evidence]] = field(default_factory=dict)
    unrefuted_conditions: Mapping[str, str] = field(default_factory=dict)
    weak: Weakness | None = None
    true_variants: Mapping[str, str] = field(default_factory=dict)
    opaque: str = ""
    until_refuted: bool = False
    extends: str = ""
    """Key of the claim whose instances this one measures as well: one process checks both, and measures them once."""
    progress: Callable[[int, int], None] | None = None
    """Told before each family how many are done, of how many."""

    @classmethod
    def on(cls, key: str, *families: Family, edition: str = "corrected", **more: Any) -> Self:
        """The claim on the record of a key; `more` are the other fields."""
        return cls(theorem=find(key, edition), families=families, **more)

    def verify(self, *, effort: str | Effort = "quick", root: int = 0, alpha: float = FALSE_ALARMS) -> Verdict:
        """Run every engine, then try to tell the bound from its mutants."""
        began = time.perf_counter()
        theorem, spend = self.theorem, effort if isinstance(effort, Effort) else EFFORTS[effort]
        evidence = self.explored(spend, root)
        engines = list(dict.fromkeys(piece.engine for piece in evidence))
        outside = {name: make() for name, make in self.outside_conditions.items()}
        evidence += outside.values()
        steps = identities(theorem.key) if theorem.guarantee else []
        whole = joined(evidence, theorem)
        ends = np.cumsum([len(piece.measured) for piece in evidence])
        counted = whole.counted(theorem)
        bound = whole.bound(theorem)
        ratio = np.where(counted, whole.against(bound, theorem.direction), -np.inf)
        instances = int(counted.sum())
        undefined = counted & np.isnan(bound)
        # a violation with two numbers says more than one where the bound is none
        ranked = np.where(undefined, -np.inf, ratio)
        at = int((ranked if ranked.max() > 1 + AGREEMENT else ratio).argmax())
        worst_ratio = float(ratio[at])
        against = ratio > 1 + AGREEMENT
        if self.equality is not None:
            against |= counted & (ratio < 1 - self.equality) & (whole.measured != bound)  # 0 and 0 have no ratio
        violations = int(against.sum())
        if steps:
            engines.insert(0, f"{len(steps)} proof step{'s' if len(steps) > 1 else ''}")
        refused = {step.says: step.step().refusal() for step in steps}
        uncertified = tuple(f"proof step not certified: {says}: {why}" for says, why in refused.items() if why)
        error = 0.0
        if self.sampled is not None:
            result = self.sampled(spend, root, alpha)
            violations += len(result.rejected)
            instances += result.clients
            engines.append(f"sampled ({result.paths:,} paths)")
            error = result.error_probability
        violated = violations > 0
        count, left = (0, []) if violated else self._mutants(whole, counted, worst_ratio)
        apart = tuple(f"two routes differ: {piece.label}" for piece in evidence if not piece.agrees())
        survivors = (*apart, *uncertified, *(mutant.change for mutant, _ in left))
        foreseen = self.weak is not None and self.weak.covers(
            (*apart, *uncertified, *(mutant.id for mutant, _ in left))
        )
        outcome = Outcome.VIOLATED if violated else Outcome.WEAK if survivors else Outcome.HOLDS
        if apart and not violated:
            outcome = Outcome.INCONCLUSIVE
        if instances == 0:
            outcome = Outcome.VACUOUS
        return Verdict(
            theorem=theorem,
            engine=" + ".join(engines),
            outcome=outcome,
            instances=instances,
            worst_ratio=worst_ratio,
            worst_instance=_instance(evidence, ends, at) if instances else {},
            worst_bound=float(bound[at]),
            ranges=_ranges(evidence, np.split(counted, ends[:-1]), {*PARAMETERS, *theorem.own}),
            opaque=self.opaque,
            violations=violations,
            undefined=int(undefined.sum()),
            undefined_at=_first(theorem, whole, undefined),
            unbounded=int((counted & (bound == (np.inf if theorem.direction == "upper" else -np.inf))).sum()),
            error_probability=error,
            mutants=count,
            survivors=survivors,
            survivor_ratios=tuple(most for _, most in left),
            seconds=time.perf_counter() - began,
            points=_points(bound[counted], whole.measured[counted], ratio[counted]),
            necessity={
                name: violates_beyond(theorem, widened(theorem, name, FURTHEST), piece)
                for name, piece in outside.items()
            },
            weakness=self.weak if foreseen else None,
            unmet=whole.unmet(theorem) if instances == 0 else "",
        )

    def unrefuted(self) -> dict[str, str]:
        """Why no instance breaks a condition, by its name: those that hold of all instances, and the claim's own."""
        return {**IMPLIED, **self.unrefuted_conditions}

    def explored(self, spend: Effort, root: int) -> list[Evidence]:
        """What `exact` gives, and the sharp, random and searched instances of every family."""
        evidence = list[Evidence]()
        for piece in self._pieces(spend, root):
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
            yield family.evidence(family.draw(spend.instances, seed=root))
            if spend.corners:
                yield family.evidence(family.at(family.corners(spend.corners, seed=root)))
            amounts = {"draws": spend.instances, "restarts": spend.restarts, "ascents": spend.ascents}
            yield search(self.theorem, family, **amounts, corners=spend.corners, root=root + 1)

    def _refutes(self, piece: Evidence) -> bool:
        """Whether an instance violates by more than rounding could."""
        bound = piece.bound(self.theorem)
        ratio = piece.against(bound, self.theorem.direction)
        return bool((piece.counted(self.theorem) & ~np.isnan(bound) & (ratio > 1 + CLEAR)).any())

    def _mutants(
        self, whole: Evidence, counted: np.ndarray, worst_ratio: float
    ) -> tuple[int, list[tuple[Mutant, float]]]:
        """Mutants tried, and those that no instance refutes with the largest ratio of the bound where they are visibly
        stronger; a mutant that is nowhere stronger is not tried."""
        theorem = self.theorem
        same = theorem.bound if self.opaque else readable(theorem).value
        made = (numeric_mutants if self.opaque else mutants)(theorem, worst_ratio=worst_ratio)
        if self.true_variants:
            made = [mutant for mutant in made if mutant.id not in self.true_variants]
        ratio = whole.against(whole.bound(theorem, same), theorem.direction)
        held = np.flatnonzero(counted & (ratio <= 1 + AGREEMENT / 2))
        count, left = 0, list[tuple[Mutant, float]]()
        # most are refuted where the bound is nearly attained: only the others are asked for everywhere
        for rows in (held[np.argsort(-ratio[held], kind="stable")[:_NEAREST]], held):
            piece = whole.rows(rows)
            bound = piece.bound(theorem, same)
            ratio = piece.against(bound, theorem.direction)
            standing, left = [], []
            for mutant in made:
                variant = piece.bound(theorem, mutant.value)
                with np.errstate(all="ignore"):
                    gain = bound - variant if theorem.direction == "upper" else variant - bound
                    stronger, visible = gain > AGREEMENT * np.abs(bound), gain >= VISIBLE * np.abs(bound)
                if stronger.any() and (piece.against(variant, theorem.direction) > 1 + AGREEMENT / 2).any():
                    count += 1
                    continue
                standing.append(mutant)
                if stronger.any():
                    left.append((mutant, float(ratio[visible].max(initial=0.0))))
            made = standing
        return count + len(left), left


def _instance(evidence: Sequence[Evidence], ends: np.ndarray, at: int) -> dict[str, Any]:
    """The readable description of the instance `at` of all; `ends` are the pieces' own."""
    piece = int(np.searchsorted(ends, at, side="right"))
    return evidence[piece].instance(at - int(ends[piece] - len(evidence[piece].measured)))


def _first(theorem: Theorem, whole: Evidence, mask: np.ndarray) -> dict[str, float]:
    """The theorem's arguments at the first instance that a mask marks; {} where none does."""
    if not mask.any():
        return {}
    at = int(mask.argmax())
    return {parameter.name: float(whole.arguments[parameter.name][at]) for parameter in theorem.parameters}


def _ranges(evidence: list[Evidence], counted: list[np.ndarray], names: set[str]) -> dict[str, tuple[float, float]]:
    """Of every scalar, and of eta beta, over the instances that met the hypotheses; over all where none did."""
    found: dict[str, tuple[float, float]] = {}
    some = any(mask.any() for mask in counted)
    for piece, mask in zip(evidence, counted):
        chosen = {name: value for name, value in piece.arguments.items() if name in names}
        if "eta" in chosen and "beta" in chosen:
            chosen |= {"eta beta": chosen["eta"] * chosen["beta"]}
        for name, value in chosen.items():
            kept = np.broadcast_to(value, mask.shape)[mask] if some else np.ravel(value)
            if len(kept):
                low, high = found.get(name, (np.inf, -np.inf))
                found[name] = (min(low, float(kept.min())), max(high, float(kept.max())))
    return found


def _points(bound: np.ndarray, measured: np.ndarray, ratio: np.ndarray) -> tuple[tuple[float, float], ...]:
    """(bound, measured) of instances that met the hypotheses, evenly spread, the one of the worst ratio among them."""
    if len(bound) == 0:
        return ()
    chosen = np.union1d(np.linspace(0, len(bound) - 1, POINTS - 1).astype(int), ratio.argmax())
    return tuple((float(x), float(y)) for x, y in zip(bound[chosen], measured[chosen]))
