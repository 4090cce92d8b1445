"""Errata of the released branch on related works: two algorithms that are local SGD there, weights, the ratio."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from suffice.simulate import ExactSimilarity, Quadratics

from ..erratum import Finding
from .paper import code

PULL, STEP = 1000.0, 0.1


def _stepped(models: Sequence[float], gradients: Sequence[float], pulls: Sequence[float]) -> list[float]:
    """One step of the branch, a number per layer: `gradients + pulls` joins two lists, zip stops with the models."""
    return [x - STEP * g for x, g in zip(models, [*gradients, *pulls], strict=False)]


def _pulled(center: str) -> Finding:
    """Two layers of one model at 1 in the loss |x|^2/2, and what pulls it, `PULL` times its distance from 0."""
    models = [1.0, 1.0]
    pulls = [PULL * (x - 0.0) for x in models]
    (code, _), right = _stepped(models, models, pulls), models[0] - STEP * (models[0] + pulls[0])
    inputs = {
        "grad R": 1, "pull": PULL, "eta": STEP, "layers": 2,
        "quantity": f"first layer after a step from 1 towards {center} at 0",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=code, measured=right)


@code(
    location="released branch on related works, Ditto",
    claim="personal models step along `gradient + [pull * (x - global)]`, joined as lists and zipped with the layers",
    truth="The joined list ends with the pulls, which zip drops, so that Ditto is local SGD there, at any pull.",
)
def code_branch_ditto() -> Finding:
    return _pulled("the global model")


@code(
    location="released branch on related works, CoBo",
    claim="models step along `gradient + [rho * sum_k w_ik (x_i - x_k)]`, joined as lists and zipped with the layers",
    truth="The penalty is dropped by zip, so that CoBo is local SGD there; Table 2 has Local, Ditto and CoBo within "
    "0.5 on CIFAR-10.",
)
def code_branch_cobo() -> Finding:
    return _pulled("the other models")


@code(
    location="released branch on related works, WGA-BC",
    claim="the peers' weights are 1/N^2 each, 19/400 in all at N = 20",
    truth="The weights of a mean sum to 1; the branch's step along the peers is 4.75 % of a step along their mean.",
)
def code_branch_wga_bc() -> Finding:
    clients = 20
    weights = torch.full((clients - 1,), 1 / clients**2, dtype=torch.float64)
    inputs = {"N": clients, "quantity": "sum of the weights"}
    return Finding(inputs=inputs, printed=weights.sum().item(), measured=(weights / weights.sum()).sum().item())


@code(
    location="released branch on related works and main branch, compute_weight_based_on_ratio",
    claim="the main branch has |g_i - g_k| above |g_i|^2, the branch on related works |g_i - g_k|^2",
    truth="They are two rules, and the second is the paper's; results of one branch are not results of the other.",
    key="adaptive/equation-1-gap",
)
def code_branch_ratio() -> Finding:
    problem = Quadratics.of([[[1.0]]] * 2, [[0.1], [0.15]], sigma2=0.0)  # gradients 0.2 and 0.3
    theta = problem.start[None]
    own, peer = problem.gradient(theta)[0, :, 0].tolist()
    main = max(0.0, 1 - abs(own - peer) / own**2)
    inputs = {"grad R_i": own, "grad R_k": peer, "sigma": 0, "quantity": "similarity ratio r_ik, main branch first"}
    return Finding(inputs=inputs, printed=main, measured=ExactSimilarity().ratio(problem, theta, {})[0, 0, 1].item())
