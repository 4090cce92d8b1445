"""FedFomo: clients move to the models that lower their own loss most. Zhang, Sapra, Fidler, Yeung, Alvarez (2021)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from suffice.support.numbers import as_whole

from ..oracle import Oracle
from .algorithm import Algorithm, Draw, State, checked
from .averaging import distances

_TOGETHER = 1 << 22
"""Numbers in the models whose losses are computed at once."""


def peer_losses(problem: Oracle, models: Tensor) -> Tensor:
    """R_i(x_k), up to a constant of each client, as [s, i, k] (S, N, N), of models x (S, N, d)."""
    n = problem.clients
    parts = []
    for part in models.split(max(1, _TOGETHER // models.numel()), dim=1):  # N^2 d numbers only where they are few
        everywhere = part[:, :, None].expand(-1, -1, n, -1).flatten(0, 1)  # model k in the place of every client
        parts.append(problem.held_out(everywhere).unflatten(0, (len(models), -1)))
    return torch.cat(parts, dim=1).mT


@dataclass(frozen=True, kw_only=True)
class FedFomo(Algorithm):
    """x_i <- x_i - eta_i g_i(x_i); after every H-th iteration x_i <- s_i + sum_k w_ik (x_k - s_i), s_i the model with
    which i began these H, w_ik the share of ((R_i(s_i) - R_i(x_k)) / |x_k - s_i|)_+ in their sum over k.

    H is `period`. Whom no model helps goes back to s_i. R_i is the loss on rows held out, of a problem the exact one,
    and every client sees all models: the paper samples some of them where they are many.
    """

    period: int = checked(as_whole, 5)
    name: str = "fedfomo"
    linear: bool = False

    def init(self, problem: Oracle, models: Tensor) -> State:
        return {"models": models, "began": models}

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        x = state["models"]
        x = x - eta[..., None] * problem.stochastic_gradient(x, None, draw.noise)
        if draw.iteration % self.period:
            return {"models": x, "began": state["began"]}
        x = self.mixed(problem, state["began"], x)
        return {"models": x, "began": x}

    def weights(self, problem: Oracle, began: Tensor, models: Tensor) -> Tensor:
        """w as [s, i, k] (S, N, N) of trained models; a row of zeros where no model helps."""
        gain = (problem.held_out(began)[..., None] - peer_losses(problem, models)).clamp_min(0)
        apart = distances(began, models)
        slope = torch.where(apart > 0, gain / apart.clamp_min(torch.finfo(apart.dtype).tiny), 0)
        total = slope.sum(-1, keepdim=True)
        return slope / torch.where(total > 0, total, 1)

    def mixed(self, problem: Oracle, began: Tensor, models: Tensor) -> Tensor:
        """The models after an exchange."""
        w = self.weights(problem, began, models)
        return began + torch.matmul(w, models) - w.sum(-1, keepdim=True) * began

    def vectors_sent(self, problem: Oracle, draw: Draw) -> int:
        """At an exchange every model to the server, and all others to every client."""
        return 0 if draw.iteration % self.period else problem.clients**2

    def oracle_calls(self, problem: Oracle, draw: Draw) -> int:
        """One gradient each; at an exchange as many losses as models and one of its own besides."""
        return problem.clients * (1 if draw.iteration % self.period else problem.clients + 2)

    def phase(self, iteration: int) -> int:
        return iteration % self.period
