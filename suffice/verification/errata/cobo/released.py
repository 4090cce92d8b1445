"""Errata where the released code of the CoBo paper differs from the paper or from the methods it compares with."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from suffice.simulate import IFCA, CoBo, Ditto, Quadratics

from ..erratum import Finding
from .paper import code, every_pair, noise_free


@code(
    location="released code, CoBo",
    claim="the models move with the weights of the iteration before",
    truth="Algorithm 1 updates the weights first.",
)
def code_order() -> Finding:
    problem = Quadratics.of(np.full((2, 1, 1), 0.5), [[0.0], [-10.0]], sigma2=0.0, start=[[0.0], [10.0]])

    def moved(models_first: bool) -> float:
        rule = every_pair(rho=0.1, weight_step=0.01, models_first=models_first)
        return noise_free(problem, rule, eta=0.1, iterations=1)["models"][0, 0, 0].item()

    inputs = {
        "f_1": "x^2/2", "f_2": "(x - 10)^2/2", "x^0": "at the minimisers", "rho": 0.1, "eta": 0.1, "gamma": 0.01,
        "gradients": "exact, every pair updated", "quantity": "x_1 after one iteration",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=moved(True), measured=moved(False))


@code(
    location="released code, mixed sampling",
    claim="after step 800 pairs are sampled with probability 1/sqrt(t)",
    truth="Section 4.1 has O(1/t), after 0.2 % of the iterations.",
)
def code_sampling() -> Finding:
    clients, t = 8, 1000
    released = CoBo.released(rho=0.01).chance(clients, t)
    paper = CoBo(rho=0.01, weight_step=0.01, sampling="mixed", horizon=100_000).chance(clients, t)
    inputs = {"n": clients, "t": t, "quantity": "probability that a pair is updated, mixed sampling, against 1/t"}
    return Finding(inputs=inputs, printed=released, measured=paper)


@code(
    location="released code, CoBo",
    claim="a step follows an exponential average of gradients with momentum 0.9",
    truth="Algorithm 1 follows the gradient itself.",
)
def code_momentum() -> Finding:
    # m <- 0.9 m + 0.1 g from gradients g of variance 1, all of it noise
    variance = 0.0
    for _ in range(1000):
        variance = 0.9**2 * variance + 0.1**2
    inputs = {"gradient noise": 1, "momentum": 0.9, "quantity": "variance of a step's direction in the long run"}
    return Finding(inputs=inputs, printed=variance, measured=1.0)


CURVATURE, CENTRE = np.array([1.0, 3.0]), np.array([0.0, 1.0])
"""f_1 = x^2/2 and f_2 = 3 (x - 1)^2/2; their mean is least at 3/4."""


@code(
    location="released code, Ditto",
    claim="the global model moves along gradients at the personal models",
    truth="Ditto's global model moves along gradients at itself, and reaches the minimiser of the mean loss.",
)
def code_ditto() -> Finding:
    problem = Quadratics.of(CURVATURE[:, None, None] / 2, -CENTRE[:, None], sigma2=0.0)
    state = noise_free(problem, Ditto(pull=1.0), eta=0.2, iterations=100)
    v, w = np.zeros(2), 0.0
    for _ in range(500):
        gradients = CURVATURE * (v - CENTRE)  # at the personal models
        v, w = v - 0.2 * (gradients + (v - w)), w - 0.2 * gradients.mean()
    inputs = {"f_1": "x^2/2", "f_2": "3 (x - 1)^2/2", "lambda": 1, "quantity": "limit of the global model"}
    return Finding(inputs=inputs, printed=float(w), measured=state["server"].flatten()[0].item())


@code(
    location="released code, Federated Clustering",
    claim="client i compares gradients of its own data at all models",
    truth="Client i compares the gradients of all clients' data at its model; at a common start its own data tell "
    "nothing apart.",
)
def code_federated_clustering() -> Finding:
    problem = Quadratics.of(np.full((2, 1, 1), 0.5), [[0.0], [-1.0]], sigma2=0.0)
    models = problem.start[None]
    everywhere = models[:, :, None].expand(-1, -1, 2, -1)
    paper = problem.population_peer_gradient(everywhere)[0, :, :, 0]  # at model i, of the data of k; client i's row
    code = paper.T
    inputs = {
        "f_1": "x^2/2", "f_2": "(x - 1)^2/2", "models": "both 0",
        "quantity": "distance of the two gradients that client 1 compares",
    }  # fmt: skip
    return Finding(
        inputs=inputs, printed=abs(code[0, 1] - code[0, 0]).item(), measured=abs(paper[0, 1] - paper[0, 0]).item()
    )


@code(
    location="released code, IFCA",
    claim="the gradients of a cluster are summed",
    truth="IFCA divides the sum by the number of clients; the sum alone multiplies the step by that number.",
)
def code_ifca() -> Finding:
    clients, eta = 10, 0.3
    problem = Quadratics.of(np.full((clients, 1, 1), 0.5), np.zeros((clients, 1)), sigma2=0.0, start=[1.0])
    rule = IFCA(offsets=torch.zeros(1, 1, dtype=torch.float64))
    averaged: Any = noise_free(problem, rule, eta=eta, iterations=1)["centres"]
    summed = problem.start[0, 0].item() - eta * problem.gradient(problem.start[None]).sum().item()
    inputs = {"N": clients, "f_i": "x^2/2", "x^0": 1, "eta": eta, "M": 1, "quantity": "centre after one iteration"}
    return Finding(inputs=inputs, printed=summed, measured=averaged.flatten()[0].item())
