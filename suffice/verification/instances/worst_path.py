"""Paths of All-for-one with peers of fixed similarity: instances for the exact contraction and the exact noise floor.

Weights alpha are constant and grad R_k = grad R_i + sqrt(1 - r_k) |grad R_i| u_k at every model, so that r_k never
changes; A_- = sum_k alpha_k (1 - sqrt(1 - r_k)).
"""

from __future__ import annotations

import numpy as np

from ..evidence import Measured, measured_by
from ..family import Domain, Family, Values
from .recursions import affine, repeated
from .rows import plain, rows

PEERS = 3

_CONTRACTION = {
    "mu": Domain(low=0.1, high=10, log=True),
    "kappa": Domain(low=1, high=30, log=True),
    "alpha": Domain(low=0.01, high=1, shape=(PEERS,)),
    "r": Domain(low=0.05, high=1, shape=(PEERS,)),
    "ratio": Domain(low=0.05, high=1),
    "T": Domain(low=1, high=12, integer=True),
    "reach": Domain(low=0, high=1, shape=(PEERS,)),
}
"""`ratio` is the step over its limit, `reach` the length of u_k."""


def _arguments(values: Values) -> dict[str, np.ndarray]:
    """Arguments of worst-case/contraction but e0."""
    mu, beta = values["mu"], values["mu"] * values["kappa"]
    weight = values["alpha"].sum(-1)
    pull = (values["alpha"] * (1 - np.sqrt(1 - values["r"]))).sum(-1)
    eta = values["ratio"] * 2 / (beta * (2 * weight - pull) + mu * pull)
    return {"eta": eta, "mu": mu, "beta": beta, "weight": weight, "pull": pull, "T": values["T"]}


def rotated_gradients() -> Family:
    """Quadratics in the plane; u_k is grad R_i / |grad R_i| turned by an angle of its own. The path is linear."""

    @measured_by("exact", "quadratic in R^2, peers' gradients at fixed angles")
    def measure(values: Values) -> Measured:
        arguments = _arguments(values)
        axes = arguments["mu"][:, None] * values["kappa"][:, None] ** values["curvature"]
        cos, sin = np.cos(values["angle"]), np.sin(values["angle"])
        turn = np.stack((np.stack((cos, -sin), -1), np.stack((sin, cos), -1)), -2)  # (n, K, 2, 2)
        gap = values["alpha"] * values["reach"] * np.sqrt(1 - values["r"])
        mixed = arguments["weight"][:, None, None] * np.eye(2) + (gap[..., None, None] * turn).sum(1)
        step = np.eye(2) - arguments["eta"][:, None, None] * mixed * axes[:, None]
        theta = np.stack((np.cos(values["start"]), np.sin(values["start"])), -1)
        e0 = (axes * theta**2).sum(-1) / 2
        theta = repeated(step, theta, values["T"])
        return (axes * theta**2).sum(-1) / 2, arguments | {"e0": e0}

    return Family(name="peers at fixed angles", domains=_TURNED, measure=measure, sharp=turned_attained)


_TURNED = _CONTRACTION | {
    "curvature": Domain(low=0, high=1, shape=(2,)),
    "start": Domain(low=0, high=np.pi),
    "angle": Domain(low=-np.pi, high=np.pi, shape=(PEERS,)),
}


def turned_attained(ratio: float | None = None) -> Values:
    """Curvature mu and u_k against the gradient; at the step limit also curvature beta and u_k along it."""
    return rows(
        plain(_TURNED, alpha=[0.5, 1.0, 0.25], reach=1),
        *({"mu": mu, "kappa": kappa, "r": [1, r, r], "ratio": at, "T": T, "curvature": end,
           "angle": 0 if end else np.pi}
          for mu, kappa in ((1.0, 1.0), (0.3, 4.0), (2.0, 20.0)) for r in (0.1, 0.6, 1.0)
          for at in ((0.1, 0.7, 1.0) if ratio is None else (ratio,)) for T in (1, 2, 6)
          for end in ((0, 1) if at >= 1 else (0,))),
    )  # fmt: skip


