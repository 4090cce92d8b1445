"""Federated clustering: clients average the gradients that lie near their own. Werner et al. (2023).

Other clusterings: `ifca`, `suffice.bounds.sufficient_cluster`, `suffice.fitting.soft_clusters`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from suffice.support.numbers import as_number, as_whole

from ..oracle import Oracle
from .algorithm import Algorithm, Draw, State, checked
from .arguments import check_pairs, probability


@dataclass(frozen=True, kw_only=True)
class FederatedClustering(Algorithm):
    """theta_i <- theta_i - eta_i v_i, v_i from `rounds` rounds of threshold clustering started at v_i = g_i(theta_i):
    v_i <- mean_k (g_k(theta_i) if |g_k(theta_i) - v_i| <= tau_i else v_i).

    tau_i is `radius` [loss / theta] or, where that is None, in each round the distance of the ceil(fraction N)-th
    nearest gradient. CoBo's experiments used 10 rounds and a fraction of 0.2.
    """

    fraction: float = checked(probability, 0.2)
    radius: float | None = checked(as_number, None, least=0)
    rounds: int = checked(as_whole, 10)
    name: str = "federated-clustering"
    linear: bool = False

    def init(self, problem: Oracle, models: Tensor) -> State:
        check_pairs(problem, len(models))
        return {"models": models}

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        theta = state["models"]
        weights = self.collaboration(problem, state, draw)
        return {"models": theta - eta[..., None] * problem.stochastic_gradient(theta, weights, draw.noise)}

    def collaboration(self, problem: Oracle, state: State, draw: Draw) -> Tensor:
        """v_i stays a weighted sum of the gradients, sum_k c_ik g_k(theta_i): the c_ik after the last round.

        The gradients are kept, N^2 d numbers per seed: every round reads all of them.
        """
        theta, n = state["models"], problem.clients
        rank = math.ceil(self.fraction * n * (1 - 1e-12))  # 0.1 * 30 is above 3
        gradients = problem.peer_gradient(theta[:, :, None].expand(-1, -1, n, -1), draw.noise)  # [s, i, k]
        c = torch.eye(n, dtype=theta.dtype, device=theta.device).expand(len(theta), -1, -1)
        for _ in range(self.rounds):
            v = torch.matmul(c[:, :, None], gradients)
            distances = torch.linalg.vector_norm(gradients - v, dim=-1)
            tau = distances.kthvalue(rank, dim=-1, keepdim=True).values if self.radius is None else self.radius
            near = (distances <= tau).to(theta)
            c = near / n + (1 - near.mean(-1, keepdim=True)) * c
        return c

    def oracle_calls(self, problem: Oracle, draw: Draw) -> int:
        return problem.clients**2

    def vectors_sent(self, problem: Oracle, draw: Draw) -> int:
        return 2 * problem.clients * (problem.clients - 1)
