"""The verdict of a check: findings about the instances and about wrong variants of the bound, also in words."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Self

from suffice.bounds import Theorem
from suffice.support import html
from suffice.support.tables import times_text

from .evidence_summary import EvidenceSummary
from .regime import Sharpness

_LINE = 110
"""Characters of each half of a `repr`: pytest cuts a text longer than 240 characters in the middle."""

_WIDTH = 79
"""Characters of a line where there is no terminal."""

_TOGETHER = re.compile(r"\S+ = \S+( to \S+)?|worst ratio \S+|measured [^;:]+ [<>] bound \S+")
"""Texts that are kept on one line, as one word is."""

_DOUBLED = re.compile(r"\(\(([^()]*)\)\)")
"""Parentheses that a formula needs once."""


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
    faults     what else speaks against the check: proof steps that are not certified
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


@dataclass(frozen=True, kw_only=True, repr=False)
class Verdict:
    """A verdict is the outcome of one claim, with what it rests on, and in words.

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
        """A corrected statement, or a printed one called true by its record, holds; others are violated or vacuous."""
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

    def __str__(self) -> str:
        """The lines, as wide as the terminal or 79 characters."""
        width = shutil.get_terminal_size((_WIDTH, 24)).columns
        return "\n".join(_wrapped(line, width, "  " if at else "") for at, line in enumerate(self._lines))

    @property
    def _lines(self) -> list[str]:
        """The lines of the verdict: what was found, what that means, the violation, where numbers that look odd come
        from, what was tried and, of a bound that stands, what was not."""
        left_out = self.not_tried if self.outcome is not Outcome.VIOLATED else ""
        told = {"proof": self.proof, "tried": self.tried, "not tried": left_out}
        found = [
            self._found() or self.summary, self.judgement, self.violation, self.whole, self.gap, *self._odd(),
            *(f"{name}: {said}" for name, said in told.items() if said),
        ]  # fmt: skip
        return [*filter(None, found)]

    def __repr__(self) -> str:
        said = f"{self.theorem.key} ({self.theorem.edition}) {self.summary}"
        against = self.violation or self.gap
        return f"<Verdict: {_cut(said, _LINE)}{'; ' if against else ''}{_cut(against, _LINE)}>"

    @property
    def summary(self) -> str:
        """One line: outcome, instances, worst ratio, mutants, survivors."""
        if self.reason:
            return f"{self.outcome.value}: {self.reason}"
        if not self.evidence.instances:
            why = f": {self.evidence.unmet}" if self.evidence.unmet else ""
            return f"{self.outcome.value}: no instance meets the hypotheses{why}"
        left = _named(self.variants.survivors)
        return self._found() + (f" (surviving: {left})" if left else "")

    def _found(self) -> str:
        """The outcome, the instances, the worst ratio, and how many mutants are refuted."""
        seen, tried = self.evidence, self.variants.mutants
        if self.reason or not seen.instances:
            return ""
        where = f" on {seen.instances:,} instances"
        if self.outcome is Outcome.VIOLATED and not seen.violations:
            where = f" by exact arithmetic, by none of {seen.instances:,} instances"
        elif self.outcome is Outcome.VIOLATED:
            where = f" on {seen.violations:,} of {seen.instances:,} instances"
        elif seen.few:
            where = f": only {seen.instances:,} of {seen.examined:,} instances met the conditions"
        only_undefined = 0 < seen.violations <= seen.undefined  # then there is no ratio
        ratio = "" if only_undefined else f", worst ratio {times_text(seen.worst_ratio)}"
        refuted = f", {self.variants.refuted} of {tried} mutants refuted" if tried else ""
        return f"{self.outcome.value}{where}{ratio}{refuted}"

    @property
    def judgement(self) -> str:
        """The meaning of the outcome of a bound that stands, with the variants that survive; "" of another bound."""
        if not self.evidence.instances:
            return ""
        faults, left = self.variants.faults, self.variants.standing
        if faults:
            return f"{self.outcome.value}, because of the check itself: {_named(faults)}"
        if self.outcome is Outcome.HOLDS:
            return "nothing refutes the bound, and no wrong variant of it is left standing"
        if not self.valid or not left:
            return ""
        conditions = sum(each.startswith("condition ") for each in left)
        what = "the bound" if not conditions else "a condition" if conditions == len(left) else "bound and conditions"
        count = "1 wrong variant survives" if len(left) == 1 else f"{len(left)} wrong variants survive"
        return f"{self.outcome.value}, but {count}: {what} may be improvable there ({_named(left)})"

    @property
    def violation(self) -> str:
        """Where a violated bound fails most simply or most clearly, with both sides; else ""."""
        if self.outcome is not Outcome.VIOLATED or not self.evidence.worst_instance:
            return ""
        upper, worst = self.theorem.direction == "upper", self.evidence.worst_instance
        at = {entry.name: worst[entry.name] for entry in self.theorem.parameters if entry.name in worst}
        own: dict[str, Any] = {"arguments": at, "measured": worst["measured"], "bound": self.evidence.worst_bound}
        found = self.counterexample or own
        measured, bound = found["measured"], found["bound"]
        if not (measured > bound if upper else measured < bound):
            return ""  # violated by what was sampled, or because equality is claimed
        left, right = _apart(float(measured), float(bound))
        where, others = _listed(found["arguments"]), _listed(found.get("instance", {}))
        also = f" (and {others}, which the bound does not have)" if others else ""
        # without digits it is a confidence limit of what was sampled
        limit = ("at least " if upper else "at most ") if found.get("digits") == 0 else ""
        return f"at {where}{also}: measured {limit}{left} {'>' if upper else '<'} bound {right}"

    @property
    def whole(self) -> str:
        """The values from which the family builds a counterexample of several clients: scalars do not determine it."""
        found = self.counterexample
        if not self.violation or found is None or found.get("clients", 1) < 2:
            return ""
        return f"built from {_listed(found['values'])}"

    @property
    def gap(self) -> str:
        """Where the bound is not a number or infinite; else ""."""
        seen = self.evidence
        total, parts = f"of {seen.instances:,} instances", []
        if seen.undefined:
            parts.append(f"the bound is not a number at {_listed(seen.undefined_at)} ({seen.undefined:,} {total})")
        if seen.unbounded:
            parts.append(f"the bound is infinite on {seen.unbounded:,} {total}: it says nothing there")
        return "; ".join(parts)

    def _odd(self) -> Iterator[str]:
        """Which numbers look odd, and why: instances left out, few of them, a ratio of 0, a bound without a formula."""
        seen, why = self.evidence, self.variants.opaque
        if seen.dropped:
            yield (
                f"left out: {seen.dropped:,} instances, at which measured and bound are a factor of up to "
                f"{seen.dropped_ratio:.4g} apart and one of them may be as far off by rounding; "
                "write the bound so that it keeps its digits, or takes mpmath numbers"
            )
        if self.valid and seen.instances and seen.few and seen.unmet:
            yield f"few instances: {seen.unmet}"
        if self.valid and seen.worst_ratio == 0:
            upper = "nothing above 0 and above rounding was measured, which tests no bound from above"
            lower = "the bound is at most 0 at every instance that could refute it"
            yield f"worst ratio 0: {upper if self.theorem.direction == 'upper' else lower}"
        if why:
            yield f"from numbers alone (no formula can be read: {why}): wrong variants change keywords, not terms"

    def _repr_html_(self) -> str:
        """The HTML that a notebook shows."""
        claim = "" if self.theorem.key.startswith("own/") else f"{self.theorem.key} ({self.theorem.edition})"
        return html.listed([*filter(None, [claim]), *self._lines])


