"""Momentum and weight decay for any algorithm: what optimisers of networks do to gradients before a step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch import Tensor

from suffice.support.errors import InputError
from suffice.support.numbers import as_number

from ..oracle import Oracle
from .algorithm import Algorithm, Draw, State, Wrapper, checked
from .arguments import damping

VELOCITY = "velocity"


@dataclass(frozen=True, kw_only=True)
class Optimised(Wrapper):
    """`of` with v <- momentum v + g + weight_decay theta in the place of every stochastic gradient g at theta.

    The same as torch.optim.SGD without dampening; the step sizes act on v. Every client keeps its v between rounds, and
    those who do not participate in an iteration keep it as it is. A weighted sum of gradients has one v, and the decay
    of one loss. Similarities see plain gradients.
    """

    of: Algorithm
    momentum: float = checked(damping, 0.0)
    weight_decay: float = checked(as_number, 0.0, least=0)
    name: str = field(init=False)
    linear: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.of.name)
        object.__setattr__(self, "linear", self.of.linear)
        super().__post_init__()

    def init(self, problem: Oracle, models: Tensor) -> State:
        state = self.of.init(problem, models)
        if not self.momentum:
            return state
        return state | {VELOCITY: models.new_zeros(len(models), self.of.gradients_taken, *models.shape[1:])}

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        rest = {name: value for name, value in state.items() if name != VELOCITY}
        through: Any = _Through(problem, self, state.get(VELOCITY), draw.extra.get("participants"))
        after = self.of.step(cast(Oracle, through), rest, draw, eta)
        return after | {VELOCITY: torch.stack(through.velocities, 1)} if self.momentum else after


class _Through:
    """The problem of one step, whose stochastic gradients have passed through the velocities (S, C, N, d)."""

    def __init__(self, problem: Oracle, options: Optimised, before: Tensor | None, present: Tensor | None) -> None:
        self._problem, self._options, self._before, self._present = problem, options, before, present
        self.velocities: list[Tensor] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._problem, name)

    def stochastic_gradient(self, theta: Tensor, weights: Tensor | None, draw: Tensor) -> Tensor:
        v = self._problem.stochastic_gradient(theta, weights, draw)
        if self._options.weight_decay:
            v = v + self._options.weight_decay * theta
        if self._before is None:
            return v
        place = len(self.velocities)
        if place == self._before.shape[1]:
            raise InputError("momentum", self._options.momentum, f"say gradients_taken = {place + 1} in {self._rule}")
        before = self._before[:, place]
        v = v + self._options.momentum * before
        self.velocities.append(v if self._present is None else torch.where(self._present[..., None], v, before))
        return v

    @property
    def _rule(self) -> str:
        return type(self._options.of).__name__
