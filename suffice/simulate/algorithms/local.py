"""Local stochastic gradient descent: every client alone."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from ..oracle import Oracle
from .algorithm import Algorithm, Draw, State


@dataclass(frozen=True, kw_only=True)
class Local(Algorithm):
    """theta_i <- theta_i - eta_i g_i(theta_i)."""

    name: str = "local"
    linear: bool = True

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        theta = state["models"]
        return {"models": theta - eta[..., None] * problem.stochastic_gradient(theta, None, draw.noise)}
