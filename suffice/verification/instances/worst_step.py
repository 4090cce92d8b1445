"""One step of All-for-one with given weights: what the worst case of one step is compared with.

Every outcome of `one_step` is tried, of a quadratic and of 1 - cos along one axis, which is not convex. The worst loss
has curvature beta along the gradient, and the worst peers have gaps along it.
"""

from __future__ import annotations

import numpy as np

from ..evidence import Measured, measured_by
from ..family import Domain, Family, Values
from .enumerated_paths import QUADRATIC, Loss
from .one_step import DOMAINS, OneStep, instances

_ROUNDING = 1e-14
"""The rounding of the difference of two excesses of size 1."""
_DOMAINS = DOMAINS | {"apart": Domain(low=-0.5, high=0.5, shape=(2, 2))}


def _measured(batch: OneStep) -> Measured:
    """E[e_t] - e_{t-1} + |grad R_i|^2/(2 beta), the arguments of one-step and sharp-step. p_k = 1 - sqrt(1 - r_k)."""
    given, p, sigma2 = batch.arguments(), 1 - np.sqrt(1 - batch.similarity), batch.values["sigma2"]
    given |= {"pull": (batch.alpha * p).sum(-1), "agreement": (p**2 / sigma2).sum(-1)}
    given["sharp_mass"] = (p / sigma2).sum(-1)
    measured = batch.expected_excess() - given["e0"] + given["gradient"] ** 2 / (2 * given["beta"])
    near = (batch.gap2 <= (1 - batch.similarity) * given["gradient"][:, None] ** 2 * (1 + 1e-12)).all(1)
    return measured, given, {"hypothesis": near}


def weighted(loss: Loss) -> Family:
    """Any weights; `ratio` is eta beta sum_k alpha_k."""

    @measured_by("all outcomes", f"one step in the plane, R_i = {loss.name} along one axis", rounding=_ROUNDING)
    def measure(values: Values) -> Measured:
        return _measured(OneStep(values, loss))

    domains = _DOMAINS | {"ratio": Domain(low=0.02, high=2.5)}
    sharp = _attained if loss is QUADRATIC else None
    return Family(name=f"one step on {loss.name}", domains=domains, measure=measure, sharp=sharp)


def _attained() -> Values:
    """Curvature beta and gaps along the gradient: against it when eta beta A <= 1, with it beyond; noise or none."""
    scales = ((1.0, 1.0, 1e-3), (0.3, 0.4, 1.0), (4.0, 3.0, 1e-3), (4.0, 0.1, 10.0))
    return instances(*(
        {"ratio": length, "factor": 1 + (1 if length > 1 else -1) * np.sqrt(1 - r), "alpha": [0.5, 1.0, 0.25],
         "beta": beta, "theta": [gradient / beta, 0.0], "sigma2": sigma2}
        for length in (0.1, 0.5, 0.9, 1.0, 1.1, 1.6, 2.2) for r in (0.0, 0.3, 0.9, 1.0)
        for beta, gradient, sigma2 in scales
    ))  # fmt: skip


def sharp_weights() -> Family:
    """Quadratics and the weights of worst-case/sharp-step, alpha_k = G p_k / (beta sigma_k^2 (1 + G Y)) with eta = 1.

    `ratio` is G over its largest admissible value 1/(Z - Y), Z = sum_k p_k/sigma_k^2: the variances are scaled to it.
    """

    @measured_by("all outcomes", "one step with the sharp weights in the plane", rounding=_ROUNDING)
    def measure(values: Values) -> Measured:
        given, beta = OneStep(values, QUADRATIC), values["beta"]
        p, G = 1 - np.sqrt(1 - given.similarity), (given.gradients[:, 0] ** 2).sum(-1)
        Y, Z = ((p**power / values["sigma2"]).sum(-1) for power in (2, 1))
        scale = G * np.maximum(Z - Y, 0.05 * Z) / values["ratio"]
        sigma2 = scale[:, None] * values["sigma2"]
        alpha = (G / (beta * (1 + G * Y / scale)))[:, None] * p / sigma2
        told = {"sigma2": sigma2, "alpha": alpha, "ratio": beta * alpha.sum(-1)}
        return _measured(OneStep({**values, **told}, QUADRATIC))

    domains = _DOMAINS | {"ratio": Domain(low=0.02, high=1, log=True)}
    return Family(name="one step with the sharp weights", domains=domains, measure=measure, sharp=sharp_attained)


def sharp_attained(room: float | None = None) -> Values:
    """Curvature beta and gaps against the gradient, or with it beyond the step limit."""
    return instances(*(
        {"ratio": at, "beta": beta, "theta": [gradient / beta, 0.0], "sigma2": np.array([1.0, 0.5, 3.0]),
         "factor": 1 + (1 if at > 1 else -1) * np.sqrt(1 - r)}
        for at in ((0.05, 0.5, 1 - 1e-9) if room is None else (room,)) for r in (0.1, 0.6, 0.99)
        for beta, gradient in ((0.3, 1.0), (1.0, 0.2), (4.0, 5.0))
    ))  # fmt: skip
