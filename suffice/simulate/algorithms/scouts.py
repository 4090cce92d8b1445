"""All-for-one with the weights that nested scouts found, after a while of everybody together."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from suffice.support.numbers import as_whole

from ..oracle import Oracle
from .algorithm import Draw, State, checked
from .fixed_weights import FixedWeights


@dataclass(frozen=True, kw_only=True)
class Scouts(FixedWeights):
    """theta_i <- mean_k (theta_k - eta_k g_k(theta_k)) for `together` iterations, which is FedAvg of one local step;
    then theta_i <- theta_i - eta_i sum_k alpha_ik g_k(theta_i).

    scouting  stochastic gradients and models sent before the first iteration, whose costs they are added to

    `suffice.collaborators` trains the scouts and makes this algorithm of what they found.
    """

    together: int = checked(as_whole, 0, least=0)
    scouting: tuple[int, int] = (0, 0)
    name: str = "scouts"

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        if draw.iteration > self.together:
            return super().step(problem, state, draw, eta)
        theta = state["models"]
        moved = theta - eta[..., None] * problem.stochastic_gradient(theta, None, draw.noise)
        return {"models": moved.mean(1, keepdim=True).expand_as(moved).clone()}

    def collaboration(self, problem: Oracle, state: State, draw: Draw) -> Tensor:
        weights = super().collaboration(problem, state, draw)
        return weights if draw.iteration > self.together else weights.new_ones(weights.shape) / problem.clients

    def oracle_calls(self, problem: Oracle, draw: Draw) -> int:
        calls = problem.clients if draw.iteration <= self.together else super().oracle_calls(problem, draw)
        return calls + (self.scouting[0] if draw.iteration == 1 else 0)

    def vectors_sent(self, problem: Oracle, draw: Draw) -> int:
        """Up and down once while everybody is together; before the first iteration the scouts."""
        sent = 2 * problem.clients if draw.iteration <= self.together else super().vectors_sent(problem, draw)
        return sent + (self.scouting[1] if draw.iteration == 1 else 0)

    def phase(self, iteration: int) -> int:
        return int(iteration <= self.together)
