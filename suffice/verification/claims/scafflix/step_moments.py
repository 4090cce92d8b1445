"""Theorem 1 by second moments of the simulator's own step: Hessians of any direction, anchors anywhere."""

from __future__ import annotations

import numpy as np
import torch

from suffice.simulate import Quadratics, Scaffnew, expected_moments_batch, split, stack

from ...evidence import Evidence
from ...family import Domain, Family, Values
from .moments import orthogonal

N, D = 3, 2


def simulated(count: int, root: int) -> Evidence:
    """E[Psi_T] of three clients in the plane from a common start, sum_i alpha_i h_i^0 = 0."""
    values = Family(
        name="clients",
        domains={
            "turn": Domain(low=-1, high=1, shape=(N, D, D)),
            "curvature": Domain(low=0.1, high=1, log=True, shape=(N, D)),
            "minimiser": Domain(low=-1, high=1, shape=(N, D)),
            "anchor": Domain(low=-1, high=1, shape=(N, D)),
            "control": Domain(low=-1, high=1, shape=(N, D)),
            "start": Domain(low=-2, high=2, shape=(D,)),
            "alpha": Domain(low=0.2, high=1, shape=(N,)),
            "C": Domain(low=1e-3, high=1, log=True, shape=(N,)),
            "fraction": Domain(low=0.3, high=1, shape=(N,)),
            "p": Domain(low=0.1, high=1),
            "T": Domain(low=1, high=10, integer=True),
        },
    ).draw(count, seed=root)
    rotation = np.linalg.qr(values["turn"])[0]
    H = np.einsum("bkij,bkj,bklj->bkil", rotation, values["curvature"], rotation)
    eta = values["fraction"] / values["curvature"].max(-1)
    control = orthogonal(values["control"], values["alpha"])
    levels = _lyapunov(values, (H + H.swapaxes(-1, -2)) / 2, control, eta)
    return Evidence(
        engine="exact moments of the simulator's step",
        measured=levels[:, 1],
        arguments={
            "p": values["p"],
            "contraction": (eta * values["curvature"].min(-1)).min(-1),
            "reach": (eta * values["curvature"].max(-1)).max(-1),
            "eta_min": eta.min(-1),
            "noise": (eta * values["C"]).mean(-1),
            "Psi0": levels[:, 0],
            "T": values["T"],
        },
        label="three quadratics in the plane, anchors anywhere",
    )


def _lyapunov(values: Values, H: np.ndarray, control: np.ndarray, eta: np.ndarray) -> np.ndarray:
    """Psi at the start and after T iterations (B, 2), from its definition."""
    B, p, alpha, anchor, minimiser = (len(H), *(values[name] for name in ("p", "alpha", "anchor", "minimiser")))
    clients = Quadratics.of(
        H.reshape(-1, D, D) / 2,
        -minimiser.reshape(-1, D),
        sigma2=values["C"].ravel(),
        start=np.repeat(values["start"], N, 0),
    )
    given = zip(p.tolist(), *(torch.from_numpy(each) for each in (alpha, anchor, control)))
    rules = stack([Scaffnew(p=odds, alpha=a, anchors=y, control=h) for odds, a, y, h in given])
    T = values["T"].astype(int)
    moments = expected_moments_batch(split(clients, B), rules, iterations=T.max(), eta=eta)
    fixed = (1 - alpha)[..., None] * anchor - minimiser  # x~_i - c_i = alpha_i x + fixed_i
    right = -np.einsum("bi,bijk,bik->bj", alpha, H, fixed)
    optimum = np.linalg.solve(np.einsum("bi,bijk->bjk", alpha**2, H), right[..., None])[..., 0]
    best = alpha[..., None] * optimum[:, None] + fixed  # from the minimisers, as the simulator counts
    gradient = np.einsum("bijk,bik->bij", H, best)

    def away(name: str, point: np.ndarray, at: np.ndarray) -> np.ndarray:
        """E|variable - point|^2 of each client, (B, N)."""
        every = np.arange(B)
        second, mean = (each[every, at].numpy().reshape(point.shape) for each in (
            moments.of(name).diagonal(dim1=-2, dim2=-1), moments.mean(name)
        ))  # fmt: skip
        return (second - 2 * mean * point + point**2).sum(-1)

    levels = [
        eta.min(-1) * (away("models", best, at) / eta + eta / p[:, None] ** 2 * away("control", gradient, at)).mean(-1)
        for at in (0 * T, T)
    ]
    return np.stack(levels, -1)
