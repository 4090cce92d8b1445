"""The claim on averaged iterates: exact second moments of their sum, which is a state of SGD itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from suffice.bounds import find

from ..claim import Claim
from ..families import quadratics
from ..family import Family
from ..problem_measure import measured_family


def averaged() -> Family:
    """One quadratic in the plane; steps in units of 1/beta, also beyond the limit."""
    problems = replace(quadratics(longest=12, steps=1.0), movable=None)
    return measured_family(problems, find("averaged-sgd/theorem-1-finite"))


def claims() -> tuple[Claim, ...]:
    family = averaged()
    assert family.sharp is not None
    sharp = family.sharp()
    beyond = sharp | {"step": np.full_like(sharp["step"], 1.5)}
    limit = {"step size eta <= 1/beta": lambda: family.evidence(beyond)}
    # 1 - (1 - x)^n <= n x for x <= 1: the square is of a number at most 1, and without it the bound is weaker
    return (
        Claim.on(
            "averaged-sgd/theorem-1-finite",
            family,
            outside_conditions=limit,
            true_variants={"square /0/0 forgotten": "the square is of a number at most 1"},
        ),
    )
