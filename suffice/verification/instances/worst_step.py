"""One step of All-for-one against a chosen loss and chosen peers: what the worst case of one step is compared with.

The model is at 0 and grad R_i = |g| e_1 there. An instance is a Hessian with eigenvalues in [-beta, beta], peers'
gradients g_k = g + sqrt(1 - r_k) |g| u_k with |u_k| <= 1, and noise along given directions. For quadratics
    E[e_t] - e_{t-1} = -eta <g, h> + (eta^2/2) (h^T H h + sum_k alpha_k^2 sigma_k^2 n_k^T H n_k),
h = sum_k alpha_k g_k, |n_k| = 1.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from ..evidence import Measured, measured_by
from ..family import Domain, Family, Values
from .rows import plain, rows

PEERS = 3


def _shortfall(given: Values, values: Values) -> np.ndarray:
    """E[e_t] - e_{t-1} + |g|^2 / (2 beta) of the steps `given`, in the plane, on the instances of `_INSTANCE`."""
    frame = np.stack((_directions(values["tilt"]), _directions(values["tilt"] + np.pi / 2)), 1)  # rows: axes
    H = given["beta"][:, None, None] * np.einsum("njd,nj,nje->nde", frame, values["curvature"], frame)
    own, eta = given["gradient"][:, None] * np.eye(2)[0], given["eta"]
    gap = values["reach"] * np.sqrt(1 - given["r"]) * given["gradient"][:, None]
    h = np.einsum("nk,nkd->nd", given["alpha"], own[:, None] + gap[..., None] * _directions(values["angle"]))
    along, bent = _directions(values["noise"]), np.einsum("nd,nde,ne->n", h, H, h)
    noise = np.einsum("nk,nkd,nde,nke->n", given["alpha"] ** 2 * given["sigma2"], along, H, along)
    change = -eta * (own * h).sum(-1) + eta**2 / 2 * (bent + noise)
    return change + given["gradient"] ** 2 / (2 * given["beta"])


def _arguments(given: Values) -> Values:
    """Arguments of one-step and sharp-step from eta, beta, gradient (n,), alpha, r and sigma2 (n, K)."""
    p, alpha, sigma2 = 1 - np.sqrt(1 - given["r"]), given["alpha"], given["sigma2"]
    return {
        **{name: given[name] for name in ("eta", "beta", "gradient")},
        "weight": alpha.sum(-1),
        "pull": (alpha * p).sum(-1),
        "V": (alpha**2 * sigma2).sum(-1),
        "agreement": (p**2 / sigma2).sum(-1),
        "sharp_mass": (p / sigma2).sum(-1),
    }


def _directions(angle: np.ndarray) -> np.ndarray:
    return np.stack((np.cos(angle), np.sin(angle)), -1)


_INSTANCE = {
    "curvature": Domain(low=-1, high=1, shape=(2,)),
    "tilt": Domain(low=0, high=np.pi),
    "reach": Domain(low=0, high=1, shape=(PEERS,)),
    "angle": Domain(low=-np.pi, high=np.pi, shape=(PEERS,)),
    "noise": Domain(low=0, high=np.pi, shape=(PEERS,)),
}
"""The Hessian over beta and its axes, the peers' gaps, the directions of the noise."""

_WEIGHTED = {
    "length": Domain(low=0.02, high=2.5),
    "beta": Domain(low=0.1, high=10, log=True),
    "gradient": Domain(low=0.1, high=10, log=True),
    "alpha": Domain(low=0.001, high=2, shape=(PEERS,)),
    "r": Domain(low=0, high=1, shape=(PEERS,)),
    "sigma2": Domain(low=0.01, high=10, log=True, shape=(PEERS,)),
}
"""`length` is eta beta sum_k alpha_k."""


def _weighted(values: Values) -> dict[str, np.ndarray]:
    """Everything but the instance."""
    eta = values["length"] / (values["beta"] * values["alpha"].sum(-1))
    return {"eta": eta, **{name: values[name] for name in ("beta", "gradient", "alpha", "r", "sigma2")}}


def plane() -> Family:
    """Quadratics in the plane."""

    @measured_by("exact", "one step on a quadratic in R^2")
    def measure(values: Values) -> Measured:
        given = _weighted(values)
        return _shortfall(given, values), _arguments(given)

    return Family(name="one step in the plane", domains=_WEIGHTED | _INSTANCE, measure=measure, sharp=_attained)


