"""Claims on Corollary 1 of the adaptive paper: the time to the precision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...claim import Claim, Effort
from ...evidence import Evidence
from ...family import Family, Values
from ...instances import enumerated_paths
from ...instances.aligned_pair import Aligned, columns, sharp_hitting_values
from ...instances.enumerated_paths import RIPPLED, Arguments, Paths, Steps
from ...instances.renewal import Renewal
from ...instances.scheduled import above_drift, decreasing_steps, outside_step_limit, sharp_decreasing
from ...widened_conditions import beyond
from .families import CONFIDENCE, DECREASING, aligned, at_precision, fades, renewal
from .rates import FIRST_STEP, STEP

# --- Constant step ---------------------------------------------------------------------------------------------


def _within_floor(arguments: Arguments, t: Any = 1) -> np.ndarray:
    """Steps within both limits of Corollary 1."""
    return np.minimum(
        arguments["eta"], 1.8 * arguments["mu"] * arguments["eps"] / (arguments["beta"] * arguments["s2"])
    )


def _best_steps(arguments: Arguments, t: Any) -> np.ndarray:
    return np.minimum(
        arguments["q"] / arguments["beta"], arguments["mu"] * arguments["eps"] / (arguments["beta"] * arguments["s2"])
    )


def _hitting(batch: Paths) -> Arguments:
    return batch.arguments | {"eta": _within_floor(batch.arguments)}


def _given(batch: Paths) -> Arguments:
    return batch.arguments


def _on_paths(
    measure: Callable[[Paths], np.ndarray],
    steps: Steps = _within_floor,
    arguments: Callable[[Paths], Arguments] = _hitting,
    **change: Any,
) -> tuple[Family, ...]:
    return tuple(
        enumerated_paths.family(measure, loss=loss, steps=steps, arguments=arguments, **change)
        for loss in (enumerated_paths.QUADRATIC, RIPPLED)
    )


# --- Iterations at a confidence: the last t with P(tau > t) > delta ---------------------------------------------


def _last(batch: Paths) -> np.ndarray:
    """The last t <= T with P(tau > t) > delta, on paths."""
    return batch.last(lambda record: record["still_running"] > batch.values["delta"][:, None])


def _last_above(batch: Paths) -> np.ndarray:
    """The last t <= T with E[e_t 1{tau >= t}] > eps, or with E[e_min(t, tau)] > 2 eps, which follows, on paths."""
    eps = batch.arguments["eps"][:, None]
    return batch.last(lambda record: (record["while_running"] > eps) | (record["stopped"] > 2 * eps))


def _confident_paths(
    steps: Steps,
    measure: Callable[[Paths], np.ndarray] = _last,
    arguments: Callable[[Paths], Arguments] = _given,
) -> tuple[Family, ...]:
    return _on_paths(
        measure, steps, lambda batch: arguments(batch) | {"delta": batch.values["delta"]}, delta=CONFIDENCE
    )


def _nearly_sure(values: Values) -> Values:
    """delta just below 1: how long the path runs for certain."""
    return values | {"delta": np.full(len(values["T"]), 1 - 1e-3)}


def _sharp_confidence() -> Values:
    """Small contractions: without noise; and in high dimension, noise at half of the precision, from close above it."""
    rows: list[tuple[float, ...]] = []
    far = 1e12
    for beta, kappa, r in ((1.0, 1.0, 0.001), (3.0, 1.0, 0.003), (0.3, 1.0, 0.003), (1.0, 2.0, 0.005)):
        rows.append((beta, kappa, r, far * 1e-40, 1e-40, 1.0, np.e, 3000, 1.0, 1))
    for beta, x, floor in ((1.0, 0.0005, 0.5), (3.0, 0.0005, 0.8), (0.3, 0.0005, 0.2)):
        s2 = 2 * floor * beta / x  # eta = x/beta, mu = beta
        rows.append((beta, 1.0, x, far * s2 * x**2, s2 * x**2, 1.0, 1.02, 1000, 1.0, 1e16))
    return _nearly_sure(columns(rows))


def _sharp_decreasing_confidence() -> Values:
    """Decreasing steps: the start with C near 1, gamma large; and noise, e_T at the precision."""
    return _nearly_sure(at_precision(sharp_decreasing(), decreasing_steps))


def _impossible(effort: Effort, root: int) -> list[Evidence]:
    """The printed steps C/(mu t): no first step is within its limit."""
    batch = Aligned.of(_sharp_decreasing_confidence(), decreasing_steps)
    return [Evidence(engine="closed-form law", measured=batch.last_above(), arguments=batch.arguments())]


_SURE = 0.999


def _surely(batch: Aligned) -> np.ndarray:
    """The last t <= T with P(tau > t) > 0.999."""
    return replace(batch, delta=_SURE).last_running()


def _confident(evidence: Evidence) -> Evidence:
    return replace(evidence, arguments={**evidence.arguments, "delta": np.full_like(evidence.measured, _SURE)})


def _at_the_best_step() -> Family:
    """Precisions for which the step is the best one: mu eps = eta beta s2, or any above it where it is at its limit."""
    like = aligned(Aligned.hitting, sharp_hitting_values)

    def measure(values: Values) -> Evidence:
        batch = Aligned.of(values)
        floor = batch.eta * batch.beta * batch.s2 / batch.mu
        eps = np.where(values["ratio"] == 1, np.maximum(values["eps"], floor), floor)
        return like.evidence(values | {"eps": eps})

    return replace(like, measure=measure)


FLOOR, _START = "noise floor eta beta s2 <= 1.8 mu eps", "start above the precision, eps <= e0"
_BELOW = {_START: "below it tau = 0, and the bound is not negative before e_0 = eps/e, which is further away"}


def claims() -> tuple[Claim, ...]:
    return *_at_decreasing_steps(), *_at_a_constant_step()


def _at_decreasing_steps() -> tuple[Claim, ...]:
    return (
        Claim.on("adaptive/corollary-1", edition="printed", exact=_impossible),
        Claim.on(
            "adaptive/corollary-1",
            aligned(Aligned.last_above, _sharp_decreasing_confidence, decreasing_steps, **DECREASING, delta=CONFIDENCE),
            *_confident_paths(decreasing_steps, _last_above),
            outside_conditions={FIRST_STEP: lambda: outside_step_limit(Aligned.last_above, decreasing_steps)},
        ),
        Claim.on(
            "adaptive/corollary-1-decreasing-confidence-sharp",
            aligned(
                Aligned.last_running, _sharp_decreasing_confidence, decreasing_steps, **DECREASING, delta=CONFIDENCE
            ),
            *_confident_paths(decreasing_steps),
            fades(longest=True),
            outside_conditions={FIRST_STEP: lambda: _confident(outside_step_limit(_surely, decreasing_steps))},
        ),
    )


def _at_a_constant_step() -> tuple[Claim, ...]:
    still, time, last = (renewal(measure) for measure in (Renewal.still_running, Renewal.time, Renewal.last_running))
    return (
        Claim.on(
            "adaptive/corollary-1-probability",
            aligned(Aligned.running, sharp_hitting_values),
            still,
            *_on_paths(Paths.still_running),
            outside_conditions={STEP: beyond(still, ratio=1.05)},
            unrefuted_conditions={
                FLOOR: "the proof needs no drift; where it is negative the bound is at least 1",
                _START: "below it tau = 0, and the probability is 0",
            },
        ),
        Claim.on(
            "adaptive/corollary-1-expected-time",
            aligned(Aligned.hitting, sharp_hitting_values),
            time,
            *_on_paths(Paths.time),
            outside_conditions={
                STEP: beyond(time, ratio=1.05),
                FLOOR: lambda: above_drift(Aligned.hitting),
            },
            unrefuted_conditions=_BELOW,
        ),
        Claim.on(
            "adaptive/corollary-1-confidence",
            aligned(Aligned.last_running, _sharp_confidence, delta=CONFIDENCE),
            last,
            *_confident_paths(_within_floor, arguments=_hitting),
            outside_conditions={
                STEP: beyond(last, ratio=1.05),
                FLOOR: lambda: _confident(above_drift(_surely)),
            },
            unrefuted_conditions={_START: "below it tau = 0, and no iteration is needed"},
        ),
        Claim.on(
            "adaptive/corollary-1-best-step",
            _at_the_best_step(),
            renewal(Renewal.time, best=True),
            *_on_paths(Paths.time, _best_steps, _given),
            unrefuted_conditions=_BELOW,
        ),
    )
