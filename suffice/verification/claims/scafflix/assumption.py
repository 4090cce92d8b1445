"""Assumption 3 by the mean and the variance of sampled gradients, and the Lyapunov function at the start."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...claim import Claim
from ...evidence import Evidence, Measured, measured_by
from ...family import Domain, Family, Values
from ...instances.rows import plain, rows
from .moments import Clients, orthogonal


def _squares(x: np.ndarray) -> np.ndarray:
    return (x**2).sum(-1)


# --- additive noise -------------------------------------------------------------------------------------


@measured_by("mean over all samples", "a quadratic in the plane and a gradient error of two values")
def _additive(values: Values) -> Measured:
    """f = sum_a h_a x_a^2 / 2 at `away` from the optimum, noise +-sigma along a fixed direction."""
    h, away, sigma = values["curvature"], values["away"], np.sqrt(values["sigma2"])
    direction = np.array([0.6, 0.8])
    both = [h * away + sign * sigma[:, None] * direction for sign in (1, -1)]
    return np.mean([_squares(g) for g in both], axis=0), {
        "beta": values["overstatement"] * h.max(-1),
        "bregman": (h * away**2).sum(-1) / 2,
        "sigma2": values["sigma2"],
    }


_ADDITIVE = {
    "curvature": Domain(low=0.05, high=5, log=True, shape=(2,)),
    "away": Domain(low=-2, high=2, shape=(2,)),
    "sigma2": Domain(low=1e-3, high=10, log=True),
    "overstatement": Domain(low=1, high=1.1),
}


def _round() -> Values:
    """Equal curvatures: all distance, all noise, and both."""
    cases = (([1, 2], 1e-9), ([0, 0], 1.0), ([1, -1], 4.0))
    return rows(plain(_ADDITIVE, curvature=3), *({"away": away, "sigma2": sigma2} for away, sigma2 in cases))


# --- sampled gradients ----------------------------------------------------------------------------------


def sampled(values: Values, *, batch: bool, one_constant: bool = False) -> Evidence:
    """f_ij = L_j (a_j^T x - s_j)^2 / 2 with |a_j| = 1 at `away` from the optimum.

    With `one_constant` beta is a constant of every f_ij, as the print has it, and not that of f_i.

    `residual` is a_j^T x* - s_j. The mean gradient of m samples with replacement has the variance of one over m.
    """
    a = values["direction"] / np.sqrt(_squares(values["direction"]))[..., None]
    L, residual = values["L"], values["residual"]
    along = np.einsum("bjd,bd->bj", a, values["away"])
    at = (L * (along + residual))[..., None] * a
    best = (L * residual)[..., None] * a
    center = best.mean(1)
    drawn = _squares(at - at.mean(1, keepdims=True)).mean(-1)
    hessian = np.einsum("bj,bjd,bje->bde", L, a, a) / a.shape[1]
    m = values["m"] if batch else np.ones(len(L))
    own, largest = np.abs(np.linalg.eigvalsh(hessian)).max(-1), np.abs(L).max(-1)
    return Evidence(
        engine="mean and variance over all samples",
        measured=_squares(at.mean(1) - center) + drawn / m,
        arguments={
            "beta": largest if one_constant else own,
            "beta_max": largest,
            "bregman": (L * along**2).mean(-1) / 2,
            "sigma2_star": _squares(best - center[:, None]).mean(-1),
            "batch": m,
        },
        label=f"{a.shape[1]} samples in R^{a.shape[2]}",
        values=values if a.size < 1000 else {},  # the orthonormal ones are described by their label
    )


_SAMPLES = {
    "direction": Domain(low=-1, high=1, shape=(4, 3)),
    "L": Domain(low=0.1, high=5, log=True, shape=(4,)),
    "residual": Domain(low=-1, high=1, shape=(4,)),
    "away": Domain(low=-2, high=2, shape=(3,)),
    "m": Domain(low=1, high=8, integer=True),
}


def _orthonormal(count: int) -> Values:
    """Directions orthonormal, residual equal to the distance, or one of them 0; and one direction for all samples."""
    cases = [(0.7, 0.7, 1), (0.7, 0.7, 2), (0.7, 0.7, 5), (1, 0, 1), (0, 1, 1), (1, 0, 2), (1, 0, 3), (1, 0, 1e6)]
    away, residual, m = np.array(cases, dtype=float).T
    direction = np.tile(np.eye(count), (len(cases), 1, 1))
    direction[-3:] = np.eye(count)[0]
    return {
        "direction": direction,
        "L": np.full((len(cases), count), 2.0),
        "residual": np.tile(residual[:, None], (1, count)),
        "away": np.tile(away[:, None], (1, count)),
        "m": m,
    }


def _concave() -> Values:
    """f_1 = 5 x^2 and f_2 = -4.5 x^2, both 10-smooth, whose mean is x^2 / 4."""
    row = {"direction": np.ones((2, 1)), "L": np.array([10.0, -9.0]), "residual": np.zeros(2), "away": np.ones(1)}
    return {name: value[None] for name, value in row.items()} | {"m": np.ones(1)}


@measured_by("mean over all samples", "four samples in R^3 drawn with unequal probabilities")
def _nonuniform(values: Values) -> Measured:
    """As `sampled`, with grad f_ij/(n p_j) for the gradient of the sample j, which is drawn with probability p_j."""
    a = values["direction"] / np.sqrt(_squares(values["direction"]))[..., None]
    L, residual = values["L"], values["residual"]
    chance = values["chance"] / values["chance"].sum(1, keepdims=True)
    along = np.einsum("bjd,bd->bj", a, values["away"])
    scale = 1 / (a.shape[1] * chance)
    at, best = ((L * scale * size)[..., None] * a for size in (along + residual, residual))
    center = np.einsum("bj,bjd->bd", chance, best)
    return (chance * _squares(at - center[:, None])).sum(1), {
        "beta_drawn": (L * scale).max(1),
        "bregman": (L * along**2).mean(-1) / 2,
        "sigma2_star": (chance * _squares(best - center[:, None])).sum(1),
    }


def _proportional(count: int) -> Values:
    """The orthonormal ones with two smoothness constants, drawn in proportion to them."""
    values = _orthonormal(count)
    L = np.where(np.arange(count) % 2, 1.0, 3.0) * np.ones_like(values["L"])
    return values | {"L": L, "chance": L}


# --- the start ------------------------------------------------------------------------------------------


@measured_by(
    "Lyapunov function", "three diagonal quadratics in R^2; counted where sum_i alpha_i h_i^0 = 0, as Theorem 1 needs"
)
def _start(values: Values, *, projected: bool) -> Measured:
    """Psi_0 from a common start at `away` from the optimum, control variates from the gradients there."""
    h, alpha = values["curvature"], values["alpha"]
    L = values["overstatement"] * h.max(-1)
    eta = values["fraction"] / L
    star = orthogonal(values["target"], alpha)
    gradients = star + h * alpha[..., None] * values["away"][:, None]
    total = np.einsum("bi,bid->bd", alpha, gradients)
    weight = alpha / eta
    control = gradients - weight[..., None] * (total / (alpha * weight).sum(-1)[:, None])[:, None] * projected
    ones = np.ones_like(alpha)
    given = Clients(
        **{"curvature": h, "A": L, "C": 0 * ones, "alpha": alpha, "eta": eta, "p": values["p"]},
        saturation=np.zeros(len(h)),
        models=np.broadcast_to(values["away"][:, None], h.shape),
        control=control - star,
    )
    admitted = np.abs(np.einsum("bi,bid->bd", alpha, control)).max(-1) <= 1e-9 * np.abs(gradients).max((1, 2))
    return (
        given.lyapunov(given.start),
        {
            "eta_min": eta.min(-1),
            "p": values["p"],
            "distance2": _squares(values["away"]),
            "inverse_step": (alpha**2 / eta).mean(-1),
            "stiffness": (alpha**2 * eta * L**2).mean(-1),
        },
        {"hypothesis": admitted},
    )


_STARTS = {
    "curvature": Domain(low=0.05, high=5, log=True, shape=(3, 2)),
    "overstatement": Domain(low=1, high=1.2, shape=(3,)),
    "alpha": Domain(low=0.1, high=1, shape=(3,)),
    "fraction": Domain(low=1e-3, high=1, log=True, shape=(3,)),
    "p": Domain(low=0.03, high=1, log=True),
    "away": Domain(low=-2, high=2, shape=(2,)),
    "target": Domain(low=-2, high=2, shape=(3, 2)),
}


def _one_fast() -> Values:
    """One client at gamma = 1/L and two at much smaller steps, p small; and steps so small that distances dominate."""
    one = plain(_STARTS, curvature=[[2], [1], [0.5]], alpha=[1, 0.5, 0.7], away=[1, -0.5], target=1)
    fast, slow, mixed = [1, 1e-6, 1e-6], [1e-6] * 3, [1e-3, 2e-6, 1e-6]
    cases = ((fast, 1e-4), (fast, 1e-5), (slow, 1.0), (mixed, 0.5))
    return rows(one, *({"fraction": fraction, "p": p} for fraction, p in cases))


def claims() -> tuple[Claim, ...]:
    def samples(key: str, edition: str, sharp: Callable[[], Values], **reading: bool) -> Claim:
        family = Family(
            name="samples", domains=_SAMPLES, measure=lambda values: sampled(values, **reading), sharp=sharp
        )
        return Claim.on(f"scafflix/assumption-3-{key}", family, edition=edition)

    def start(edition: str, *, projected: bool) -> Claim:
        family = Family(
            name="common starts",
            domains=_STARTS,
            measure=lambda values: _start(values, projected=projected),
            sharp=_one_fast,
        )
        return Claim.on(
            "scafflix/initial-lyapunov",
            family,
            edition=edition,
            unrefuted_conditions={
                "weights alpha_i <= 1: eta_min <= 1/inverse_step": "implied by alpha_i <= 1, which the models are made "
                "with and the proof does not use"
            },
        )

    chance = Domain(low=0.05, high=1, log=True, shape=(4,))
    nonuniform = Family(
        name="samples with unequal probabilities",
        domains={**_SAMPLES, "chance": chance},
        measure=_nonuniform,
        sharp=lambda: _proportional(150),
    )
    additive = Family(name="additive noise", domains=_ADDITIVE, measure=_additive, sharp=_round)
    return (
        Claim.on("scafflix/assumption-3-additive", additive),
        samples("finite-sum", "printed", _concave, batch=False, one_constant=True),
        samples("finite-sum", "corrected", lambda: _orthonormal(150), batch=False),
        samples("minibatch", "corrected", lambda: _orthonormal(150), batch=True),
        Claim.on("scafflix/assumption-3-nonuniform", nonuniform),
        start("printed", projected=False),
        start("corrected", projected=True),
    )
