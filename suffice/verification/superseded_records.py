"""Superseded records against the sharper ones, at arguments within the typical ranges of their parameters.

What a loose bound allows no measurement sees: a constant in it may be wrong by a tenth and the bound still true, or
false where no instance is. So a superseded record says what its bound is in terms of the sharper one, which instances
hold to: the two are equal, and the sharper one is nowhere above.
"""

from __future__ import annotations

import numpy as np

from suffice.bounds import Theorem, find

from .claim import Claim
from .evidence import AGREEMENT, Evidence, Measured, measured_by
from .family import Domain, Family, Values


def superseded(theorem: Theorem) -> Claim:
    """The claim that a superseded bound is to the sharper one as its record says, and has no wider conditions."""
    sharper = theorem.superseded_by
    assert sharper is not None
    new = find(sharper.key)
    assert new.bound is not None
    bound, upper = new.bound, theorem.direction == "upper"
    beyond = np.inf if upper else -np.inf

    @measured_by(f"the bound of {new.key}", "arguments within their typical ranges")
    def measure(values: Values) -> Measured:
        zero = np.zeros(len(next(iter(values.values()))))
        with np.errstate(all="ignore"):
            given = {name: zero + value for name, value in sharper.at(**values).items()}
            same = np.nan_to_num(zero + sharper.restated(bound, values), nan=beyond)
        there = Evidence(engine="", measured=zero, arguments=given)
        nearest = (np.maximum if upper else np.minimum)(same, np.nan_to_num(there.bound(new), nan=beyond))
        return np.where(there.counted(new), nearest, beyond), values

    domains = {
        parameter.name: Domain(low=parameter.typical[0], high=parameter.typical[1], log=True, integer=parameter.integer)
        for parameter in theorem.parameters
    }
    reason = f"{new.key} is sharper, and all that this bound is compared with: no instance is looked at"
    return Claim(
        theorem=theorem,
        families=(Family(name="typical arguments", domains=domains, measure=measure),),
        equality=AGREEMENT,
        unrefuted_conditions=dict.fromkeys(theorem.condition_names(), reason),
    )
