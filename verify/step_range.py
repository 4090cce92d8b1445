"""How far the check of one's own bound reaches: the steps that its conditions allow, and in words what was tried."""

from __future__ import annotations

import numpy as np

from suffice.bounds import Theorem
from suffice.simulate import Algorithm

from .evidence import Evidence
from .families import ProblemFamily, quadratics
from .family import Family
from .verdict import Verdict

LARGEST_STEP = 4.0
"""In units of 1/beta, for bounds whose conditions do not limit the step: gradient descent diverges beyond 2/beta."""


def largest_step(theorem: Theorem) -> float:
    """The largest step size in units of 1/beta that the conditions allow on some instance; at most `LARGEST_STEP`."""
    probe = quadratics(steps=LARGEST_STEP)
    assert probe.sharp is not None
    batches = (probe.sharp(), Family(name=probe.name, domains=probe.domains).draw(32, seed=0))
    settings = [
        probe.setting({name: value[at] for name, value in values.items()})
        for values in batches
        for at in range(len(values["T"]))
    ]
    arguments = {name: np.array([row.arguments[name] for row in settings]) for name in settings[0].arguments}
    if any(parameter.name not in arguments for parameter in theorem.parameters):
        return 1.0  # refused with its name when the family is measured

    def allowed(step: float) -> bool:
        at = arguments | {"eta": step / arguments["beta"]}
        return bool(Evidence(engine="", measured=at["eta"], arguments=at).counted(theorem).any())

    grid = LARGEST_STEP * 2.0 ** (-np.arange(97) / 4)
    first = next((at for at, step in enumerate(grid) if allowed(step)), None)
    if first is None:
        return 1.0  # nothing will meet the hypotheses
    if first == 0:
        return LARGEST_STEP
    low, high = float(grid[first]), float(grid[first - 1])
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if allowed(middle) else (low, middle)
    short = float(f"{low:.6g}")  # bisection ends within the rounding that conditions forgive
    return short if abs(short - low) <= 1e-12 * low and allowed(short) else low


def tried(problems: ProblemFamily, algorithm: Algorithm, verdict: Verdict) -> str:
    """What the instances that met the hypotheses reached, in words."""
    ranges = dict(verdict.ranges)
    if "eta beta" in ranges:
        low, high = ranges.pop("eta beta")
        ranges.pop("eta")
        ranges = {"eta": (low, high)} | ranges
    parts = []
    for name, (low, high) in ranges.items():
        unit = "/beta" if name == "eta" and "eta beta" in verdict.ranges else ""
        one, two = f"{low:.3g}{unit}", f"{high:.3g}{unit}"
        parts.append(f"{name} = {one}" if one == two else f"{name} = {one} to {two}")
    none = "" if verdict.instances else ", of which none meets the hypotheses"
    return f"{algorithm.name} on {problems.name}, {', '.join(parts)}{none}"
