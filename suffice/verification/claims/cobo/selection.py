"""Client selection near the centres: the noise-free algorithm itself, run on f_i = a_i |x - m_i|^2 / 2 in the plane."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from suffice.bounds import Theorem, find

from ...claim import Claim
from ...evidence import Measured, measured_by
from ...family import Domain, Family, Values
from ...instances.rows import plain, rows
from ...widened_conditions import beyond

LONGEST = 400
"""Updates after which a weight that is still positive is counted as if it vanished now."""


def mirrored(theorem: Theorem) -> Theorem:
    """The upper bound of a negative number as a lower bound of its opposite: ratios compare positive numbers."""
    bound = theorem.bound
    assert bound is not None
    assert theorem.direction == "upper"

    def opposite(*, own_curvature: Any, peer_curvature: Any, separation: Any, radius: Any) -> Any:
        return -bound(own_curvature=own_curvature, peer_curvature=peer_curvature, separation=separation, radius=radius)

    return replace(theorem, bound=opposite, direction="lower", monotone={})


def _centres(values: Values) -> np.ndarray:
    """m_i = 0 and m_j on the first axis, (B, 2, 2)."""
    return values["separation"][:, None, None] * np.array([[0.0, 0.0], [1.0, 0.0]])


def _models(values: Values) -> np.ndarray:
    """x_i and x_j at `distance` (in separations) and `angle` from their minimisers, (B, 2, 2)."""
    away = values["separation"][:, None] * values["distance"]
    angle = values["angle"]
    return _centres(values) + away[..., None] * np.stack((np.cos(angle), np.sin(angle)), axis=-1)


def _inner(values: Values, models: np.ndarray) -> np.ndarray:
    """<grad f_i, grad f_j> at the midpoint."""
    gradients = models.mean(1, keepdims=True) - _centres(values)
    return values["own"] * values["peer"] * (gradients[:, 0] * gradients[:, 1]).sum(-1)


def _radius(values: Values, models: np.ndarray) -> np.ndarray:
    """The larger distance of a model from its own minimiser."""
    return np.sqrt(((models - _centres(values)) ** 2).sum(-1)).max(-1)


def _arguments(values: Values, radius: np.ndarray) -> dict[str, np.ndarray]:
    return {
        "own_curvature": values["own"],
        "peer_curvature": values["peer"],
        "separation": values["separation"],
        "radius": radius,
    }


@measured_by(
    "gradients", "two clients near their own minimisers in the plane; signs turned", rounding=1e-13
)  # the margin vanishes at radius = separation/2
def _margin(values: Values) -> Measured:
    """The opposite of the inner product at the midpoint."""
    models = _models(values)
    return -_inner(values, models), _arguments(values, _radius(values, models))


@measured_by("noise-free run", "two clients of different clusters in the plane")
def updates(values: Values) -> Measured:
    """Updates of w_ij, 1 at the start, until it is 0 (the last one counted by the part that reaches 0).

    Algorithm 1 with exact gradients and a pair that is updated every time: weights first, then the models, which the
    positive weight pulls together. `radius` is the largest distance met at an update.
    """
    models, curvature = _models(values), np.stack((values["own"], values["peer"]), -1)[..., None]
    scale = values["own"] * values["peer"] * values["separation"] ** 2
    weight_step = values["speed"] / scale
    eta, pull = values["step"] / np.maximum(values["own"], values["peer"]), values["pull"]
    w, count = np.ones(len(scale)), np.zeros(len(scale))
    radius, positive = np.zeros(len(scale)), np.ones(len(scale), dtype=bool)
    for _ in range(LONGEST):
        radius = np.where(positive, np.maximum(radius, _radius(values, models)), radius)
        change = weight_step * _inner(values, models)
        ends = positive & (w + change <= 0)
        count = count + np.where(ends, np.divide(w, -change, out=np.ones_like(w), where=change < 0), positive)
        positive = positive & ~ends
        if not positive.any():
            break
        w = np.clip(w + change, 0, 1)
        gap = models[:, :1] - models[:, 1:]
        drift = curvature * (models - _centres(values)) + (pull * w)[:, None, None] * np.concatenate((gap, -gap), 1)
        models = models - eta[:, None, None] * drift
    return count, {**_arguments(values, radius), "weight_step": weight_step}


_PAIR = {
    "own": Domain(low=0.2, high=5, log=True),
    "peer": Domain(low=0.2, high=5, log=True),
    "separation": Domain(low=0.5, high=4, log=True),
    "distance": Domain(low=0, high=0.5, shape=(2,)),
    "angle": Domain(low=0, high=2 * np.pi, shape=(2,)),
}
_RUN = {
    **_PAIR,
    "distance": Domain(low=0, high=0.4995, shape=(2,)),
    "speed": Domain(low=0.1, high=10, log=True),
    "step": Domain(low=1e-3, high=0.5, log=True),
    "pull": Domain(low=1e-3, high=1, log=True),
}


def _side_by_side() -> Values:
    """x_i - m_i = x_j - m_j: the midpoint is as far from the ball's centre as the models are from theirs."""
    return rows(
        plain(_RUN, step=1e-12, pull=1e-3),  # models held: the bound counts updates at one place
        *({"own": own, "peer": 3 * own, "distance": distance, "angle": angle,
           "separation": 3 if distance > 0.2 else 0.5}
          for distance in (0.0, 0.1, 0.3, 0.45, 0.49) for own in (0.3, 2.0) for angle in (0.0, 1.0, np.pi / 2)),
    )  # fmt: skip


