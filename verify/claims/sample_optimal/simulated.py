"""The same quantities from the simulator's own steps, by probing: small networks, all agents, all steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from suffice.simulate import AllForAll, FixedWeights, Quadratics, StreamingLeastSquares, expected_excess

from ...evidence import Evidence
from ...family import Domain, Family, Values
from .moments import growing_excess
from .reduced import reduced

N, D = 3, 2
NETWORKS = Family(
    name="small networks",
    domains={
        "beta": Domain(low=0.1, high=10, log=True),
        "kappa": Domain(low=1, high=5, log=True),
        "bend": Domain(low=0, high=1, shape=(N, D)),
        "turn": Domain(low=-1, high=1, shape=(N, D, D)),
        "place": Domain(low=-1, high=1, shape=(N, D)),
        "sigma2": Domain(low=0.01, high=1, log=True, shape=(N,)),
        "weight": Domain(low=0.05, high=1, shape=(N, N)),
        "start": Domain(low=-3, high=3, shape=(D,)),
        "fraction": Domain(low=0.1, high=1, log=True),
        "T": Domain(low=1, high=8, integer=True),
    },
)


def draw(count: int, root: int) -> Values:
    """Networks of which the first and every third after it are at rest at one minimiser, mu = L and alike: e_1 is the
    noise, and the bounds are attained. The next ones share a minimiser and the rows of their weights, without noise.
    """
    values = NETWORKS.draw(count, seed=root)
    resting, equal = np.arange(count) % 3 == 0, np.arange(count) % 3 == 1
    values["kappa"][resting | equal] = 1.0
    values["place"][resting | equal] = 0.0
    values["start"][resting] = 0.0
    values["sigma2"][resting] = values["sigma2"][resting, :1]
    values["sigma2"][equal] = 0.0
    values["weight"][equal] = values["weight"][equal, :1]
    return values


def _hessians(values: Values, index: int) -> np.ndarray:
    """Spectra mu kappa^bend in [mu, L], rotated, (N, D, D)."""
    basis = np.linalg.qr(values["turn"][index])[0]
    kappa = values["kappa"][index]
    spectrum = values["beta"][index] / kappa * kappa ** values["bend"][index]
    H = np.einsum("nia,na,nja->nij", basis, spectrum, basis)
    return (H + H.swapaxes(1, 2)) / 2


def _evidence(found: list[dict[str, np.ndarray]], label: str) -> Evidence:
    """Rows of equal names, (n,) each, `measured` among them."""
    columns = {name: np.concatenate([row[name] for row in found]) for name in found[0]}
    measured, again = columns.pop("measured"), columns.pop("again", None)
    return Evidence(engine="probed moments", measured=measured, arguments=columns, label=label, again=again)


def _flat(shape: tuple[int, ...], row: dict[str, Any]) -> dict[str, np.ndarray]:
    return {name: np.broadcast_to(np.asarray(value, dtype=float), shape).ravel() for name, value in row.items()}


def all_for_one(count: int, root: int) -> Evidence:
    """Theorem 2: one Hessian for all, every agent, every step up to T."""
    values, found = draw(count, root), []
    for index in range(count):
        H, m, sigma2 = _hessians(values, index)[0], values["place"][index], values["sigma2"][index]
        weights = values["weight"][index] / values["weight"][index].sum(-1, keepdims=True)
        beta, T = np.linalg.eigvalsh(H)[-1], int(values["T"][index])
        eta = float(values["fraction"][index] / beta)
        problem = Quadratics.of(np.stack([H / 2] * N), -m, sigma2=sigma2, start=values["start"][index])
        excess = expected_excess(problem, FixedWeights(alpha=torch.from_numpy(weights)), iterations=T, eta=eta)
        b = np.linalg.norm((m[:, None] - m) @ H, axis=-1)
        found.append(
            _flat(
                excess.shape,
                {
                    "eta": eta,
                    "mu": np.linalg.eigvalsh(H)[0],
                    "beta": beta,
                    "e0": excess[:1],
                    "sigma2": sigma2.max(),
                    "lambda2": reduced("theorem-2-lambda2", weights=weights),
                    "bias": reduced("theorem-2-bias", weights=weights, b=b),
                    "T": np.arange(T + 1)[:, None],
                    "measured": excess,
                },
            )
        )
    return _evidence(found, "All-for-one, three quadratics in R^2 with one Hessian")


def least_squares(count: int, root: int) -> Evidence:
    """Theorem 2 with growing noise: f_j(x) = E (a^T x - b)^2/2, which is E (z^T x - b')^2 for z = a/sqrt(2)."""
    values, found = draw(count, root), []
    for index in range(count):
        H, m, tau2 = _hessians(values, index)[0], values["place"][index], values["sigma2"][index]
        weights = values["weight"][index] / values["weight"][index].sum(-1, keepdims=True)
        mu, beta = np.linalg.eigvalsh(H)[[0, -1]]
        growth, T = float(reduced("theorem-2-growth", H=H)), int(values["T"][index])
        lambda2 = reduced("theorem-2-lambda2", weights=weights)
        eta = values["fraction"][index] * np.minimum(1 / beta, mu / (4 * beta * growth * lambda2))
        problem = StreamingLeastSquares.of(H / 2, m, label_noise=np.sqrt(tau2 / 2), start=values["start"][index])
        excess = expected_excess(problem, FixedWeights(alpha=torch.from_numpy(weights)), iterations=T, eta=eta)
        b = np.linalg.norm((m[:, None] - m) @ H, axis=-1)
        s2 = np.broadcast_to(tau2 * np.trace(H), weights.shape)
        noise2 = reduced(
            "theorem-2-noise", weights=weights, sigma2=s2, b=b, mu=np.full(N, mu), growth=np.full(N, growth)
        )
        found.append(
            _flat(
                excess.shape,
                {
                    "eta": eta,
                    "mu": mu,
                    "beta": beta,
                    "e0": excess[:1],
                    "growth": growth,
                    "lambda2": lambda2,
                    "bias": reduced("theorem-2-bias", weights=weights, b=b),
                    "noise2": noise2,
                    "T": np.arange(T + 1)[:, None],
                    "measured": excess,
                    "again": _closed(H, m, weights, tau2, values["start"][index], eta, T),
                },
            )
        )
    return _evidence(found, "All-for-one, three linear models with Gaussian features in R^2")


def _closed(
    H: np.ndarray, m: np.ndarray, weights: np.ndarray, tau2: np.ndarray, start: np.ndarray, eta: np.ndarray, T: int
) -> np.ndarray:
    """The same excess (T + 1, N) in the eigenbasis of H, where every agent's second moments are a closed system."""
    h, basis = np.linalg.eigh(H)
    one, steps = np.ones(T + 1), np.arange(T + 1.0)
    excess = [
        growing_excess(
            np.outer(one, h),
            one[:, None, None] * ((m - m[i]) @ basis),
            np.outer(one, weights[i]),
            np.outer(one, weights[i] ** 2),
            np.outer(one, tau2),
            np.outer(one, (start - m[i]) @ basis),
            eta[i] * one,
            steps,
        )
        for i in range(len(m))
    ]
    return np.stack(excess, -1)


def all_for_all(count: int, root: int) -> Evidence:
    """Theorem 3: Hessians of their own, mean over the agents, every step up to T."""
    values, found = draw(count, root), []
    for index in range(count):
        H, m, sigma2 = _hessians(values, index), values["place"][index], values["sigma2"][index]
        weights = values["weight"][index] / values["weight"][index].sum(-1, keepdims=True)
        spectrum, T = np.linalg.eigvalsh(H), int(values["T"][index])
        mu, beta = spectrum.min(), spectrum.max()
        smax = reduced("theorem-3-smax", weights=weights)
        eta = float(values["fraction"][index] / (beta * smax))
        problem = Quadratics.of(H / 2, -m, sigma2=sigma2, start=values["start"][index])
        algorithm = AllForAll(Lambda=torch.from_numpy(weights))
        excess = expected_excess(problem, algorithm, iterations=T, eta=eta).mean(-1)
        gap = m[:, None] - m
        found.append(
            _flat(
                excess.shape,
                {
                    "eta": eta,
                    "mu": mu,
                    "beta": beta,
                    "smin": reduced("theorem-3-smin", weights=weights),
                    "smax": smax,
                    "e0": excess[0],
                    "sigma2": sigma2.max(),
                    "weight2": reduced("theorem-3-weight2", weights=weights),
                    "peer_excess": (weights * np.einsum("ija,iab,ijb->ij", gap, H, gap)).sum() / (2 * N),
                    "T": np.arange(T + 1),
                    "measured": excess,
                },
            )
        )
    return _evidence(found, "All-for-all, three quadratics in R^2")
