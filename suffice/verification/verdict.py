"""What a check concluded, with what it rests on."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from suffice.bounds import Theorem

POINTS = 200
"""Instances that a verdict keeps for pictures, evenly spread over those that counted, the worst among them."""

_LINE = 110
"""Characters of each half of a `repr`: pytest cuts what is longer than 240 in the middle."""

VISIBLE = 0.01
"""A variant counts at an instance where it is stronger than the bound by this share or more."""


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
    NOT_APPLICABLE = "not applicable"


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


@dataclass(frozen=True, kw_only=True, repr=False)
class Verdict:
    """The outcome of one claim.

    instances counts those that met the hypotheses, violations those of them that speak against the bound. worst_ratio
    is the largest measured/bound (bound/measured for lower bounds) of the exact engines, at worst_instance; -inf where
    no instance counted, inf where the bound is not a number. error_probability bounds the chance that sampling alone
    produced a violation (0 when nothing was sampled). survivors names what speaks against the check: two routes that
    differ, proof steps that are not certified, and the mutants left standing. For each of these mutants
    survivor_ratios is the largest measured/bound where it is stronger by `VISIBLE` or more: how nearly the bound is
    attained where the changed part counts.
    worst_bound is the bound at worst_instance. ranges are the smallest and largest value of every scalar over the
    instances that met the hypotheses (over all of them where none did), `tried` says the same in words for a bound of
    one's own and `not_tried` what was left out; `reason` is why nothing could be concluded. `opaque`
    says why no formula could be read from the bound: its mutants then change keywords, not terms.
    points are (bound, measured) of up to `POINTS` instances, for pictures.
    counterexample is the violation shrunk to a simple instance, where the claim can shrink: its arguments, `bound` and
    `measured` as mpmath numbers that are good to `digits` significant digits, 50 or 15.
    weakness is the claim's own account of the survivors, where it foresaw them all.
    undefined counts the instances at which the bound is not a number (each a violation), undefined_at are the arguments
    of one of them; unbounded counts those at which it is infinite and says nothing. `unmet` names, where no instance
    counts, a condition that none meets.
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
    weakness: Weakness | None = None
    survivor_ratios: tuple[float, ...] = ()
    worst_bound: float = math.nan
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    tried: str = ""
    not_tried: str = ""
    reason: str = ""
    opaque: str = ""
    violations: int = 0
    undefined: int = 0
    undefined_at: dict[str, float] = field(default_factory=dict)
    unbounded: int = 0
    unmet: str = ""

    @classmethod
    def inconclusive(cls, theorem: Theorem, reason: str) -> Verdict:
        """Nothing can be concluded, for a reason."""
        return cls(
            theorem=theorem, engine="none", outcome=Outcome.INCONCLUSIVE, instances=0, worst_ratio=math.nan,
            worst_instance={}, error_probability=0.0, mutants=0, survivors=(), seconds=0.0, reason=reason,
        )  # fmt: skip

    @property
    def holds(self) -> bool:
        """Nothing refutes the bound, and every wrong variant of it is refuted."""
        return self.outcome is Outcome.HOLDS

    @property
    def valid(self) -> bool:
        """Nothing refutes the bound on what was tried: see `tried` and `not_tried`."""
        return self.outcome in (Outcome.HOLDS, Outcome.VALID, Outcome.WEAK)

    @property
    def instance(self) -> dict[str, Any]:
        """The instance of the worst ratio."""
        return self.worst_instance

    @property
    def refuted(self) -> int:
        """How many of the `mutants` are refuted: all but those with a survivor ratio."""
        return self.mutants - len(self.survivor_ratios)

    @property
    def expected(self) -> bool:
        """A corrected statement, or a printed one that its record calls true, holds, or is weak as its claim says; any
        other printed one is violated or vacuous."""
        if self.theorem.guarantee or self.theorem.true_as_printed:
            return self.outcome is Outcome.HOLDS or self.weak != ""
        return self.outcome in (Outcome.VIOLATED, Outcome.VACUOUS)

    @property
    def weak(self) -> str:
        """Why the survivors of a weak verdict survive, or "" where one of them was not foreseen."""
        return self.weakness.reason if self.outcome is Outcome.WEAK and self.weakness is not None else ""

    def __str__(self) -> str:
        """The summary, and below it the violation, what was tried and, of a bound that stands, what was not, and what
        could not be read of it."""
        tried = f"tried: {self.tried}" if self.tried else ""
        left_out = f"not tried: {self.not_tried}" if self.not_tried and self.outcome is not Outcome.VIOLATED else ""
        return "\n  ".join(
            filter(None, (self.summary, self.violation, self.whole, self.gap, self.unread, tried, left_out))
        )

    def __repr__(self) -> str:
        text = f"{self.theorem.key} ({self.theorem.edition}) {self.summary}"
        against = self.violation or self.gap
        return f"<Verdict: {_cut(text, _LINE)}{'; ' if against else ''}{_cut(against, _LINE)}>"

    @property
    def violation(self) -> str:
        """Where a violated bound fails most simply or most clearly, with both sides; else ""."""
        if self.outcome is not Outcome.VIOLATED or not self.worst_instance:
            return ""
        found = self.counterexample
        if found is None:
            names = [entry.name for entry in self.theorem.parameters]
            arguments = {name: self.worst_instance[name] for name in names if name in self.worst_instance}
            measured, bound = self.worst_instance["measured"], self.worst_bound
        else:
            arguments, measured, bound = found["arguments"], found["measured"], found["bound"]
        if not (measured > bound if self.theorem.direction == "upper" else measured < bound):
            return ""  # violated by what was sampled, or because equality is claimed
        left, right = _apart(float(measured), float(bound))
        sign, side = (">", "at least ") if self.theorem.direction == "upper" else ("<", "at most ")
        others = _listed(found.get("instance", {})) if found else ""
        where = f"{_listed(arguments)} (and {others}, which the bound does not have)" if others else _listed(arguments)
        # without digits it is a confidence limit of what was sampled
        sampled = side if found and found.get("digits") == 0 else ""
        return f"at {where}: measured {sampled}{left} {sign} bound {right}"

    @property
    def whole(self) -> str:
        """The values from which the family builds a counterexample of several clients: scalars do not determine it."""
        found = self.counterexample
        if not self.violation or found is None or found.get("clients", 1) < 2:
            return ""
        return f"built from {', '.join(f'{name} = {_short(value)}' for name, value in found['values'].items())}"

    @property
    def gap(self) -> str:
        """Where the bound is not a number or infinite; else ""."""
        total = f"of {self.instances:,} instances"
        parts = []
        if self.undefined:
            parts.append(f"the bound is not a number at {_listed(self.undefined_at)} ({self.undefined:,} {total})")
        if self.unbounded:
            parts.append(f"the bound is infinite on {self.unbounded:,} {total}: it says nothing there")
        return "; ".join(parts)

    @property
    def unread(self) -> str:
        """What it means that the bound gives no formula; else ""."""
        if not self.opaque:
            return ""
        return f"from numbers alone (no formula can be read: {self.opaque}): wrong variants change keywords, not terms"

    @property
    def summary(self) -> str:
        """One line: outcome, instances, worst ratio, mutants, survivors."""
        if self.reason:
            return f"{self.outcome.value}: {self.reason}"
        if not self.instances:
            why = f": {self.unmet}" if self.unmet else ""
            return f"{self.outcome.value}: no instance meets the hypotheses{why}"
        share = f"{self.violations:,} of " if self.outcome is Outcome.VIOLATED else ""
        text = f"{self.outcome.value} on {share}{self.instances:,} instances"
        if not self.undefined or self.undefined < self.violations:  # where all are undefined there is no ratio
            text += f", worst ratio {self.worst_ratio:.4g}"
        if self.mutants:
            text += f", {self.refuted} of {self.mutants} mutants refuted"
        if self.survivors:
            named = _DOUBLED.sub(r"(\1)", "; ".join(self.survivors))
            text += f" (surviving: {named})"
        return text + (f"; {self.weak}" if self.weak else "")

    @property
    def note(self) -> str:
        """What to know about a verdict that is weak as its claim says: how loose it is, and why; else ""."""
        if not self.weak or not self.mutants:
            return self.weak
        text = f"{len(self.survivor_ratios)} of {self.mutants} wrong variants are not refuted"
        if self.survivor_ratios:
            low, high = min(self.survivor_ratios), max(self.survivor_ratios)
            span = f"{low:.2g}" if high - low < 0.005 else f"{low:.2g} to {high:.2g}"
            text += f"; where they are stronger by {VISIBLE:.0%} or more, measured/bound reaches {span} only"
        return f"{text}; {self.weak}"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from suffice.support.html import facts, text

        entries = {
            "Claim": text(
                self.theorem.title
                if self.theorem.key.startswith("own/")
                else f"{self.theorem.key} ({self.theorem.edition})"
            ),
            "Verdict": f"<b>{text(self.outcome.value)}</b>" + (", as expected" if self.expected else ""),
            "Evidence": text(self.summary),
            "Tried": text(self.tried),
            "Not tried": text(self.not_tried),
            "Read": text(self.unread),
            "Engine": text(self.engine),
            "Error probability": text(f"{self.error_probability:.2g}"),
            "Counterexample": text(self.violation),
            "Without a value": text(self.gap),
        }
        return facts(entries)

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
            "refuted_mutants": self.refuted,
            "mutants": self.mutants,
            "survivors": list(self.survivors),
            "survivor_ratios": list(self.survivor_ratios),
            "weak": self.weak,
            "conditions_shown_necessary": self.necessity,
            "seconds": self.seconds,
            "statement": self.theorem.statement,
        }


INSTANCE = ("eta", "mu", "beta", "sigma2", "e0", "T", "N", "d")
"""Scalars that a reader needs to build an instance again, also where a bound has no use for them."""


def unused(given: Mapping[str, float], taken: Collection[str]) -> dict[str, float]:
    """Those of `INSTANCE` that an instance has and a bound does not take."""
    rest = {name: float(given[name]) for name in INSTANCE if name in given and name not in taken}
    return {name: value for name, value in rest.items() if name not in ("N", "d") or value > 1}


def _listed(arguments: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {value:.6g}" for name, value in arguments.items())


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
