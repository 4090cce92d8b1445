"""SCAFFOLD: control variates correct local steps for client drift. Karimireddy et al. (2020), Alg. 1, Option II."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..oracle import Oracle
from .algorithm import Draw, State, checked
from .arguments import positive
from .fedavg import FedAvg
from .sampling import only


@dataclass(frozen=True, kw_only=True)
class Scaffold(FedAvg):
    """y_i <- y_i - eta_i (g_i(y_i) - c_i + c) for the participants i in P of a round of H iterations, started at x;
    after its last, for i in P, c_i+ = c_i - c + (x - y_i)/(H eta_i), then
        x <- x + eta_g sum_P n_i (y_i - x) / sum_P n_i,   c <- c + (1/N) sum_P (c_i+ - c_i).

    eta_g is `server_step`. The c_i and c start at zero; the models are the y_i of participants, x of the others. The
    printed averages are over P with equal n_i.
    """

    server_step: float = checked(positive, 1.0)
    name: str = "scaffold"

    def init(self, problem: Oracle, models: Tensor) -> State:
        state = super().init(problem, models)
        return {**state, "control": torch.zeros_like(models), "server_control": torch.zeros_like(models[:, :1])}

    def direction(self, problem: Oracle, state: State, draw: Draw) -> Tensor:
        gradient = super().direction(problem, state, draw)
        return gradient if self._alone(draw.iteration) else gradient - state["control"] + state["server_control"]

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        present, controls = draw.extra.get("participants"), {n: state[n] for n in ("control", "server_control")}
        if self._alone(draw.iteration) or not self._averages(draw.iteration):
            return {**super().step(problem, state, draw, eta), **controls}
        x = self.received(state["server"], problem.clients)
        y = state["models"] - eta[..., None] * only(present, self.direction(problem, state, draw))
        change = only(present, (x - y) / (self.period * eta[..., None]) - state["server_control"])
        return {
            **self._averaged(problem, x + self.server_step * (y - x), draw, state["server"].shape[1]),
            "control": state["control"] + change,
            "server_control": state["server_control"] + change.mean(1, keepdim=True),
        }

    def vectors_sent(self, problem: Oracle, draw: Draw) -> int:
        """A model and a control variate each way."""
        return 2 * super().vectors_sent(problem, draw)
