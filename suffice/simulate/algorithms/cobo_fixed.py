"""CoBo's models under given weights: the oracle that knows the clusters, or a run whose weights have settled."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from suffice.support.numbers import as_number

from ..oracle import Oracle
from .algorithm import Algorithm, Draw, State, checked
from .arguments import pairwise
from .cobo import pulled


@dataclass(frozen=True, kw_only=True)
class FixedCoBo(Algorithm):
    """CoBo's models under weights w (N, N) that stay: x_i <- x_i - eta_i (g_i(x_i) + rho sum_k w_ik (x_i - x_k))."""

    w: Tensor
    rho: float = checked(as_number, least=0)
    name: str = "cobo-fixed"
    linear: bool = True

    def init(self, problem: Oracle, models: Tensor) -> State:
        pairwise("w", self.w, problem)
        return {"models": models}

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        w = self.collaboration(problem, state, draw)
        return {"models": pulled(problem, state["models"], w, self.rho, draw, eta)}

    def collaboration(self, problem: Oracle, state: State, draw: Draw) -> Tensor:
        return self.w.to(state["models"]).expand(len(state["models"]), -1, -1)

    def vectors_sent(self, problem: Oracle, draw: Draw) -> int:
        """Models along the pairs with w_ij > 0."""
        return int((self.w > 0).sum() - (self.w.diagonal() > 0).sum())
