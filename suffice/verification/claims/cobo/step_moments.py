"""The averages of Theorem I by second moments of the simulator's own step, Hessians of any direction."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import torch

from suffice.simulate import FixedCoBo, Quadratics, expected_moments_batch, split, stack

from ...evidence import Evidence
from ...family import Domain, Family


def simulated(count: int, root: int) -> list[Evidence]:
    """Three quadratics in the plane, any symmetric weights: second moments by probing the simulator's own step."""
    values = Family(
        name="clusters",
        domains={
            "turn": Domain(low=-1, high=1, shape=(3, 2, 2)),
            "curvature": Domain(low=0.2, high=1, shape=(3, 2)),
            "weight": Domain(low=0, high=1, shape=(3,)),
            "least": Domain(low=0.1, high=1),
            "start": Domain(low=-1, high=1, shape=(3, 2)),
            "sigma2": Domain(low=1e-3, high=3, log=True),
            "slack": Domain(low=1, high=3),
            "fraction": Domain(low=0.1, high=1),
            "T": Domain(low=1, high=12, integer=True),
        },
    ).draw(count, seed=root)
    rotation, least, T = np.linalg.qr(values["turn"])[0], values["least"], values["T"].astype(int)
    hessians = np.einsum("bkij,bkj,bklj->bkil", rotation, values["curvature"], rotation)
    mean, centre = values["start"].mean(1), hessians.mean(1)
    spread = ((hessians - centre[:, None]) @ (hessians - centre[:, None])).mean(1)
    inverse = np.linalg.inv(centre)
    m2 = np.linalg.eigvalsh(inverse @ spread @ inverse)[:, -1]
    beta = np.linalg.eigvalsh(hessians).max((1, 2))
    rho = 1.01 * np.sqrt(1 + m2) * beta / (3 * least) * values["slack"]
    eta = values["fraction"] * 2 / ((1 + least) * 3 * rho)
    weight = np.ones((count, 3, 3))
    for at, (i, j) in enumerate(combinations(range(3), 2)):
        weight[:, i, j] = weight[:, j, i] = least + values["weight"][:, at] * (1 - least)
    clients = Quadratics.of(
        hessians.reshape(-1, 2, 2) / 2,
        np.zeros((3 * count, 2)),
        sigma2=np.repeat(values["sigma2"], 3),
        start=values["start"].reshape(-1, 2),
    )
    rules = stack([FixedCoBo(w=torch.from_numpy(w), rho=each) for w, each in zip(weight, rho.tolist())])
    moments = expected_moments_batch(split(clients, count), rules, iterations=T.max(), eta=eta).of("models").numpy()
    averages: dict[str, list[float]] = {"mean_gradient": [], "consensus": [], "midpoint_gradient": []}
    for at in range(count):
        before = moments[at, : T[at]].mean(0)
        for name, found in averages.items():
            found.append(float((quadratic_forms(hessians[at])[name] * before).sum()))
    arguments = {
        **{"eta": eta, "beta": beta, "rho": rho, "size": np.full(count, 3.0), "least_weight": least, "T": T},
        **{"dissimilarity": m2, "mean_gradient2": np.array(averages["mean_gradient"])},
        **{"consensus2": np.array(averages["consensus"]), "sigma2": values["sigma2"]},
        "e0": np.einsum("bd,bde,be->b", mean, centre, mean) / 2,
        "spread": ((values["start"] - mean[:, None]) ** 2).sum(-1).mean(-1),
    }
    label = "three quadratics in the plane with one minimiser, any symmetric weights"
    return [
        Evidence(engine="exact moments", measured=np.array(found), arguments=arguments, label=label)
        for found in averages.values()
    ]


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
