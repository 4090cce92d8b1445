"""SGD whose steps are shorter from iteration to iteration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from suffice.simulate import Local


@dataclass(frozen=True, kw_only=True)
class Steps(Local):
    """The step in iteration t = 1, 2, ... is eta times size(t)."""

    name: str = "own steps"
    size: Callable[[int], float]

    def step(self, problem, state, draw, eta):
        return super().step(problem, state, draw, eta * self.size(draw.iteration))

    def phase(self, iteration):
        return iteration
