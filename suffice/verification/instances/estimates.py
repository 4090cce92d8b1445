"""Equation (1): exact means of what the simulator measures when it estimates similarity from m samples.

Z_ik and Z_i are quadratic in the noise, the noise of samples and clients is independent, and a scenario rule has its
mean and covariance: the mean is the value without noise plus what each sample of each client adds on its own.
"""

from __future__ import annotations

import numpy as np
import torch

from suffice.simulate import Quadratics

from ..evidence import Measured, measured_by
from ..family import Domain, Family, Values

FEATURES = 2
_TOGETHER = 12
"""Pairs that share one problem: it compares all of its clients, which costs less than one problem per pair."""


def means(problem: Quadratics, m: int) -> tuple[np.ndarray, np.ndarray]:
    """E Z_ik and E Z_i for the pairs (i, k) = (0, 1), (2, 3), ... of the problem at its start, m samples each."""
    theta = problem.start[None]
    weights, points = problem.scenarios()
    own = torch.arange(0, problem.clients, 2)
    # one sample of one client of each pair at a time, and at last none
    noise = torch.zeros(2 * m * len(points) + 1, problem.clients, m, problem.features, dtype=problem.dtype)
    each = noise[:-1].view(2, m, len(points), *noise.shape[1:])
    for role in (0, 1):
        for sample in range(m):
            each[role, sample, :, role::2, sample] = points[:, role::2, 0]
    gap, norm = problem.sampled_gap(theta.expand(len(noise), -1, -1), noise)
    found = torch.stack((gap[:, own, own + 1], norm[:, own]))  # (2, S, pairs)
    base = found[:, -1:]
    share = torch.stack((weights[:, own], weights[:, own + 1]))[:, None].expand(-1, m, -1, -1).flatten(0, 2)
    total = base[:, 0] + (share * (found[:, :-1] - base)).sum(1)
    return total[0].numpy(), total[1].numpy()


def estimates(quantity: str) -> Family:
    """Pairs of quadratics in the plane and m samples of each; `quantity` is "gap", "norm" or "identical" (clients)."""

    @measured_by("exact means of the simulator's estimate", "pair of quadratics in R^2, m samples each")
    def measure(values: Values) -> Measured:
        n, d = len(values["m"]), FEATURES
        curvature, xi = values["curvature"].copy(), values["xi"].copy()
        if quantity == "identical":
            curvature[:, 1], xi[:, 1] = curvature[:, 0], xi[:, 0]
        gap, norm = np.empty(n), np.empty(n)
        for m in np.unique(values["m"]):
            same = np.flatnonzero(values["m"] == m)
            for at in np.array_split(same, -(-len(same) // _TOGETHER)):
                problem = Quadratics.of(
                    curvature[at].reshape(-1, d)[..., None] * np.eye(d),
                    xi[at].reshape(-1, d),
                    sigma2=values["sigma2"][at].ravel(),
                    start=np.repeat(values["theta"][at], 2, axis=0),
                )
                gap[at], norm[at] = means(problem, int(m))
        gradients = 2 * curvature * (values["theta"][:, None] + xi)
        return {"gap": gap, "norm": norm, "identical": gap / norm}[quantity], {
            "gap": np.linalg.norm(gradients[:, 0] - gradients[:, 1], axis=-1),
            "gradient": np.linalg.norm(gradients[:, 0], axis=-1),
            "sigma2": values["sigma2"][:, 0],
            "peer_sigma2": values["sigma2"][:, 1],
            "m": values["m"],
        }

    return Family(
        name="sampled pairs",
        domains={
            "curvature": Domain(low=0.1, high=3, log=True, shape=(2, FEATURES)),
            "xi": Domain(low=-2, high=2, shape=(2, FEATURES)),
            "theta": Domain(low=-2, high=2, shape=(FEATURES,)),
            "sigma2": Domain(low=0.01, high=100, log=True, shape=(2,)),
            "m": Domain(low=1, high=5, integer=True),
        },
        measure=measure,
    )
