"""Random reshuffling of a finite sum, whose components are the clients. Mishchenko, Khaled, Richtarik (2020)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from torch import Tensor

from suffice.support.errors import InputError

from ..oracle import Oracle
from ..randomness import Randomness, Stream
from .algorithm import Algorithm, Draw, State
from .sampling import only

_MOST = 720


@dataclass(frozen=True, kw_only=True)
class RandomReshuffling(Algorithm):
    """x <- x - eta_i g_i(x) for i = pi(1), ..., pi(N), pi a random permutation: one iteration is an epoch, of N steps.

    All models are x. SGD that draws b of N components with equal probability is `FedAvg(participants=b)`.
    """

    name: str = "random-reshuffling"
    linear: bool = True

    def init(self, problem: Oracle, models: Tensor) -> State:
        return {"models": models.mean(1, keepdim=True).expand_as(models)}

    def draw(self, problem: Oracle, randomness: Randomness, iteration: int) -> Draw:
        """extra["place"] (S, N): when each component has its turn."""
        u = randomness.uniform(iteration=iteration, stream=Stream.COIN, clients=problem.clients, features=1)[..., 0]
        return Draw(
            iteration=iteration, noise=problem.draw(randomness, iteration), extra={"place": u.argsort(-1).argsort(-1)}
        )

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        x = state["models"]
        for place in range(problem.clients):
            move = eta[..., None] * problem.stochastic_gradient(x, None, draw.noise)
            x = x - only(draw.extra["place"] == place, move).sum(1, keepdim=True)
        return {"models": x}

    def outcomes(self, problem: Oracle, iteration: int) -> Sequence[tuple[float, Mapping[str, Tensor]]]:
        count = math.factorial(problem.clients)
        if count > _MOST:
            raise InputError("clients", problem.clients, f"{count:,} orders, more than {_MOST}: simulate instead")
        return [
            (1 / count, {"place": problem.start.new_tensor([order]).long()})
            for order in permutations(range(problem.clients))
        ]