INSTANCE = ("eta", "mu", "beta", "sigma2", "e0", "T", "N", "d")
"""Scalars that a reader needs to build an instance again, also where a bound has no use for them."""


def unused(given: Mapping[str, float], taken: Collection[str]) -> dict[str, float]:
    """The scalars of `INSTANCE` that an instance has and a bound does not take."""
    rest = {name: float(given[name]) for name in INSTANCE if name in given and name not in taken}
    return {name: value for name, value in rest.items() if name not in ("N", "d") or value > 1}


def _named(survivors: Sequence[str]) -> str:
    return _DOUBLED.sub(r"(\1)", "; ".join(survivors))


def _wrapped(line: str, width: int, indent: str) -> str:
    """Lines of at most `width` characters where words allow it; `T = 1 to 10,000` stays together."""
    kept = _TOGETHER.sub(lambda found: found[0].replace(" ", "\0"), line)
    lines = textwrap.TextWrapper(max(width, 20), indent, indent + "  ")
    lines.break_long_words = lines.break_on_hyphens = False
    return lines.fill(kept).replace("\0", " ")


def _listed(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {_short(value)}" for name, value in arguments.items())


def _short(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_short, value))}]"
    return f"{value:.6g}"


def _apart(one: float, two: float) -> tuple[str, str]:
    """Two different numbers with six digits, or as many as it takes to tell them apart."""
    for digits in range(6, 18):
        texts = f"{one:.{digits}g}", f"{two:.{digits}g}"
        if texts[0] != texts[1]:
            return texts
    return repr(one), repr(two)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
