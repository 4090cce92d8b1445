"""FedFomo: clients move to the models that lower their own loss most. Zhang, Sapra, Fidler, Yeung, Alvarez (2021)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from suffice.support.numbers import as_whole

from ..problem import Problem
from .base import Algorithm, Draw, State


def peer_losses(problem: Problem, models: Tensor) -> Tensor:
    """R_i(x_k) - min R_i as [s, i, k] (S, N, N), of models x (S, N, d)."""
    n = problem.clients
    everywhere = models[:, :, None].expand(-1, -1, n, -1).flatten(0, 1)  # model k in the place of every client
    return problem.excess(everywhere).unflatten(0, (-1, n)).mT


@dataclass(frozen=True, kw_only=True)
class FedFomo(Algorithm):
    """x_i <- x_i - eta_i g_i(x_i); after every H-th iteration x_i <- s_i + sum_k w_ik (x_k - s_i), s_i the model with
    which i began these H, w_ik the share of ((R_i(s_i) - R_i(x_k)) / |x_k - s_i|)_+ in their sum over k.

    H is `period`. Whom no model helps goes back to s_i. R_i is the exact loss in place of one on held-out rows, and
    every client sees all models: the paper samples some of them where they are many.
    """

    period: int = 5
    name: str = "fedfomo"
    linear: bool = False

    def __post_init__(self) -> None:
        as_whole("period", self.period)

    def init(self, problem: Problem, models: Tensor) -> State:
        return {"models": models, "began": models}

    def step(self, problem: Problem, state: State, draw: Draw, eta: Tensor) -> State:
        x = self._trained(problem, state, draw, eta)
        if draw.iteration % self.period:
            return {"models": x, "began": state["began"]}
        x = self.mixed(problem, state["began"], x)
        return {"models": x, "began": x}

    def _trained(self, problem: Problem, state: State, draw: Draw, eta: Tensor) -> Tensor:
        x = state["models"]
        return x - eta[..., None] * problem.stochastic_gradient(x, None, draw.noise)

    def weights(self, problem: Problem, began: Tensor, models: Tensor) -> Tensor:
        """w as [s, i, k] (S, N, N) of trained models; a row of zeros where no model helps."""
        gain = (problem.excess(began)[..., None] - peer_losses(problem, models)).clamp_min(0)
        apart = torch.linalg.vector_norm(models[:, None] - began[:, :, None], dim=-1)
        slope = torch.where(apart > 0, gain / apart.clamp_min(torch.finfo(apart.dtype).tiny), 0)
        total = slope.sum(-1, keepdim=True)
        return slope / torch.where(total > 0, total, 1)

    def mixed(self, problem: Problem, began: Tensor, models: Tensor) -> Tensor:
        """The models after an exchange."""
        w = self.weights(problem, began, models)
        return began + torch.matmul(w, models) - w.sum(-1, keepdim=True) * began

    def vectors_sent(self, problem: Problem, draw: Draw) -> int:
        """At an exchange every model to the server, and all others to every client."""
        return 0 if draw.iteration % self.period else problem.clients**2

    def oracle_calls(self, problem: Problem, draw: Draw) -> int:
        """One gradient each; at an exchange as many losses as models and one of its own besides."""
        return problem.clients * (1 if draw.iteration % self.period else problem.clients + 2)

    def phase(self, iteration: int) -> int:
        return iteration % self.period
