"""Claims on Theorem 2 of the adaptive paper: the rows of Table 1 for E[e_T 1{tau >= T}]."""

from __future__ import annotations

import numpy as np

from ...claim import Claim, Effort
from ...evidence import Evidence, Measured, measured_by
from ...family import Domain, Family, Values
from ...instances import enumerated_paths
from ...instances.aligned_pair import Aligned, sharp_values
from ...instances.enumerated_paths import RIPPLED, Paths
from ...instances.quadrature_1d import two_steps, two_steps_horizon
from ...instances.scheduled import (
    below_floor,
    best_decreasing_steps,
    decreasing_steps,
    horizon_steps,
    outside_step_limit,
    sharp_decreasing,
    sharp_horizon,
)
from .families import DECREASING, aligned

STEP, FIRST_STEP = "step size eta <= q/beta", "first step C/(mu (1 + gamma)) <= q/beta"
FLOOR = "floor beta s2/(2 mu^2 T) <= e0"


@measured_by("bisection", "step sizes alone")
def _offset(values: Values) -> Measured:
    """The least gamma with C/(mu (t + gamma)) <= q/beta at t = 1, 2, ..., 50, by bisection."""
    t = np.arange(1, 51)[:, None]
    low, high = np.zeros_like(values["C"]), np.full_like(values["C"], 1e9)
    for _ in range(200):
        middle = (low + high) / 2
        fits = (values["C"] / (values["mu"] * (t + middle)) <= values["q"] / values["beta"]).all(0)
        low, high = np.where(fits, low, middle), np.where(fits, middle, high)
    return high, values


_OFFSETS = Family(
    name="decreasing steps",
    domains={
        "C": Domain(low=1.001, high=5),
        "mu": Domain(low=0.001, high=1, log=True),
        "beta": Domain(low=1, high=10, log=True),
        "q": Domain(low=0.01, high=1, log=True),
    },
    measure=_offset,
)


def _decreasing_at_best() -> Values:
    return {name: value for name, value in sharp_decreasing().items() if name not in DECREASING}


def _impossible(effort: Effort, root: int) -> list[Evidence]:
    """Row 3 as printed: gamma = 0. No first step C/mu is within its limit, whatever the instance."""
    batch = Aligned.of(sharp_decreasing(), decreasing_steps)
    return [Evidence(engine="closed-form law", measured=batch.excess(), arguments=batch.arguments())]


def claims() -> tuple[Claim, ...]:
    constant, horizon, decreasing = (f"adaptive/theorem-2-{row}" for row in ("constant", "horizon", "decreasing"))
    return (
        Claim.on(constant, edition="printed", exact=lambda effort, root: [two_steps()]),
        Claim.on(
            constant,
            aligned(Aligned.excess, sharp_values),
            enumerated_paths.family(Paths.while_running),
            enumerated_paths.family(Paths.while_running, loss=RIPPLED),
            outside_conditions={STEP: lambda: outside_step_limit(Aligned.excess)},
        ),
        Claim.on(horizon, edition="printed", exact=lambda effort, root: [two_steps_horizon()]),
        Claim.on(
            horizon,
            aligned(Aligned.excess, sharp_horizon, horizon_steps),
            enumerated_paths.family(Paths.while_running, steps=horizon_steps),
            enumerated_paths.family(Paths.while_running, steps=horizon_steps, loss=RIPPLED),
            outside_conditions={FLOOR: lambda: below_floor(Aligned.excess)},
        ),
        Claim.on(decreasing, edition="printed", exact=_impossible),
        Claim.on(
            decreasing,
            aligned(Aligned.excess, sharp_decreasing, decreasing_steps, **DECREASING),
            enumerated_paths.family(Paths.while_running, steps=decreasing_steps),
            enumerated_paths.family(Paths.while_running, steps=decreasing_steps, loss=RIPPLED),
            outside_conditions={
                FIRST_STEP: lambda: outside_step_limit(Aligned.excess, decreasing_steps),
            },
        ),
        Claim.on("adaptive/theorem-2-offset", _OFFSETS),
        Claim.on(
            "adaptive/theorem-2-decreasing-best",
            aligned(Aligned.excess, _decreasing_at_best, best_decreasing_steps),
            enumerated_paths.family(Paths.while_running, steps=best_decreasing_steps),
        ),
    )
