"""FedAMP: clients are pulled to a mixture of models, in which those near their own weigh more.

Huang, Chu, Zhou, Wang, Liu, Pei, Zhang (2021), Algorithm 1, with its A(x) = 1 - exp(-x / sigma).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from suffice.support.numbers import as_number, as_whole

from ..oracle import Oracle
from .algorithm import Algorithm, Draw, State, checked
from .arguments import positive
from .averaging import distances


@dataclass(frozen=True, kw_only=True)
class FedAMP(Algorithm):
    """Every H iterations u_i <- x_i + sum_{k != i} xi_ik (x_k - x_i), xi_ik = a/(N - 1) exp(-|x_i - x_k|^2 / sigma);
    in each x_i <- x_i - eta_i (g_i(x_i) + pull (x_i - u_i)).

    H is `period`, a in [0, 1] is `share`, so that u_i is a convex combination: the paper's alpha_k is a sigma / (N - 1)
    and its lambda / alpha_k is `pull` [loss / theta^2]; `sigma` [theta^2]. H gradient steps stand for the exact
    minimum of R_i(x) + (pull/2) |x - u_i|^2 that the paper takes, and start at x_i.
    """

    share: float = checked(as_number, 0.5, least=0, most=1)
    sigma: float = checked(positive, 1.0)
    pull: float = checked(as_number, 1.0, least=0)
    period: int = checked(as_whole, 1)
    name: str = "fedamp"
    linear: bool = False

    def init(self, problem: Oracle, models: Tensor) -> State:
        return {"models": models, "cloud": models}

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        x, u = state["models"], state["cloud"]
        if self._begins(draw.iteration):
            u = torch.matmul(self.collaboration(problem, state, draw), x)
        g = problem.stochastic_gradient(x, None, draw.noise)
        return {"models": x - eta[..., None] * (g + self.pull * (x - u)), "cloud": u}

    def collaboration(self, problem: Oracle, state: State, draw: Draw) -> Tensor:
        """xi at the models: that of the u_i where a round begins."""
        x, n = state["models"], problem.clients
        apart = distances(x, x) ** 2
        own = torch.eye(n, dtype=x.dtype, device=x.device)
        xi = self.share / max(n - 1, 1) * torch.exp(-apart / self.sigma) * (1 - own)
        return xi + own * (1 - xi.sum(-1, keepdim=True))

    def vectors_sent(self, problem: Oracle, draw: Draw) -> int:
        """At the start of a round the models go to the server and the u_i to the clients."""
        return 2 * problem.clients if self._begins(draw.iteration) else 0

    def phase(self, iteration: int) -> int:
        return iteration % self.period

    def _begins(self, iteration: int) -> bool:
        return (iteration - 1) % self.period == 0
