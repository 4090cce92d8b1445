"""The conditions of a theorem one at a time: wider ones, instances just beyond, and those that nothing can break."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np

from suffice.bounds import Theorem

from .evidence import AGREEMENT, Evidence
from .family import Family

FURTHEST = 1.5
"""How far beyond a condition an instance may be that shows it necessary: the larger side over what is allowed."""

IMPLIED: Mapping[str, str] = {
    "curvature mu <= beta": "implied: 2 mu e <= |grad|^2 <= 2 beta e of every loss that is not constant",
    "curvatures mu_i <= A_i: contraction <= reach": "implied: mu_i is at most the smoothness in Assumption 3's A_i",
    "curvatures mu_i <= L_i: contraction <= wide_reach": "implied: no loss is more curved below than above",
    "smoothness beta <= beta_max": "implied: a mean of beta_max-smooth losses is beta_max-smooth",
    "similarities at most 1, similar_mass <= mass": "implied: a similarity is 1 minus a square",
    "similarities at least lambda, threshold mass <= similar_mass": "implied: clients count from similarity lambda on",
    "share <= 1": "implied: 1/sigma_i^2 is one of the terms of the sum that it is divided by",
    "pull <= weight": "implied: pull is the sum of the weights, each times 1 - sqrt(1 - r) <= 1",
    "agreement <= sharp_mass": "implied: it is a sum of the same terms, each times a number of at most 1",
    "own share 4 mu eps <= signal2": "implied: b_ii = 0, so that agent i is one term of the sum",
    "agent i's own share 2 mu eps <= signal2": "implied: b_ii = 0, so that agent i is one term of the sum",
    "agent i's own share 2 mu e0 <= signal2": "implied: b_ii = 0, so that agent i is one term of the sum",
    "eigenvalues smin <= smax": "implied: both are eigenvalues of one matrix",
    "top eigenvalue nu2 <= proxy_trace": "implied: a trace is the sum of eigenvalues of at least 0",
    "own noise (1 - own_weight)^2 own_variance <= apart2": "implied: the distance has it beside bias and others' noise",
    "horizon 1 <= T": "T is whole: at T = 0 there is no average",
    "iterations 1 <= T": "T is whole: at T = 0 there is no average",
    "one round 1 <= T": "T is whole: at T = 0 there is no average, and no step size to choose",
    "two clusters 2 size <= N": "implied: there are two clusters of `size` agents at least",
    "two agents 2 <= N": "N is whole: one agent has no pair to be judged",
}
"""Conditions that follow from what the parameters are: they refuse inputs that belong to no instance."""


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
    """Whether an instance that `wider` admits and `theorem` does not violates the bound."""
    beyond = evidence.counted(wider) & ~evidence.counted(theorem)
    return bool((evidence.ratio(theorem) > 1 + AGREEMENT)[beyond].any())


def beyond(family: Family, **values: float) -> Callable[[], Evidence]:
    """The sharp instances of a family with some of their values replaced: a share of a limit by more than 1."""

    def evidence() -> Evidence:
        assert family.sharp is not None
        sharp = family.sharp()
        return family.evidence(sharp | {name: np.full_like(sharp[name], value) for name, value in values.items()})

    return evidence