def _attained() -> Values:
    """Curvature beta and gaps along the gradient: against it when eta beta A <= 1, with it beyond; noise or none."""
    scales = ((1.0, 1.0, 1e-9), (0.3, 0.4, 1.0), (4.0, 3.0, 1e-3), (4.0, 0.1, 10.0))
    return rows(
        plain(_WEIGHTED | _INSTANCE, alpha=[0.5, 1.0, 0.25], curvature=1, reach=1),
        *({"length": length, "r": [1, r, r], "beta": beta, "gradient": gradient, "sigma2": sigma2,
           "angle": np.pi if length <= 1 else 0}
          for length in (0.1, 0.5, 0.9, 1.0, 1.1, 1.6, 2.2) for r in (0.0, 0.3, 0.9, 1.0)
          for beta, gradient, sigma2 in scales),
    )  # fmt: skip


def line() -> Family:
    """Losses in dimension 1 whose curvature changes at +-`kink`, each client's noise one of two values: no quadratic.

    The expectation is over all 2^K outcomes of the noise.
    """

    @measured_by("exact", "one step on a loss of two curvatures in dimension 1, two-point noise")
    def measure(values: Values) -> Measured:
        given = _weighted(values)
        beta, alpha = given["beta"], given["alpha"]
        peers = given["gradient"][:, None] * (1 + np.sqrt(1 - given["r"]) * values["gap"])
        signs = np.array(list(product((-1.0, 1.0), repeat=PEERS)))
        noisy = peers[:, None] + signs * np.sqrt(given["sigma2"])[:, None]
        y = -given["eta"][:, None] * (alpha[:, None] * noisy).sum(-1)
        inside, kink = np.clip(y, -values["kink"][:, None], values["kink"][:, None]), y
        outside = kink - inside
        near, far = (beta * values[name] for name in ("near", "far"))
        bend = near[:, None] * (inside**2 / 2 + inside * outside) + far[:, None] * outside**2 / 2
        change = (given["gradient"][:, None] * y + bend).mean(-1)
        return change + given["gradient"] ** 2 / (2 * beta), _arguments(given)

    return Family(
        name="one step on the line",
        domains=_WEIGHTED
        | {
            "gap": Domain(low=-1, high=1, shape=(PEERS,)),
            "near": Domain(low=-1, high=1),
            "far": Domain(low=-1, high=1),
            "kink": Domain(low=0.01, high=10, log=True),
        },
        measure=measure,
    )


def sharp_weights() -> Family:
    """Quadratics in the plane and the weights of worst-case/sharp-step; `room` is G over its largest admissible value.

    x_k = G p_k / (beta sigma_k^2 (1 + G Y)): here alpha_k = x_k with eta = 1.
    """

    @measured_by("exact", "one step with the sharp weights in R^2")
    def measure(values: Values) -> Measured:
        r, sigma2, beta = values["r"], values["sigma2"], values["beta"]
        p = 1 - np.sqrt(1 - r)
        Y, Z = (p**2 / sigma2).sum(-1), (p / sigma2).sum(-1)
        G = values["room"] / np.maximum(Z - Y, 0.05 * Z)
        x = (G / (beta * (1 + G * Y)))[:, None] * p / sigma2
        given = {"eta": np.ones_like(beta), "beta": beta, "gradient": np.sqrt(G), "alpha": x, "r": r, "sigma2": sigma2}
        return _shortfall(given, values), _arguments(given)

    return Family(name="one step with the sharp weights", domains=_SHARP, measure=measure, sharp=sharp_attained)


_SHARP = {
    "room": Domain(low=0.02, high=1, log=True),
    "beta": Domain(low=0.1, high=10, log=True),
    "r": Domain(low=0.05, high=1, shape=(PEERS,)),
    "sigma2": Domain(low=0.01, high=100, log=True, shape=(PEERS,)),
    **_INSTANCE,
}


def sharp_attained(room: float | None = None) -> Values:
    """Curvature beta and gaps against the gradient, or with it beyond the step limit."""
    return rows(
        plain(_SHARP, curvature=1, reach=1),
        *({"room": at, "beta": beta, "r": [own, r, r], "sigma2": sigma2 * np.array([1.0, 0.5, 3.0]),
           "angle": np.pi if at <= 1 else 0}
          for at in ((0.05, 0.5, 1.0) if room is None else (room,)) for beta in (0.3, 1.0, 4.0)
          for own in (0.2, 1.0) for r in (0.1, 0.6, 0.99) for sigma2 in (0.01, 1.0, 50.0)),
    )  # fmt: skip
