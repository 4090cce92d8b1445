"""Claims on the readings of each row of Theorem 2: still running, stopped at the precision, not stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...claim import Claim
from ...evidence import Evidence, Measured, measured_by
from ...family import Domain, Family, Values
from ...instances import enumerated_paths
from ...instances.aligned_pair import Aligned, columns, sharp_hitting_values, sharp_values
from ...instances.enumerated_paths import RIPPLED, Arguments, Paths, Steps, constant_steps
from ...instances.scheduled import (
    below_floor,
    decreasing_steps,
    horizon_steps,
    outside_step_limit,
    sharp_decreasing,
    sharp_horizon,
    unstopped_horizon_steps,
)
from ...widened_conditions import beyond
from .families import DECREASING, UNSTOPPED, aligned, at_precision, fades, joined, unstopped, wide
from .rates import FIRST_STEP, FLOOR, STEP


@dataclass(frozen=True, kw_only=True)
class _Row:
    """A row of Table 1: aligned pairs under its steps, where it is nearly attained, and its steps on paths."""

    name: str
    sharp: Callable[[], Values]
    reached: Callable[[], Values]
    steps: Steps
    unstopped_steps: Steps
    domains: dict[str, Domain]
    sharper: str = ""
    renewals: tuple[Family, ...] = ()

    @property
    def key(self) -> str:
        return f"adaptive/theorem-2-{self.name}"

    def outside(self, measure: Callable[[Aligned], np.ndarray]) -> dict[str, Callable[[], Evidence]]:
        """Instances just beyond the row's own condition."""
        if self.name == "horizon":
            return {FLOOR: lambda: below_floor(measure)}
        limit = STEP if self.name == "constant" else FIRST_STEP
        return {limit: lambda: outside_step_limit(measure, self.unstopped_steps)}

    def still_running(self) -> tuple[Family, ...]:
        """P(tau > T)."""
        return (
            aligned(
                Aligned.running,
                lambda: joined(at_precision(self.sharp(), self.unstopped_steps), self.reached()),
                self.unstopped_steps,
                **self.domains,
            ),
            *_both(Paths.still_running, self.steps),
            *self.renewals,
        )

    def stopped(self) -> tuple[Family, ...]:
        """E[e_min(T, tau)]: the bound's row alone, and the precision alone."""
        return (
            aligned(
                Aligned.stopped,
                lambda: joined(wide(self.sharp()), self.reached()),
                self.unstopped_steps,
                **self.domains,
            ),
            *_both(Paths.stopped, self.steps),
        )

    def unstopped(self) -> tuple[Family, ...]:
        """E[e_T]."""
        # the step for a horizon depends on p: it is stated first, and has to hold afterwards
        stated_first = self.name == "horizon"
        return (
            aligned(Aligned.excess, lambda: unstopped(self.sharp()), self.unstopped_steps, **self.domains, **UNSTOPPED),
            *(
                enumerated_paths.family(
                    Paths.excess,
                    loss=loss,
                    steps=self.unstopped_steps,
                    arguments=_as_stated if stated_first else _as_it_is,
                    hypothesis=_still_running if stated_first else None,
                    slack=Domain(low=0.02, high=3, log=True),
                )
                for loss in (enumerated_paths.QUADRATIC, RIPPLED)
            ),
        )


def _both(measure: Callable[[Paths], np.ndarray], steps: Steps) -> tuple[Family, ...]:
    return tuple(
        enumerated_paths.family(measure, loss=loss, steps=steps) for loss in (enumerated_paths.QUADRATIC, RIPPLED)
    )


def _as_stated(batch: Paths) -> Arguments:
    return batch.arguments


def _still_running(batch: Paths) -> np.ndarray:
    return batch.largest("below") <= batch.arguments["below"]


def _as_it_is(batch: Paths) -> Arguments:
    """The largest probability that a step starts below the precision, as it is."""
    return batch.arguments | {"below": batch.largest("below")}


