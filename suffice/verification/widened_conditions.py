"""The conditions of a theorem one at a time: wider ones, and instances just beyond."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np

from suffice.bounds import Theorem

from .evidence import AGREEMENT, Evidence
from .family import Family

FURTHEST = 1.5
"""How far beyond a condition an instance may be that shows it necessary: the larger side over what is allowed."""


def widened(theorem: Theorem, name: str, factor: float) -> Theorem:
    """The theorem with the right side of one condition `factor` times as far away; the same where it has none such."""
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