# --- settled weights ------------------------------------------------------------------------------------


@measured_by("noise-free run", "five clients in two clusters in the plane, settled weights")
def distances(values: Values) -> Measured:
    """The largest distance of a model from its minimiser after T steps; the first `first` clients are one cluster."""
    curvature, x = values["curvature"][..., None], values["start"]  # each measured from its own minimiser
    clients = x.shape[1]
    member = np.arange(clients) < values["first"][:, None]
    w = (member[:, :, None] == member[:, None]).astype(float)
    size = w.sum(-1).max(-1)
    mu, beta = values["curvature"].min(-1), values["curvature"].max(-1)
    rho = values["pull"] * beta
    eta = values["fraction"] / (beta + rho * (size - 1))
    radius = np.sqrt((x**2).sum(-1)).max(-1)
    distance = radius
    for t in range(int(values["T"].max(initial=0))):
        apart = w.sum(-1)[..., None] * x - np.einsum("bij,bjd->bid", w, x)
        x = x - eta[:, None, None] * (curvature * x + rho[:, None, None] * apart)
        distance = np.where(t < values["T"], np.sqrt((x**2).sum(-1)).max(-1), distance)
    return distance, {
        **{"eta": eta, "mu": mu, "beta": beta, "rho": rho},
        **{"size": size, "radius": radius, "T": values["T"]},
    }


_CLIENTS = 5
_SETTLED = {
    "curvature": Domain(low=0.05, high=1, log=True, shape=(_CLIENTS,)),
    "start": Domain(low=-1, high=1, shape=(_CLIENTS, 2)),
    "first": Domain(low=1, high=_CLIENTS, integer=True),
    "pull": Domain(low=0.01, high=10, log=True),
    "fraction": Domain(low=0.01, high=1, log=True),
    "T": Domain(low=0, high=30, integer=True),
}


def _together(fraction: float = 1.0) -> Values:
    """All models of a cluster at one point, curvatures equal or one of them the least."""
    given = ({"T": T, "pull": pull} for pull in (0.01, 1.0) for T in (1, 2, 3, 20))
    return rows(plain(_SETTLED, start=[0.6, 0.8], first=3, fraction=fraction), *given)


def _opposite() -> Values:
    """One client of three on the other side of a large penalty, and 1.05 times the step limit."""
    start = np.zeros((1, 3, 2))
    start[0, :, 0] = [1.0, -1.0, -1.0]
    one = np.ones(1)
    return {"curvature": np.ones((1, 3)), "start": start, "first": 3 * one, "pull": 100 * one, "fraction": 1.05 * one,
            "T": one}  # fmt: skip


def claims() -> tuple[Claim, ...]:
    settled = Family(name="settled clusters", domains=_SETTLED, measure=distances, sharp=_together)
    two = Family(name="two clients", domains=_RUN, measure=updates, sharp=_side_by_side)
    return (
        Claim(
            theorem=mirrored(find("cobo/selection-margin")),
            families=(Family(name="two clients", domains=_PAIR, measure=_margin, sharp=_side_by_side),),
            unrefuted_conditions={
                "radius <= separation/2": "true at any radius, with equality for models side by side; beyond, it "
                "separates nothing"
            },
        ),
        Claim.on(
            "cobo/selection-time", two, outside_conditions={"radius <= 0.499 separation": beyond(two, distance=0.52)}
        ),
        Claim.on(
            "cobo/selection-radius",
            settled,
            outside_conditions={"step size eta <= 1/(beta + rho (size - 1))": lambda: distances(_opposite())},
        ),
    )
