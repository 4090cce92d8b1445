"""APFL: every client deploys a mixture of its own model and FedAvg's. Deng, Kamani, Mahdavi (2020), Algorithm 1."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from suffice.support.numbers import as_number

from ..oracle import Oracle
from .algorithm import Draw, State, checked
from .ditto import BesideServer, refuse_own_state
from .fedavg import FedAvg
from .sampling import only


@dataclass(frozen=True, kw_only=True)
class APFL(BesideServer):
    """theta_i = a_i v_i + (1 - a_i) w_i with v_i <- v_i - eta_i a_i g_i(theta_i), while `server` trains the copies w_i.

    a is `mixture` in [0, 1]. Both gradients are at the old v_i, w_i and share a batch. When adaptive,
        a_i <- clip(a_i - eta_i <g_i(theta_i), v_i - w_i>, 0, 1)
    with the gradient of a round's first iteration, once per round as in the authors' code (which takes
    g_i(theta_i) at the new w_i, and adds 0.02 a_i to the derivative). eta_i then also has the unit 1 / loss.
    """

    mixture: float = checked(as_number, 0.5, least=0, most=1)
    adaptive: bool = False
    server: FedAvg = field(default_factory=FedAvg)
    name: str = "apfl"
    linear: bool = field(init=False, default=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_own_state(self.server)
        object.__setattr__(self, "linear", not self.adaptive)

    def init(self, problem: Oracle, models: Tensor) -> State:
        shared = self.server.init(problem, models)
        state = {"own": models, "copies": shared["models"], "server": shared["server"]}
        if self.adaptive:
            state["mixture"] = torch.full_like(models[..., 0], self.mixture)
        return {"models": self._mixed(state)} | state

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        v, w, present = state["own"], state["copies"], draw.extra.get("participants")
        g = only(present, problem.stochastic_gradient(self._mixed(state), None, draw.noise))
        shared = self.server.step(problem, {"models": w, "server": state["server"]}, draw, eta)
        after = {
            "own": v - (eta * self._mixture(state))[..., None] * g,
            "copies": shared["models"],
            "server": shared["server"],
        }
        if self.adaptive:
            after["mixture"] = state["mixture"]
            if (draw.iteration - 1) % self.server.period == 0:
                after["mixture"] = (state["mixture"] - eta * (g * (v - w)).sum(-1)).clamp(0, 1)
        return {"models": self._mixed(after)} | after

    def _mixture(self, state: State) -> Tensor | float:
        return state["mixture"] if self.adaptive else self.mixture

    def _mixed(self, state: State) -> Tensor:
        a = state["mixture"][..., None] if self.adaptive else self.mixture
        return a * state["own"] + (1 - a) * state["copies"]
