"""Minibatch SGD over rounds: the gradients of a round are taken at its start. Woodworth, Patel, Srebro (2020)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..oracle import Oracle
from .algorithm import Draw, State
from .fedavg import FedAvg
from .sampling import only


@dataclass(frozen=True, kw_only=True)
class MinibatchSGD(FedAvg):
    """w <- w - sum_{i in P} n_i eta_i gbar_i / sum_{i in P} n_i, gbar_i the mean of H stochastic gradients at w.

    One of them is drawn in each of the round's H iterations (`period`): the samples and messages of `FedAvg`, and no
    local step. The models are w.
    """

    name: str = "minibatch-sgd"

    def init(self, problem: Oracle, models: Tensor) -> State:
        state = super().init(problem, models)
        return {**state, "sum": torch.zeros_like(models)}

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        if self._alone(draw.iteration):
            return {**super().step(problem, state, draw, eta), "sum": state["sum"]}
        total = state["sum"] + only(draw.extra.get("participants"), self.direction(problem, state, draw))
        if not self._averages(draw.iteration):
            return {"models": state["models"], "server": state["server"], "sum": total}
        moved = state["models"] - eta[..., None] * total / self.period
        return {**self._averaged(problem, moved, draw, state["server"].shape[1]), "sum": torch.zeros_like(total)}
