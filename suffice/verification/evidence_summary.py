"""A summary of all instances: how many, the worst of them, the ranges that they cover."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from suffice.bounds import PARAMETERS, Theorem

from .evidence import AGREEMENT, Evidence

POINTS = 200
"""Instances that a verdict keeps for pictures, evenly spread over those that counted, the worst among them."""

FEW, FEW_OF = 100, 0.1
"""Fewer instances than this, or than this share of those tried, are few."""


@dataclass(frozen=True, kw_only=True)
class EvidenceSummary:
    """A summary of all instances that met the hypotheses.

    met             how many these are, by the name of their family; instances  in all, of all that were `examined`
    violations      how many of them speak against the bound
    worst_ratio     the largest measured/bound (bound/measured for lower bounds) of the exact engines, at
                    `worst_instance`, where the bound is `worst_bound`; -inf where no instance counted, inf where the
                    bound is not a number
    ranges          the smallest and largest value of every scalar, and of eta beta; over all instances where none met
                    the hypotheses
    points          (bound, measured) of up to `POINTS` instances, for pictures
    undefined       how many have a bound that is no number (each a violation), `undefined_at` the arguments of one
    unbounded       how many have an infinite one, which says nothing
    dropped         how many were left out because rounding of the bound may be all that speaks against it there, at one
                    of them by measured/bound = `dropped_ratio`
    unmet           where none or few of the instances tried count, the condition that none or the fewest meet
    """

    examined: int = 0
    met: dict[str, int] = field(default_factory=dict)
    violations: int = 0
    worst_ratio: float = math.nan
    worst_instance: dict[str, Any] = field(default_factory=dict)
    worst_bound: float = math.nan
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    points: tuple[tuple[float, float], ...] = ()
    undefined: int = 0
    undefined_at: dict[str, float] = field(default_factory=dict)
    unbounded: int = 0
    dropped: int = 0
    dropped_ratio: float = 0.0
    unmet: str = ""

    @classmethod
    def from_evidence(
        cls, pieces: Sequence[Evidence], whole: Evidence, theorem: Theorem, *, equality: float | None
    ) -> Self:
        """Summarise the instances of all `pieces`, which `whole` joins; `equality` is that of `Claim`."""
        counted, bound = whole.counted(theorem), whole.bound(theorem)
        every = whole.against(bound, theorem.direction)
        ratio = np.where(counted, every, -np.inf)
        undefined = counted & np.isnan(bound)
        against = ratio > 1 + AGREEMENT
        if equality is not None:
            against |= counted & (ratio < 1 - equality) & (whole.measured != bound)  # 0 and 0 have no ratio
        ranked = np.where(undefined, -np.inf, ratio)  # a violation with two numbers says more than one without a bound
        at = int((ranked if ranked.max() > 1 + AGREEMENT else ratio).argmax())
        dropped = np.broadcast_to(whole.dropped, counted.shape)
        useless = np.inf if theorem.direction == "upper" else -np.inf
        met, ranges = _of_pieces(pieces, counted, {*PARAMETERS, *theorem.own})
        ends = np.cumsum([len(piece.measured) for piece in pieces])
        owner = int(np.searchsorted(ends, at, side="right"))
        first = {each.name: whole.arguments[each.name][undefined][:1] for each in theorem.parameters}
        some = np.flatnonzero(counted)
        if len(some):  # evenly spread, the worst among them
            some = np.union1d(some[np.linspace(0, len(some) - 1, POINTS - 1).astype(int)], ratio.argmax())
        found = cls(
            examined=len(counted),
            met=met,
            violations=int(against.sum()),
            worst_ratio=float(ratio[at]),
            worst_instance=pieces[owner].instance(at - ends[owner]) if counted.any() else {},
            worst_bound=float(bound[at]),
            ranges=ranges,
            points=tuple(zip(bound[some].tolist(), whole.measured[some].tolist())),
            undefined=int(undefined.sum()),
            undefined_at={name: float(value[0]) for name, value in first.items() if len(value)},
            unbounded=int((counted & (bound == useless)).sum()),
            dropped=int(dropped.sum()),
            dropped_ratio=float(every[dropped].max(initial=0.0)),
        )
        return replace(found, unmet=whole.unmet(theorem) if found.few else "")

    @property
    def instances(self) -> int:
        """The number of instances that met the hypotheses."""
        return sum(self.met.values())

    @property
    def few(self) -> bool:
        """True where so few instances met the hypotheses that a reader has to know."""
        return self.instances < min(self.examined, max(FEW, FEW_OF * self.examined))


def _of_pieces(
    pieces: Sequence[Evidence], counted: np.ndarray, names: set[str]
) -> tuple[dict[str, int], dict[str, tuple[float, float]]]:
    """How many instances of each family met the hypotheses, and the range of every scalar, and of eta beta, over these;
    over all where none did."""
    found, ranges = dict[str, int](), dict[str, tuple[float, float]]()
    ends = np.cumsum([len(piece.measured) for piece in pieces])[:-1]
    for piece, mask in zip(pieces, np.split(counted, ends)):
        found[piece.label] = found.get(piece.label, 0) + int(mask.sum())
        chosen = {name: value for name, value in piece.arguments.items() if name in names}
        if "eta" in chosen and "beta" in chosen:
            chosen |= {"eta beta": chosen["eta"] * chosen["beta"]}
        for name, value in chosen.items():
            values = np.broadcast_to(value, mask.shape)[mask | ~counted.any()]
            low, high = ranges.get(name, (math.inf, -math.inf))
            if len(values):
                ranges[name] = min(low, float(values.min())), max(high, float(values.max()))
    return found, ranges
