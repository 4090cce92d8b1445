"""The claim on averaged iterates: exact second moments of their sum, which is a state of SGD itself."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from torch import Tensor

from suffice.bounds import find
from suffice.simulate import Local
from suffice.simulate.algorithms.base import Draw, State
from suffice.simulate.problem import Problem

from ..claim import Claim
from ..evidence import Evidence
from ..families import quadratics
from ..family import Family, Values
from ..problem_measure import measured_family


@dataclass(frozen=True, kw_only=True)
class SummedSGD(Local):
    """SGD of every client alone; the models traced are the sums of its iterates, the start among them.

    About a minimiser at 0, the excess of the mean of n iterates is that of their sum over n^2. The step of a sum is the
    same in every iteration, so that one probe serves them all.
    """

    name: str = "summed-sgd"

    def init(self, problem: Problem, models: Tensor) -> State:
        return {"models": models, "iterates": models}

    def step(self, problem: Problem, state: State, draw: Draw, eta: Tensor) -> State:
        (iterates,) = super().step(problem, {"models": state["iterates"]}, draw, eta).values()
        return {"models": state["models"] + iterates, "iterates": iterates}


def averaged() -> Family:
    """One quadratic in the plane, with minimiser 0, and what is expected of the mean of the iterates."""
    problems = replace(
        quadratics(longest=12, steps=1.0), movable=None
    )  # steps in units of 1/beta, also beyond the limit
    sums = measured_family(problems, find("averaged-sgd/theorem-1-finite"), SummedSGD())

    def measure(values: Values) -> Evidence:
        found = sums.evidence(values)
        return replace(found, measured=found.measured / (values["T"] + 1) ** 2)

    return replace(sums, measure=measure)


def claims() -> tuple[Claim, ...]:
    """Built on demand."""
    family = averaged()
    assert family.sharp is not None
    sharp = family.sharp()
    beyond = sharp | {"step": np.full_like(sharp["step"], 1.5)}
    limit = {"step size eta <= 1/beta": lambda: family.evidence(beyond)}
    return (Claim(theorem=find("averaged-sgd/theorem-1-finite"), families=(family,), outside_conditions=limit),)