def bent() -> Family:
    """Dimension 1, curvature beta up to a kink and mu beyond (no quadratic); grad R_k is a multiple of grad R_i."""

    @measured_by("exact", "loss of two curvatures in dimension 1, peers R_k = c_k R_i")
    def measure(values: Values) -> Measured:
        arguments = _arguments(values)
        mu, beta, kink = arguments["mu"], arguments["beta"], values["kink"]
        factor = (values["alpha"] * (1 + values["sign"] * values["reach"] * np.sqrt(1 - values["r"]))).sum(-1)

        def excess(theta: np.ndarray) -> np.ndarray:
            inside = np.minimum(np.abs(theta), kink)
            return mu * theta**2 / 2 + (beta - mu) * (inside**2 / 2 + kink * (np.abs(theta) - inside))

        theta = np.ones_like(mu)
        e0 = excess(theta)
        for t in range(int(values["T"].max(initial=0))):
            slope = mu * theta + (beta - mu) * np.clip(theta, -kink, kink)
            theta = np.where(t < values["T"], theta - arguments["eta"] * factor * slope, theta)
        return excess(theta), arguments | {"e0": e0}

    more = {"kink": Domain(low=0.01, high=1, log=True), "sign": Domain(low=-1, high=1, shape=(PEERS,))}
    return Family(name="losses of two curvatures", domains=_CONTRACTION | more, measure=measure)


def floors() -> Family:
    """Quadratics in R^3 and peers R_k = c_k R_i; `ratio` is eta beta A_-.

    Their sum under the weights is the client's own gradient times A_-, with noise of variance V: along an axis of
    curvature a, E[theta^2] shrinks by (1 - eta A_- a)^2 a step, and grows by eta^2 times the variance there.
    """

    @measured_by("exact moments", "quadratic in R^3, aligned peers")
    def measure(values: Values) -> Measured:
        told = {name: values[name] for name in ("mu", "pull", "e0", "V", "T")}
        beta, (mu, pull, e0, V, T) = values["mu"] * values["kappa"], (value[:, None] for value in told.values())
        eta = values["ratio"] / (beta * values["pull"])
        axes = mu * values["kappa"][:, None] ** values["curvature"]
        start, spread = (values[name] / values[name].sum(-1, keepdims=True) for name in ("start", "spread"))
        kept, noise = (1 - eta[:, None] * pull * axes) ** 2, eta[:, None] ** 2 * V * spread * axes / 2
        parts = affine(kept.ravel(), noise.ravel(), (e0 * start).ravel(), (T + 0 * axes).ravel())
        return parts.reshape(-1, 3).sum(-1), told | {"eta": eta, "beta": beta}

    return Family(name="aligned peers with noise", domains=_FLOORS, measure=measure, sharp=floors_attained)


_FLOORS = {
    "mu": Domain(low=0.1, high=10, log=True),
    "kappa": Domain(low=1, high=100, log=True),
    "pull": Domain(low=0.1, high=3, log=True),
    "ratio": Domain(low=0.02, high=1),
    "T": Domain(low=1, high=40, integer=True),
    "e0": Domain(low=0.01, high=100, log=True),
    "V": Domain(low=0.01, high=100, log=True),
    "curvature": Domain(low=0, high=1, shape=(3,)),
    "start": Domain(low=0.001, high=1, shape=(3,)),
    "spread": Domain(low=0.001, high=1, shape=(3,)),
}


def floors_attained(ratio: float | None = None) -> Values:
    """The start along curvature mu and the noise along curvature beta; beyond the step limit the start along beta."""
    return rows(
        plain(_FLOORS, curvature=[0, 0.5, 1], spread=[0, 0, 1]),
        *({"mu": mu, "kappa": kappa, "pull": pull, "ratio": at, "T": T, "e0": e0, "V": V,
           "start": [1, 0, 0] if at <= 1 else [0, 0, 1]}
          for mu, kappa in ((1.0, 1.0), (1.0, 1.2), (0.3, 5.0), (0.02, 100.0)) for pull in (0.3, 2.0)
          for at in ((0.1, 0.6, 1.0) if ratio is None else (ratio,)) for T in (1, 4, 40)
          for e0, V in ((1.0, 1e-3), (1.0, 2.0), (1e-3, 4.0))),
    )  # fmt: skip
