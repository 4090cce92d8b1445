"""Momentum, every client alone: Polyak's heavy ball (1964) and Nesterov's method with a constant weight (1983)."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from ..oracle import Oracle
from .algorithm import Algorithm, Draw, State, checked
from .arguments import damping


@dataclass(frozen=True, kw_only=True)
class Momentum(Algorithm):
    """y = theta + q (theta - theta before); theta <- y - eta_i g_i(theta), or g_i(y) with `ahead`; q is `weight`.

    Without `ahead` the heavy ball, with it Nesterov's method. The two last models are equal at the start.
    """

    weight: float = checked(damping, 0.9)
    ahead: bool = False
    name: str = "heavy-ball"
    linear: bool = True

    @classmethod
    def nesterov(cls, *, weight: float = 0.9) -> Momentum:
        return cls(weight=weight, ahead=True, name="nesterov")

    def init(self, problem: Oracle, models: Tensor) -> State:
        # the last move, not the last model: a state that is zero at rest keeps its digits there
        return {"models": models, "move": models - models}

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        theta, move = state["models"], self.weight * state["move"]
        g = problem.stochastic_gradient(theta + move if self.ahead else theta, None, draw.noise)
        move = move - eta[..., None] * g
        return {"models": theta + move, "move": move}
