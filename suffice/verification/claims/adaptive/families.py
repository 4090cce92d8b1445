"""Families that several groups of the adaptive paper's claims share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...evidence import Measured, measured_by
from ...family import Domain, Family, Values
from ...instances.aligned_pair import CRITERION, Aligned
from ...instances.enumerated_paths import Steps, constant_steps
from ...instances.recursions import by_length
from ...instances.renewal import DOMAINS, FADING, Renewal, fading, sharp_fading
from ...instances.renewal import sharp as sharp_renewal
from ...measurement_cache import cached

ALIGNED = {
    "beta": Domain(low=0.25, high=4, log=True),
    "kappa": Domain(low=1, high=3),
    "low": Domain(low=1, high=2),
    "r": Domain(low=0.01, high=1, log=True),
    "sigma2_i": Domain(low=0.1, high=1e6, log=True),
    "sigma2_k": Domain(low=0.001, high=10, log=True),
    "ratio": Domain(low=0.1, high=1),
    "e0": Domain(low=1, high=10, log=True),
    "eps": Domain(low=0.001, high=1, log=True),
    "T": Domain(low=1, high=40, integer=True),
    "d": Domain(low=1, high=1e8, log=True),
}
UNSTOPPED = {"below": Domain(low=0, high=1, integer=True), "gain": Domain(low=0.1, high=1)}
"""The bound is told that no step, or that every step, starts below the precision."""
CONFIDENCE = Domain(low=0.02, high=1)
DECREASING = {"C": Domain(low=1.01, high=3), "extra": Domain(low=0, high=2)}


def aligned(
    measure: Callable[[Aligned], np.ndarray],
    sharp: Callable[[], Values],
    steps: Steps = constant_steps,
    **more: Domain,
) -> Family:
    """Aligned pairs of clients under a row of Table 1."""

    @measured_by("closed-form law", f"aligned pair, {CRITERION.kind} weights")
    def evidence(values: Values) -> Measured:
        return _measured(values, steps, measure)

    return Family(name="aligned pairs", domains=ALIGNED | more, measure=evidence, sharp=sharp)


@cached
def _measured(values: Values, steps: Steps, measure: Callable[[Aligned], np.ndarray]) -> Measured:
    batch, measured = Aligned.of(values, steps), np.empty(len(values["T"]))
    arguments = batch.arguments() | ({"delta": values["delta"]} if "delta" in values else {})
    for rows in by_length(values["T"]):
        measured[rows] = measure(Aligned.of({name: value[rows] for name, value in values.items()}, steps))
    return measured, arguments


def renewal(measure: Callable[[Renewal], np.ndarray], *, best: bool = False) -> Family:
    """Clients that stand still or stop."""

    @measured_by("renewal", "a client that stands still or stops, one peer with all the weight")
    def evidence(values: Values) -> Measured:
        batch = Renewal(values, best=best)
        return measure(batch), batch.arguments, {"hypothesis": batch.possible}

    return Family(name="renewals", domains=DOMAINS, measure=evidence, sharp=sharp_renewal)


def fades(*, longest: bool) -> Family:
    """Renewals under decreasing steps: the last t with P(tau > t) > delta, or P(tau > T)."""

    @measured_by("renewal", "a client that stands still or stops, decreasing steps, one peer with all the weight")
    def evidence(values: Values) -> Measured:
        return fading(values, longest=longest)

    return Family(name="renewals under decreasing steps", domains=FADING, measure=evidence, sharp=sharp_fading)


def joined(*parts: Values) -> Values:
    """Several lists of instances as one."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def wide(values: Values) -> Values:
    """The same instances in high dimension, where e_t stays at its mean."""
    return values | {"d": np.full(len(values["T"]), 1e14)}


def at_precision(values: Values, steps: Steps) -> Values:
    """The same instances with eps just below E[e_T]: in high dimension tau > T with probability near 1."""
    return wide(values) | {"eps": _measured(values, steps, Aligned.excess)[0] * (1 - 1e-4)}


def unstopped(values: Values) -> Values:
    """The same instances, once said to start no step below the precision and once every step.

    In the last ones V_max, which is never met, is so large that a bound which took it for s2 would leave its range.
    """
    count = len(values["T"])
    stated = {"below": np.repeat([0.0, 1.0, 0.0], count), "gain": np.repeat([0.5, 0.5, 1e-10], count)}
    return joined(values, values, values) | stated
