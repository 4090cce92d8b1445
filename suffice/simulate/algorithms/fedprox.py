"""FedProx: FedAvg whose local steps are pulled to the server model. Li, Sahu, Zaheer, Sanjabi, Talwalkar, Smith (2020).

The gradient form: H stochastic gradient steps on R_i(x) + (lam / 2) |x - w|^2, which solve it inexactly.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from suffice.support.numbers import as_number

from ..oracle import Oracle
from .algorithm import Draw, State, checked
from .fedavg import FedAvg


@dataclass(frozen=True, kw_only=True)
class FedProx(FedAvg):
    """x_i <- x_i - eta_i (g_i(x_i) + lam (x_i - w)), averaged as in FedAvg.

    lam is `pull` [loss / theta^2], the paper's mu; w is the server model at the round's start. Clients that go on
    alone (`fine_tune_after`) are not pulled.
    """

    pull: float = checked(as_number, 1.0, least=0)
    name: str = "fedprox"

    def direction(self, problem: Oracle, state: State, draw: Draw) -> Tensor:
        gradient = super().direction(problem, state, draw)
        if self._alone(draw.iteration):
            return gradient
        return gradient + self.pull * (state["models"] - self.received(state["server"], problem.clients))
