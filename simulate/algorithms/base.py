"""The interface of an algorithm. Its state is a dictionary of tensors whose leading axis is the seed."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor

from ..problem import Problem

State = dict[str, Tensor]


class Algorithm(Protocol):
    """`state["models"]` (S, N, d) are the personal models whose excess is traced."""

    @property
    def name(self) -> str: ...

    @property
    def linear(self) -> bool:
        """Whether `step` is affine in (state, draw) when the problem's gradients are."""
        ...

    def init(self, problem: Problem, models: Tensor) -> State:
        """The state before the first step, from models (S, N, d)."""
        ...

    def step(self, problem: Problem, state: State, draw: Tensor, eta: Tensor) -> State:
        """One iteration with the problem's `draw` and step sizes eta (N,) (or a scalar tensor)."""
        ...

    def oracle_calls(self, problem: Problem) -> int:
        """Stochastic gradients per iteration, all clients together."""
        ...

    def vectors_sent(self, problem: Problem) -> int:
        """d-vectors communicated per iteration, both directions, all clients together."""
        ...
