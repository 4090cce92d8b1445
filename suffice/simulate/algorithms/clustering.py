"""Federated clustering: clients average the gradients that lie near their own. Werner et al. (2023)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from suffice.support.numbers import as_number, as_whole

from ..oracle import Oracle
from .arguments import check_pairs, probability
from .base import Algorithm, Draw, State

Radius = Callable[[Tensor], Tensor]
"""From distances (S, N, N), row i from client i's estimate, the radius tau_i within which gradients count, (S, N)."""


@dataclass(frozen=True, kw_only=True)
class FixedRadius:
    """tau [loss / theta] is always the same."""

    tau: float

    def __post_init__(self) -> None:
        as_number("tau", self.tau, least=0)

    def __call__(self, distances: Tensor) -> Tensor:
        return distances.new_full(distances.shape[:-1], self.tau)


@dataclass(frozen=True, kw_only=True)
class QuantileRadius:
    """tau is the distance of the ceil(fraction N)-th nearest gradient."""

    fraction: float = 0.2

    def __post_init__(self) -> None:
        probability("fraction", self.fraction)

    def __call__(self, distances: Tensor) -> Tensor:
        rank = math.ceil(self.fraction * distances.shape[-1] * (1 - 1e-12))  # 0.1 * 30 is above 3
        return distances.kthvalue(rank, dim=-1).values


@dataclass(frozen=True, kw_only=True)
class FederatedClustering(Algorithm):
    """theta_i <- theta_i - eta_i v_i, v_i from `rounds` rounds of threshold clustering started at v_i = g_i(theta_i):
    v_i <- mean_k (g_k(theta_i) if |g_k(theta_i) - v_i| <= tau_i else v_i).

    tau_i is chosen anew in each round by `radius`. CoBo's experiments used 10 rounds and a quantile of 0.2.
    """

    radius: Radius = field(default_factory=QuantileRadius)
    rounds: int = 10
    name: str = "federated-clustering"
    linear: bool = False

    def __post_init__(self) -> None:
        as_whole("rounds", self.rounds)

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
        gradients = problem.peer_gradient(theta[:, :, None].expand(-1, -1, n, -1), draw.noise)  # [s, i, k]
        c = torch.eye(n, dtype=theta.dtype, device=theta.device).expand(len(theta), -1, -1)
        for _ in range(self.rounds):
            v = torch.matmul(c[:, :, None], gradients)
            distances = torch.linalg.vector_norm(gradients - v, dim=-1)
            near = (distances <= self.radius(distances)[..., None]).to(theta)
            c = near / n + (1 - near.mean(-1, keepdim=True)) * c
        return c

    def oracle_calls(self, problem: Oracle, draw: Draw) -> int:
        return problem.clients**2

    def vectors_sent(self, problem: Oracle, draw: Draw) -> int:
        return 2 * problem.clients * (problem.clients - 1)
