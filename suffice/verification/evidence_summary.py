"""A summary of all instances: how many, the worst of them, the ranges that they cover."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
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
        ratio = np.where(counted, whole.against(bound, theorem.direction), -np.inf)
        undefined = counted & np.isnan(bound)
        against = ratio > 1 + AGREEMENT
        if equality is not None:
            against |= counted & (ratio < 1 - equality) & (whole.measured != bound)  # 0 and 0 have no ratio
        at = _worst(ratio, undefined)
        dropped = np.broadcast_to(whole.dropped, counted.shape)
        useless = np.inf if theorem.direction == "upper" else -np.inf
        return cls(
            examined=len(counted),
            met=_met(pieces, counted),
            violations=int(against.sum()),
            worst_ratio=float(ratio[at]),
            worst_instance=_instance(pieces, at) if counted.any() else {},
            worst_bound=float(bound[at]),
            ranges=_ranges(pieces, counted, {*PARAMETERS, *theorem.own}),
            points=_points(bound[counted], whole.measured[counted], ratio[counted]),
            undefined=int(undefined.sum()),
            undefined_at=_first(theorem, whole, undefined),
            unbounded=int((counted & (bound == useless)).sum()),
            dropped=int(dropped.sum()),
            dropped_ratio=float(whole.against(bound, theorem.direction)[dropped].max(initial=0.0)),
            unmet=whole.unmet(theorem) if _few(int(counted.sum()), len(counted)) else "",
        )

    @property
    def instances(self) -> int:
        """The number of instances that met the hypotheses."""
        return sum(self.met.values())

    @property
    def few(self) -> bool:
        """True where so few instances met the hypotheses that a reader has to know."""
        return _few(self.instances, self.examined)


def _few(instances: int, examined: int) -> bool:
    return instances < examined and (instances < FEW or instances < FEW_OF * examined)


def _worst(ratio: np.ndarray, undefined: np.ndarray) -> int:
    """Find the largest ratio; a violation with two numbers says more than one where the bound is none."""
    ranked = np.where(undefined, -np.inf, ratio)
    return int((ranked if ranked.max() > 1 + AGREEMENT else ratio).argmax())


def _instance(pieces: Sequence[Evidence], at: int) -> dict[str, Any]:
    """The readable description of the instance `at` of all."""
    for piece in pieces:
        if at < len(piece.measured):
            return piece.instance(at)
        at -= len(piece.measured)
    raise IndexError(at)


def _first(theorem: Theorem, whole: Evidence, mask: np.ndarray) -> dict[str, float]:
    """The theorem's arguments at the first instance that a mask marks; {} where none does."""
    if not mask.any():
        return {}
    at = int(mask.argmax())
    return {parameter.name: float(whole.arguments[parameter.name][at]) for parameter in theorem.parameters}


def _by_piece(pieces: Sequence[Evidence], mask: np.ndarray) -> list[tuple[Evidence, np.ndarray]]:
    return list(zip(pieces, np.split(mask, np.cumsum([len(piece.measured) for piece in pieces])[:-1])))


def _met(pieces: Sequence[Evidence], counted: np.ndarray) -> dict[str, int]:
    """Count the instances of each family that met the hypotheses."""
    found: dict[str, int] = {}
    for piece, mask in _by_piece(pieces, counted):
        found[piece.label] = found.get(piece.label, 0) + int(mask.sum())
    return found


def _ranges(pieces: Sequence[Evidence], counted: np.ndarray, names: set[str]) -> dict[str, tuple[float, float]]:
    """The range of every scalar, and of eta beta, over instances that met the hypotheses; over all where none did."""
    found: dict[str, list[np.ndarray]] = {}
    kept = counted if counted.any() else np.ones_like(counted)
    for piece, mask in _by_piece(pieces, kept):
        chosen = {name: value for name, value in piece.arguments.items() if name in names}
        if "eta" in chosen and "beta" in chosen:
            chosen |= {"eta beta": chosen["eta"] * chosen["beta"]}
        for name, value in chosen.items():
            found.setdefault(name, []).append(np.broadcast_to(value, mask.shape)[mask])
    whole = {name: np.concatenate(values) for name, values in found.items()}
    return {name: (float(values.min()), float(values.max())) for name, values in whole.items() if len(values)}


def _points(bound: np.ndarray, measured: np.ndarray, ratio: np.ndarray) -> tuple[tuple[float, float], ...]:
    """(bound, measured) of instances that met the hypotheses, evenly spread, the one of the worst ratio among them."""
    if len(bound) == 0:
        return ()
    chosen = np.union1d(np.linspace(0, len(bound) - 1, POINTS - 1).astype(int), ratio.argmax())
    return tuple((float(x), float(y)) for x, y in zip(bound[chosen], measured[chosen]))
