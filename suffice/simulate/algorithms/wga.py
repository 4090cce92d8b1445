"""Weighted gradient averaging with bias correction (WGA-BC). Chayti, Karimireddy, Stich, Flammarion, Jaggi (2021).

Plain weighted gradient averaging is All-for-one with fixed weights: `FixedWeights`.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from suffice.support.errors import InputError
from suffice.support.numbers import as_number

from ..oracle import Oracle
from .algorithm import Algorithm, Draw, State, checked


@dataclass(frozen=True, kw_only=True)
class WGABC(Algorithm):
    """theta_i <- theta_i - eta_i ((1 - a) o_i + a (p_i + c_i)), then c_i <- (1 - b) c_i + b (o_i - p_i).

    o_i = g_i(theta_i) and p_i = mean_{k != i} g_k(theta_i), both from the iteration's one batch per client; a is
    `mixture` and b is `memory`, in [0, 1]; c_i starts at 0. The step uses the old correction c_i, which is
    independent of its noise. With b = 0 this is plain weighted gradient averaging.

    Reimplemented without access to the paper (arXiv 2111.05968): compare the rule with it before relying on it.
    """

    mixture: float = checked(as_number, 0.5, least=0, most=1)
    memory: float = checked(as_number, 0.1, least=0, most=1)
    name: str = "wga-bc"
    linear: bool = True
    gradients_taken = 2

    def init(self, problem: Oracle, models: Tensor) -> State:
        if problem.clients < 2:
            raise InputError("clients", problem.clients, "averaging over the others needs at least two clients")
        return {"models": models, "correction": torch.zeros_like(models)}

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        theta, c = state["models"], state["correction"]
        others = self._others(theta).expand(len(theta), -1, -1)
        own = problem.stochastic_gradient(theta, None, draw.noise)
        peers = problem.stochastic_gradient(theta, others, draw.noise)
        direction = (1 - self.mixture) * own + self.mixture * (peers + c)
        return {
            "models": theta - eta[..., None] * direction,
            "correction": (1 - self.memory) * c + self.memory * (own - peers),
        }

    def collaboration(self, problem: Oracle, state: State, draw: Draw) -> Tensor:
        theta = state["models"]
        own = torch.eye(problem.clients, dtype=theta.dtype, device=theta.device)
        return ((1 - self.mixture) * own + self.mixture * self._others(theta)).expand(len(theta), -1, -1)

    @staticmethod
    def _others(theta: Tensor) -> Tensor:
        n = theta.shape[1]
        return (1 - torch.eye(n, dtype=theta.dtype, device=theta.device)) / (n - 1)

    def oracle_calls(self, problem: Oracle, draw: Draw) -> int:
        return problem.clients**2

    def vectors_sent(self, problem: Oracle, draw: Draw) -> int:
        return 2 * problem.clients * (problem.clients - 1)
