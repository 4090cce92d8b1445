"""Claims on Theorem 3 of the adaptive paper: sums of squared gradients, and the time to a small one, without PL."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...claim import Claim
from ...family import Domain, Family, Values
from ...instances import enumerated_paths
from ...instances.aligned_pair import Aligned, columns
from ...instances.enumerated_paths import WAVE, Arguments, Paths, constant_steps
from ...instances.renewal import Renewal
from ...instances.scheduled import above_drift
from ...widened_conditions import beyond
from .families import UNSTOPPED, aligned, renewal, unstopped

_FAR = 1e12


def _row(beta: float, r: float, s2: float, e0: float, T: float, ratio: float = 1.0) -> tuple[float, ...]:
    """mu = beta, one peer of similarity r with all the weight, variance s2; never below the precision."""
    return (beta, 1.0, r, _FAR * s2 * r**2, s2 * r**2, ratio, e0, T, 1e-290, 1.0)


def _sharp() -> Values:
    """One step without noise; many steps, so that what is left at the end does not count, with noise."""
    rows = []
    for beta in (1.0, 3.0, 0.3):
        for r in (1.0, 0.4):
            rows.append(_row(beta, r, 1e-20, 2.0, 1))
            for share in (0.1, 1.0, 10.0):  # the start against the noise
                rows.append(_row(beta, r, 1.0, share * 3000 * r**2 / (2 * beta), 3000))
    return columns(rows)


def _sharp_horizon() -> Values:
    """Both branches of the step: at its limit, and the square root with eta beta T large."""
    rows = []
    for beta in (1.0, 3.0, 0.3):
        rows.append(_row(beta, 0.7, 1e-20, 2.0, 1))
        for r in (1.0, 0.4):
            rows.append(_row(beta, r, 1.0, 1.5 * 3000 * r**2 / (2 * beta), 3000))
        for r, share in ((0.001, 0.6), (0.001, 0.9)):
            eta, T = share * r / beta, 1e6
            rows.append(_row(beta, r, 1.0, eta**2 * T * beta / 2, T))
    return columns(rows)


def _little_noise() -> Values:
    """R_i = (x^2 + y^2/100)/2 from (0, 10): the step is 1/beta and y shrinks by 1 % a step."""
    rows: list[tuple[float, ...]] = [(1.0, 100.0, 1.0, 2e-8, 2e4, 1.0, 0.5, T, 1e-290, 1.0) for T in (1, 5, 50)]
    return columns(rows)


def _horizon_steps(arguments: Arguments, t: Any) -> np.ndarray:
    """min(q/beta, sqrt(2 e_0/(T beta s2)))."""
    q, beta, e0, T, s2 = (arguments[name] for name in ("q", "beta", "e0", "T", "s2"))
    return np.minimum(q / beta, np.sqrt(2 * e0 / (T * beta * s2)))


def _within_floor(arguments: Arguments, t: Any = 1) -> np.ndarray:
    return np.minimum(arguments["eta"], 0.9 * arguments["G"] / (arguments["beta"] * arguments["s2"]))


def _best_steps(arguments: Arguments, t: Any) -> np.ndarray:
    return np.minimum(arguments["q"] / arguments["beta"], arguments["G"] / (2 * arguments["beta"] * arguments["s2"]))


def _below(batch: Paths) -> Arguments:
    """The largest probability that a step starts below the level, as it is."""
    return batch.arguments | {"below": batch.largest("below_G")}


def _unconditional() -> Family:
    return enumerated_paths.family(
        Paths.mean_square, loss=WAVE, arguments=_below, slack=Domain(low=0.02, high=3, log=True)
    )


def claims() -> tuple[Claim, ...]:
    step, pairs, time = "step size eta <= q/beta", aligned(Aligned.mean_square, _sharp), renewal(Renewal.time)
    limit = {step: beyond(pairs, ratio=1.05)}
    return (
        Claim.on("adaptive/theorem-3", aligned(Aligned.mean_square, _little_noise, _horizon_steps), edition="printed"),
        Claim.on(
            "adaptive/theorem-3",
            aligned(Aligned.mean_square, _sharp_horizon, _horizon_steps),
            enumerated_paths.family(Paths.mean_square_running, loss=WAVE, steps=_horizon_steps),
        ),
        Claim.on(
            "adaptive/theorem-3-any-step",
            pairs,
            enumerated_paths.family(Paths.mean_square_running, loss=WAVE),
            outside_conditions=limit,
        ),
        Claim.on(
            "adaptive/theorem-3-unconditional",
            aligned(Aligned.mean_square, lambda: unstopped(_sharp()), constant_steps, **UNSTOPPED),
            _unconditional(),
            outside_conditions=limit,
        ),
        Claim.on(
            "adaptive/theorem-3-hitting-time",
            time,
            enumerated_paths.family(
                Paths.time_G,
                loss=WAVE,
                steps=_within_floor,
                arguments=lambda batch: batch.arguments | {"eta": _within_floor(batch.arguments)},
            ),
            outside_conditions={
                step: beyond(time, ratio=1.05),
                "noise floor eta beta s2 <= 0.9 G": lambda: above_drift(Aligned.hitting),
            },
        ),
        Claim.on(
            "adaptive/theorem-3-best-step",
            renewal(Renewal.time, best=True),
            enumerated_paths.family(Paths.time_G, loss=WAVE, steps=_best_steps),
        ),
    )