def _reached(steps: Steps, *, T: float, **more: float) -> Values:
    """No noise, and the precision just above e_1: the path stops there, while the row's bound goes on to fall."""
    rows: list[tuple[float, ...]] = []
    for beta, kappa, r in ((1.0, 1.0, 0.1), (3.0, 1.0, 0.3), (0.5, 2.0, 0.1)):
        peer = 1e-80
        rows.append((beta, kappa, r, peer * 1e12, peer, 1.0, 1.0, 1, 1e-290, 1))
    values = columns(rows) | {name: np.full(len(rows), value) for name, value in more.items()}
    return values | {"eps": Aligned.of(values, steps).excess() * (1 + 1e-9), "T": np.full(len(rows), T)}


_ROWS = (
    _Row(
        name="constant",
        sharp=sharp_values,
        reached=sharp_hitting_values,
        steps=constant_steps,
        unstopped_steps=constant_steps,
        domains={},
    ),
    _Row(
        name="horizon",
        sharp=sharp_horizon,
        reached=lambda: _reached(horizon_steps, T=150),
        steps=horizon_steps,
        unstopped_steps=unstopped_horizon_steps,
        domains={},
    ),
    _Row(
        name="decreasing",
        sharp=sharp_decreasing,
        reached=lambda: _reached(decreasing_steps, T=20000, C=1.0001, extra=0.0),
        steps=decreasing_steps,
        unstopped_steps=decreasing_steps,
        domains=DECREASING,
        sharper="-sharp",
        renewals=(fades(longest=False),),
    ),
)


_RISING = {
    "T shifted by -1": "B_{T-1} < B_T needs e_0 below the noise floor: B_{T-1}/eps >= e_0/eps, at least 1 if the path "
    "starts, and else tau = 0"
}


def _gradient_running() -> Family:
    """P(tau_G > T)."""

    @measured_by("all paths", "three clients in dimension 1, R_i = theta^2/2 up to a factor, adaptive weights")
    def evidence(values: Values) -> Measured:
        batch = Paths(values, enumerated_paths.QUADRATIC)
        return batch.still_running_G(), batch.arguments

    return Family(
        name="paths of theta^2/2",
        domains=enumerated_paths.domains(T=Domain(low=0, high=4, integer=True)),
        measure=evidence,
        sharp=_sharp_gradient,
    )


def _sharp_gradient() -> Values:
    """Alone at eta = 1/beta; the theorem gets mu/2. T = 0: |grad R_i|^2 = G at the start. T = 1, 2: noise +-sigma."""
    rows = []
    for scale, theta0 in ((1.0, 1.0), (3.0, 0.5)):
        still = [(0, 1.0, 1.0), (0, 2.0, 1.0), (0, 1.0, 1e-6)]
        for T, low, own in (*still, (1, 1.0, 0.9), (1, 1.0, 0.01), (1, 1.0, 1e-6), (2, 1.0, 0.9)):
            slack = (low if T == 0 else own) * (1 - 1e-10)
            rows.append({"scale": scale, "theta0": theta0, "T": T, "low": low, "slack": slack, "sigma2": own})
    return enumerated_paths.alone(rows)


def claims() -> tuple[Claim, ...]:
    found = []
    for row in _ROWS:
        found.append(
            Claim.on(
                f"{row.key}-running{row.sharper}",
                *row.still_running(),
                true_variants=_RISING if row.name == "constant" else {},
                outside_conditions=row.outside(Aligned.running),
            )
        )
        found.append(Claim.on(f"{row.key}-stopped", *row.stopped(), outside_conditions=row.outside(Aligned.stopped)))
        found.append(
            Claim.on(f"{row.key}-unconditional", *row.unstopped(), outside_conditions=row.outside(Aligned.excess))
        )
    gradient = _gradient_running()
    found.append(
        Claim.on(
            "adaptive/theorem-2-constant-gradient-running",
            gradient,
            outside_conditions={STEP: beyond(gradient, ratio=1.05)},
        )
    )
    return tuple(found)
