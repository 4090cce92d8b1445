"""Theorem 1 by second moments of the simulator's own step: Hessians of any direction, anchors anywhere."""

from __future__ import annotations

import numpy as np
import torch

from suffice.simulate import Quadratics, Scaffnew, expected_moments

from ...evidence import Evidence
from ...family import Domain, Family
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
    levels = np.array([
        _lyapunov(
            (H[at] + H[at].swapaxes(-1, -2)) / 2,
            *(values[name][at] for name in ("minimiser", "anchor", "start", "alpha", "C")),
            control=control[at],
            eta=eta[at],
            p=values["p"][at].item(),
            T=int(values["T"][at]),
        )
        for at in range(count)
    ])  # fmt: skip
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


def _lyapunov(
    H: np.ndarray, minimiser: np.ndarray, anchor: np.ndarray, start: np.ndarray, alpha: np.ndarray, C: np.ndarray, *,
    control: np.ndarray, eta: np.ndarray, p: float, T: int,
) -> tuple[float, float]:  # fmt: skip
    """Psi at the start and after T iterations, from its definition."""
    problem = Quadratics.of(H / 2, -minimiser, sigma2=C, start=start)
    algorithm = Scaffnew(
        p=p, alpha=torch.from_numpy(alpha), anchors=torch.from_numpy(anchor), control=torch.from_numpy(control)
    )
    moments = expected_moments(problem, algorithm, iterations=T, eta=eta)
    fixed = (1 - alpha)[:, None] * anchor - minimiser  # x~_i - c_i = alpha_i x + fixed_i
    right = -np.einsum("i,ijk,ik->j", alpha, H, fixed)
    optimum = np.linalg.solve(np.einsum("i,ijk->jk", alpha**2, H), right)
    best = alpha[:, None] * optimum + fixed  # from the minimisers, as the simulator counts
    gradient = np.einsum("ijk,ik->ij", H, best)

    def away(name: str, point: np.ndarray, at: int) -> np.ndarray:
        """E|variable - point|^2 of each client."""
        second, mean = moments.of(name)[at].diagonal().numpy(), moments.mean(name)[at].numpy()
        return (second.reshape(N, D) - 2 * mean.reshape(N, D) * point + point**2).sum(-1)

    levels = [
        eta.min() * (away("models", best, at) / eta + eta / p**2 * away("control", gradient, at)).mean()
        for at in (0, T)
    ]  # fmt: skip
    return float(levels[0]), float(levels[1])
