"""Superseded records are compared with the sharper ones, at arguments within the typical ranges of their parameters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from suffice.bounds import Theorem, find

from .claim import Claim
from .conditions import IMPLIED
from .evidence import Evidence, Measured, measured_by
from .family import Domain, Family, Values
from .verdict import Verdict, Weakness

_BETWEEN = "whatever lies between the two bounds"


@dataclass(frozen=True, kw_only=True)
class Compared(Claim):
    """A claim whose "measured" is a bound that is proved: what exceeds it is true, and what is below need not be false,
    so that no wrong variant of the old bound can be told, and none is tried."""

    def verify(self, **options: Any) -> Verdict:
        return replace(super().verify(**options), mutants=0, survivor_ratios=())

    def _mutants(self, whole: Evidence, counted: np.ndarray, worst_ratio: float) -> tuple[int, dict[str, float]]:
        return 1, {_BETWEEN: worst_ratio}


def superseded(theorem: Theorem) -> Compared:
    """The claim that a superseded bound is nowhere sharper than the new one, which holds wherever the old one does."""
    assert theorem.superseded_by is not None
    at, new = theorem.superseded_by.at, find(theorem.superseded_by.key)
    beyond = np.inf if theorem.direction == "upper" else -np.inf

    @measured_by(f"the bound of {new.key}", "arguments within their typical ranges")
    def measure(values: Values) -> Measured:
        zero = np.zeros(len(next(iter(values.values()))))
        with np.errstate(all="ignore"):
            given = {name: zero + value for name, value in at(**values).items()}
        same = Evidence(engine="", measured=zero, arguments=given)
        return np.where(same.counted(new), np.nan_to_num(same.bound(new), nan=beyond), beyond), values

    domains = {
        parameter.name: Domain(low=parameter.typical[0], high=parameter.typical[1], log=True, integer=parameter.integer)
        for parameter in theorem.parameters
    }
    reason = f"{new.key} is sharper, and all that this bound is compared with: no instance is looked at"
    return Compared(
        theorem=theorem,
        families=(Family(name="typical arguments", domains=domains, measure=measure),),
        unrefuted_conditions={name: reason for name in theorem.condition_names() if name not in IMPLIED},
        weak=Weakness(reason=reason, survivors=(_BETWEEN,)),
    )
