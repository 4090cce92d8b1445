"""Gradient tracking on a graph without a server, in adapt-then-combine form: Aug-DGM. Xu, Zhu, Soh, Xie (2015).

It bears longer steps than DIGing (Nedic, Olshevsky, Shi 2017), which mixes before it moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from suffice.bounds.spectral_gap import spectral_gap
from suffice.support.errors import InputError

from ..oracle import Oracle
from .algorithm import Algorithm, Draw, State
from .arguments import pairwise


@dataclass(frozen=True, kw_only=True)
class GradientTracking(Algorithm):
    """y_i <- sum_k W_ik (y_k + g_k(x_k) - g_k(x_k before));  x_i <- sum_k W_ik (x_k - eta_k y_k).

    W (N, N) >= 0 has rows and columns of sum 1, zero between clients that are no neighbours; else `InputError`. The
    y_i start as the mixed first gradients; their mean is that of the last gradients, whatever the noise.
    """

    W: Tensor
    name: str = "gradient-tracking"
    linear: bool = True

    @classmethod
    def ring(cls, clients: int) -> GradientTracking:
        """Every client and its two neighbours on a ring, a third each."""
        return cls.graph(clients, [(k, (k + 1) % clients) for k in range(clients) if clients > 1])

    @classmethod
    def graph(cls, clients: int, edges: Sequence[tuple[int, int]]) -> GradientTracking:
        """Metropolis weights 1/(1 + the larger degree) on the edges, what is left of 1 on the diagonal."""
        linked = torch.zeros(clients, clients, dtype=torch.float64)
        for i, k in edges:
            if not (0 <= i < clients and 0 <= k < clients and i != k):
                raise InputError("edges", (i, k), f"give pairs of two different clients, 0 to {clients - 1}")
            linked[i, k] = linked[k, i] = 1
        degree = linked.sum(0)
        W = linked / (1 + torch.maximum(degree[:, None], degree))
        return cls(W=W + torch.diag(1 - W.sum(1)))

    @property
    def spectral_gap(self) -> float:
        """1 - |W - 11^T/N|."""
        return spectral_gap(self.W)

    def init(self, problem: Oracle, models: Tensor) -> State:
        W = pairwise("W", self.W, problem)
        for sums in (W.sum(0), W.sum(1)):
            if bool(((sums - 1).abs() > 1e-9).any()):
                raise InputError("W", sums.tolist(), "let every row and every column sum to 1")
        return {"models": models, "tracker": models - models, "gradient": models - models}

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        x, W = state["models"], self.W.to(state["models"])
        g = problem.stochastic_gradient(x, None, draw.noise)
        y = W @ (state["tracker"] + g - state["gradient"])
        return {"models": W @ (x - eta[..., None] * y), "tracker": y, "gradient": g}

    def collaboration(self, problem: Oracle, state: State, draw: Draw) -> Tensor:
        return self.W.to(state["models"]).expand(len(state["models"]), -1, -1)

    def vectors_sent(self, problem: Oracle, draw: Draw) -> int:
        """x_k - eta_k y_k and the tracker to every neighbour."""
        return 2 * int((self.W > 0).sum() - (self.W.diagonal() > 0).sum())
