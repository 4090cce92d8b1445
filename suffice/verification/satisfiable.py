"""Tell hypotheses that contradict each other from those that no instance happened to meet.

A search over the parameters themselves, at random and where conditions turn. It knows no problem: what it finds may
belong to none, but what it finds shows that the conditions do not exclude each other.
"""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np

from suffice.bounds import Theorem

from .evidence import Evidence, sides
from .family import Domain, Family, Values
from .violation_search import search

BEYOND = 1e4
"""How far beyond the typical range of a parameter is searched."""
_DRAWN = 4096


def explained(theorem: Theorem, unmet: str) -> tuple[bool, str]:
    """Return True and numbers that meet all conditions in words, or False and that these contradict each other."""
    names = tuple(sides(theorem, {each.name: np.array([each.typical[0]]) for each in theorem.parameters}))
    found = _search(theorem) if names else None
    if found is not None:
        at = ", ".join(f"{name} = {value:.7g}" for name, value in found.items())
        return True, f"numbers do ({at}); give a family with such instances"
    return False, f"{' and '.join(names)} contradict each other; {unmet}" if len(names) > 1 else unmet


def _search(theorem: Theorem) -> dict[str, float] | None:
    """Values of the parameters that the conditions take, where all hold; None where none was found."""
    needed = [each for each in theorem.parameters if each.name in theorem.condition_keywords]
    domains = {}
    for each in needed:
        low, high = each.typical[0] / BEYOND, min(each.typical[1] * BEYOND, each.upper)
        zero = 0.1 if each.lower == 0 and not each.open_lower else 0.0
        low, log = (-high, False) if each.lower < 0 else (max(low, each.lower), True)
        domains[each.name] = Domain(low=low, high=high, log=log, integer=each.integer, zero=zero)

    @wraps(theorem.conditions)
    def all_of(**given: Any) -> dict[str, Any]:
        order = {"mu": (given["mu"], given["beta"])} if {"mu", "beta"} <= given.keys() else {}
        return {**theorem.conditions(**given), **order}

    # of what conditions take alone
    narrow = replace(theorem, bound=wraps(theorem.conditions)(lambda **given: 1.0), conditions=all_of)
    family = Family(name="parameters", domains=domains, arguments=lambda values: values, measure=_nothing)
    for found in search(narrow, family, draws=_DRAWN, corners=_DRAWN, restarts=1, ascents=0, root=0):
        for row in np.flatnonzero(found.counted(narrow)):
            return {name: float(value[row]) for name, value in found.arguments.items()}
    return None


def _nothing(values: Values) -> Evidence:
    return Evidence(engine="", measured=np.zeros(len(next(iter(values.values())))), arguments=values)
