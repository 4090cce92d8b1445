"""Conditions loosened by 5 % and by 50 %: wrong variants of a bound's hypotheses, which some instance should refute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from suffice.bounds import Theorem

from .evidence import Evidence, sides
from .problem_measure import Measure
from .verdict import Outcome, Verdict
from .violation_search import search
from .widened_conditions import violates_beyond, widened

FACTORS = (1.05, 1.5)
_DRAWS = 16


def loosened(verdict: Verdict, theorem: Theorem, measured: Sequence[Measure], *, root: int) -> Verdict:
    """The verdict with these variants counted and the surviving ones named; VALID where any variant survives."""
    count, left, unreached = 0, [], []
    family = measured[0].family(theorem)
    for name in sides(theorem, family.evidence(family.draw(2, seed=0)).arguments):
        for factor in FACTORS:
            refuted = _refuted(widened(theorem, name, factor), theorem, measured, root)
            if refuted is None:
                unreached.append(name)
                continue
            count += 1
            if not refuted:
                left.append(f"condition {name!r} loosened by {factor - 1:.0%}")
    tried = verdict.variants
    standing = (*tried.standing, *left)
    beyond = [
        f"whether the condition {name!r} is needed (no instance of the family breaks it)"
        for name in dict.fromkeys(unreached)
    ]
    return replace(
        verdict,
        outcome=Outcome.VALID if standing or tried.faults else Outcome.HOLDS,
        variants=replace(tried, mutants=tried.mutants + count, standing=standing),
        not_tried="; ".join(filter(None, (*beyond, verdict.not_tried))),
    )


def _refuted(wider: Theorem, theorem: Theorem, measured: Sequence[Measure], root: int) -> bool | None:
    """Whether an instance that the wider condition alone admits violates the bound; None where no such was met."""
    met = False
    for found in _evidence(wider, measured, root):
        if violates_beyond(theorem, wider, found):
            return True
        met |= bool((found.counted(wider) & ~found.counted(theorem)).any())
    return False if met else None


def _evidence(wider: Theorem, measured: Sequence[Measure], root: int) -> Iterator[Evidence]:
    """Instances at the edge of the wider condition, and others by search."""
    for measure in measured:
        family = measure.family(wider)
        values = family.draw(_DRAWS, seed=root + 7)
        if measure.problems.sharp is not None:
            sharp = measure.problems.sharp()
            values = {name: np.concatenate((value, sharp[name])) for name, value in values.items()}
        if measure.problems.movable is not None:
            values["step"] = np.ones_like(values["step"])
        yield family.evidence(values)
    for measure in measured[:2]:
        yield from search(wider, measure.family(wider), draws=_DRAWS, restarts=2, ascents=2, root=root + 8)
