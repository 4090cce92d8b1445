"""The averages of Theorem I by second moments of the simulator's own step, Hessians of any direction."""

from __future__ import annotations

from itertools import product

import numpy as np
import torch

from suffice.bounds.collaborativeness import pairwise_heterogeneity
from suffice.simulate import FixedCoBo, Quadratics, expected_moments_batch, split, stack

from ...evidence import Evidence
from ...family import Domain, Family


def simulated(name: str, count: int, root: int) -> Evidence:
    """Three clients in the plane, Hessians of any direction: second moments by probing the algorithm's own step."""
    values = Family(
        name="clusters",
        domains={
            "turn": Domain(low=-1, high=1, shape=(3, 2, 2)),
            "curvature": Domain(low=0.2, high=1, shape=(3, 2)),
            "bend": Domain(low=0, high=1),
            "start": Domain(low=-1, high=1, shape=(3, 2)),
            "sigma2": Domain(low=1e-3, high=3, log=True),
            "slack": Domain(low=1, high=3),
            "fraction": Domain(low=0.1, high=1),
            "T": Domain(low=1, high=12, integer=True),
        },
    ).draw(count, seed=root)
    rotation = np.linalg.qr(values["turn"])[0]
    turned = np.einsum("bkij,bkj,bklj->bkil", rotation, values["curvature"], rotation)
    hessians = turned[:, :1] + values["bend"][:, None, None, None] * (turned - turned[:, :1])
    hessians = (hessians + hessians.swapaxes(-1, -2)) / 2
    M = pairwise_heterogeneity(hessians).max((1, 2))
    beta = np.linalg.eigvalsh(hessians).max((1, 2))
    m = np.sqrt(2 * M**2 * 2 / (3 * np.maximum(1 - M**2, 1e-3) + 2 * M**2))
    rho = 1.01 * (1 + m) * beta / 3 * values["slack"]
    eta = values["fraction"] / (3 * rho)
    mean = values["start"].mean(1)
    clients = Quadratics.of(
        hessians.reshape(-1, 2, 2) / 2,
        np.zeros((3 * count, 2)),
        sigma2=np.repeat(values["sigma2"], 3),
        start=values["start"].reshape(-1, 2),
    )
    everybody = torch.ones(3, 3, dtype=torch.float64)
    rules = stack([FixedCoBo(w=everybody, rho=each) for each in rho.tolist()])
    T = values["T"].astype(int)
    moments = expected_moments_batch(split(clients, count), rules, iterations=T.max(), eta=eta).of("models").numpy()
    measured = []
    for at in range(count):
        form = quadratic_forms(hessians[at])[name]
        before, after = ((form * part.mean(0)).sum() for part in (moments[at, : T[at]], moments[at, 1 : T[at] + 1]))
        measured.append(max(before, after) if name == "consensus" else before)
    return Evidence(
        engine="exact moments",
        measured=np.array(measured),
        arguments={
            **{"eta": eta, "beta": beta, "rho": rho, "size": np.full(count, 3.0), "M": M, "T": values["T"]},
            "e0": np.einsum("bd,bde,be->b", mean, hessians.mean(1), mean) / 2,
            "spread": ((values["start"] - mean[:, None]) ** 2).sum(-1).mean(-1),
            "sigma2": values["sigma2"],
        },
        label="three quadratics in the plane with one minimiser",
    )


def quadratic_forms(hessians: np.ndarray) -> dict[str, np.ndarray]:
    """The measured quantities as quadratic forms of the stacked models (c d, c d), hessians (c, d, d)."""
    c, d, _ = hessians.shape
    models = np.eye(c * d).reshape(c, d, c * d)
    mean = models.mean(0)
    pairs = list(product(range(c), repeat=2))
    gradients = [hessians[i] + hessians[j] for i, j in pairs], [models[i] + models[j] for i, j in pairs]
    parts = {
        "mean_gradient": [hessians.mean(0) @ mean],
        "client_gradient": [H @ x for H, x in zip(hessians, models)],
        "midpoint_gradient": [H @ x / 4 for H, x in zip(*gradients)],
        "consensus": [models[i] - models[j] for i, j in pairs],
    }
    return {name: np.mean([part.T @ part for part in given], axis=0) for name, given in parts.items()}
