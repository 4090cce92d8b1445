"""Ditto: personal models pulled towards FedAvg's. Li, Hu, Beirami, Smith (2021), Algorithm 1."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor

from suffice.support.errors import InputError
from suffice.support.numbers import as_number

from ..oracle import Oracle
from .algorithm import Algorithm, Draw, State, checked
from .fedavg import FedAvg
from .sampling import only


class BesideServer(Algorithm):
    """Personal models that go along with the rounds of a `server`: two gradients each where it takes one."""

    server: FedAvg
    gradients_taken = 2

    draw = property(lambda self: self.server.draw)
    vectors_sent = property(lambda self: self.server.vectors_sent)
    outcomes = property(lambda self: self.server.outcomes)
    round_of = property(lambda self: self.server.round_of)
    phase = property(lambda self: self.server.phase)

    def oracle_calls(self, problem: Oracle, draw: Draw) -> int:
        return 2 * self.server.oracle_calls(problem, draw)


@dataclass(frozen=True, kw_only=True)
class Ditto(BesideServer):
    """theta_i <- theta_i - eta_i (g_i(theta_i) + lam (theta_i - w)), while `server` trains w.

    lam is `pull` [loss / theta^2]; w is the server model that the client received last, at the round's
    start. Both gradients of a client use the same batch; who does not participate moves nothing.
    """

    pull: float = checked(as_number, 1.0, least=0)
    server: FedAvg = field(default_factory=FedAvg)
    name: str = "ditto"
    linear: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_own_state(self.server)

    def init(self, problem: Oracle, models: Tensor) -> State:
        shared = self.server.init(problem, models)
        return {"models": models, "copies": shared["models"], "server": shared["server"]}

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        theta = state["models"]
        away = theta - self.server.received(state["server"], problem.clients)
        direction = problem.stochastic_gradient(theta, None, draw.noise) + self.pull * away
        shared = self.server.step(problem, {"models": state["copies"], "server": state["server"]}, draw, eta)
        return {
            "models": theta - eta[..., None] * only(draw.extra.get("participants"), direction),
            "copies": shared["models"],
            "server": shared["server"],
        }


def refuse_own_state(server: FedAvg) -> None:
    """Refuse a server that stops or keeps more than its model: personal models lean on that alone, to the end."""
    if type(server).init is not FedAvg.init:
        raise InputError("server", server.name, "give FedAvg or FedProx")
    if server.fine_tune_after is not None:
        raise InputError("fine_tune_after", server.fine_tune_after, "give a server that never stops averaging, None")
