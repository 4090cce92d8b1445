"""Claims on the project's own sharp results."""

from __future__ import annotations

from ..claim import Claim
from ..instances import quadratic_pairs, worst_path, worst_step
from ..instances.enumerated_paths import QUADRATIC, WAVE
from ..instances.quadratic_pairs import Pairs


def _quadratics() -> tuple[Claim, ...]:
    return (
        Claim.on(
            "worst-case/quadratic-certificate",
            quadratic_pairs.measured(Pairs.certificate, Pairs.largest_ratio_on_circle, features=2),
            equality=1e-10,
        ),
        Claim.on(
            "worst-case/quadratic-norms",
            quadratic_pairs.measured(Pairs.property_1, Pairs.largest_ratio_on_circle, features=2),
        ),
        Claim.on(
            "worst-case/quadratic-excess",
            quadratic_pairs.measured(Pairs.excess, Pairs.largest_ratio_at_excess, features=2),
        ),
    )


def _one_step() -> tuple[Claim, ...]:
    sharp = worst_step.sharp_weights()
    limit = "step limit gradient^2 sharp_mass <= 1 + gradient^2 agreement"
    return (
        Claim.on(
            "worst-case/one-step",
            worst_step.weighted(QUADRATIC),
            worst_step.weighted(WAVE),
        ),
        Claim.on(
            "worst-case/sharp-step",
            sharp,
            outside_conditions={limit: lambda: sharp.evidence(worst_step.sharp_attained(3.0))},
        ),
    )


def _many_steps() -> tuple[Claim, ...]:
    turned, floors = worst_path.rotated_gradients(), worst_path.floors()
    limit = "step size eta <= 2/(beta (2 weight - pull) + mu pull)"
    return (
        Claim.on(
            "worst-case/contraction",
            turned,
            worst_path.bent(),
            outside_conditions={limit: lambda: turned.evidence(worst_path.turned_attained(1.2))},
        ),
        Claim.on(
            "worst-case/noise-floor",
            floors,
            outside_conditions={
                "step size eta <= 1/(beta pull)": lambda: floors.evidence(worst_path.floors_attained(1.2))
            },
        ),
    )


def claims() -> tuple[Claim, ...]:
    return (*_quadratics(), *_one_step(), *_many_steps())
