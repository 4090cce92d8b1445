"""The conditions of a theorem: each wider by itself, instances just beyond it, and whether all can hold together.

Conditions loosened by 5 % and by 50 % are wrong variants of a bound's hypotheses, which some instance should refute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.bounds import Theorem

from .evidence import AGREEMENT, Evidence, sides
from .family import Domain, Family, Values
from .verdict import Outcome, Verdict
from .violation_search import search

if TYPE_CHECKING:
    from .problem_measure import Measure

FURTHEST = 1.5
"""How far beyond a condition an instance may be that shows it necessary: the larger side over what is allowed."""


def widened(theorem: Theorem, name: str, factor: float) -> Theorem:
    """The theorem with the right side of one condition `factor` times as far away; unchanged without this condition."""
    conditions: Callable[..., Any] = theorem.conditions

    @wraps(conditions)
    def wider(**values: Any) -> dict[str, Any]:
        given = dict(conditions(**values))
        if name in given:
            lhs, rhs = given[name]
            rhs = np.asarray(rhs, dtype=float)
            given[name] = (lhs, np.where(rhs > 0, rhs * factor, rhs / factor))
        return given

    return replace(theorem, conditions=wider)


def violates_beyond(theorem: Theorem, wider: Theorem, evidence: Evidence) -> bool:
    """Return True if an instance that `wider` admits and `theorem` does not violates the bound."""
    beyond = evidence.counted(wider) & ~evidence.counted(theorem)
    return bool((evidence.ratio(theorem) > 1 + AGREEMENT)[beyond].any())


def beyond(family: Family, **values: float) -> Callable[[], Evidence]:
    """The sharp instances of a family with some of their values replaced: a share of a limit by more than 1."""

    def evidence() -> Evidence:
        assert family.sharp is not None
        sharp = family.sharp()
        return family.evidence(sharp | {name: np.full_like(sharp[name], value) for name, value in values.items()})

    return evidence


_FACTORS = (1.05, FURTHEST)
_DRAWS = 16


def loosened(verdict: Verdict, theorem: Theorem, measured: Sequence[Measure], *, root: int) -> Verdict:
    """The verdict with loosened conditions counted as variants, survivors named; VALID where any variant survives."""
    count, left, unreached = 0, [], dict[str, None]()
    family = measured[0].family(theorem)
    for name in sides(theorem, family.evidence(family.draw(2, seed=0)).arguments):
        for factor in _FACTORS:
            wider, met = widened(theorem, name, factor), False
            for found in _at_the_edge(wider, measured, root):
                met |= bool((found.counted(wider) & ~found.counted(theorem)).any())
                if violates_beyond(theorem, wider, found):
                    break
            else:
                if not met:
                    unreached[name] = None
                    continue
                left.append(f"condition {name!r} loosened by {factor - 1:.0%}")
            count += 1
    tried = verdict.variants
    standing = (*tried.standing, *left)
    beyond = [f"whether the condition {name!r} is needed (no instance of the family breaks it)" for name in unreached]
    return replace(
        verdict,
        outcome=Outcome.VALID if standing or tried.faults else Outcome.HOLDS,
        variants=replace(tried, mutants=tried.mutants + count, standing=standing),
        not_tried="; ".join(filter(None, (*beyond, verdict.not_tried))),
    )


def _at_the_edge(wider: Theorem, measured: Sequence[Measure], root: int) -> Iterator[Evidence]:
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


_FAR = 1e4
"""How far beyond the typical range of a parameter is searched."""
_MANY = 4096


def explained(theorem: Theorem, unmet: str) -> tuple[bool, str]:
    """Return True and numbers that meet all conditions in words, or False and that these contradict each other.

    The parameters themselves are searched, at random and where conditions turn. What is found may belong to no problem,
    but it shows that the conditions do not exclude each other.
    """
    names = tuple(sides(theorem, {each.name: np.array([each.typical[0]]) for each in theorem.parameters}))
    domains = {}
    for each in theorem.parameters if names else ():
        if each.name not in theorem.condition_keywords:
            continue
        low, high = each.typical[0] / _FAR, min(each.typical[1] * _FAR, each.upper)
        zero = 0.1 if each.lower == 0 and not each.open_lower else 0.0
        low, log = (-high, False) if each.lower < 0 else (max(low, each.lower), True)
        domains[each.name] = Domain(low=low, high=high, log=log, integer=each.integer, zero=zero)

    @wraps(theorem.conditions)
    def all_of(**given: Any) -> dict[str, Any]:
        order = {"mu": (given["mu"], given["beta"])} if {"mu", "beta"} <= given.keys() else {}
        return {**theorem.conditions(**given), **order}

    # of what conditions take alone
    narrow = replace(theorem, bound=wraps(theorem.conditions)(lambda **given: 1.0), conditions=all_of)

    def measure(values: Values) -> Evidence:
        return Evidence(engine="", measured=np.zeros(len(next(iter(values.values())))), arguments=values)

    family = Family(name="parameters", domains=domains, arguments=lambda values: values, measure=measure)
    for found in search(narrow, family, draws=_MANY, corners=_MANY, restarts=1, ascents=0, root=0) if domains else ():
        for row in np.flatnonzero(found.counted(narrow)):
            at = ", ".join(f"{name} = {float(value[row]):.7g}" for name, value in found.arguments.items())
            return True, f"numbers do ({at}); give a family with such instances"
    return False, f"{' and '.join(names)} contradict each other; {unmet}" if len(names) > 1 else unmet
