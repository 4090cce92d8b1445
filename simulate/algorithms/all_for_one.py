"""All-for-one: every client's model moves along a weighted sum of all clients' gradients taken at it.

Philippenko et al. (2025), Eq. (All-for-one), Definitions 1 and 3; fixed weights: Even, Massoulie, Scaman (2022).
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from bounds import Criterion, InputError, collaboration_weights

from .. import similarity
from ..problem import Problem
from .base import Algorithm, Draw, State


@dataclass(frozen=True, kw_only=True)
class AllForOne(Algorithm):
    """theta_i <- theta_i - eta_i sum_k alpha_ik g_k(theta_i), alpha by Definition 1 from exact similarities.

    The similarities come from population gradients, the idealised rule that the theorems are about;
    they are not counted as oracle calls. A binary criterion may carry one threshold per client as a
    tensor (N, 1).
    """

    criterion: Criterion
    name: str = "all-for-one"
    linear: bool = False

    def init(self, problem: Problem, models: Tensor) -> State:
        if bool((problem.sigma2 <= 0).any()):
            raise InputError("sigma2", 0.0, "Definition 1 weighs clients by 1/sigma^2: give positive variances")
        return {"models": models}

    def weights(self, problem: Problem, theta: Tensor) -> Tensor:
        """alpha_ik as [s, i, k] (S, N, N)."""
        ratio = similarity.exact(problem, theta)
        return collaboration_weights(self.criterion, similarity=ratio, sigma2=problem.sigma2)

    def step(self, problem: Problem, state: State, draw: Draw, eta: Tensor) -> State:
        theta = state["models"]
        direction = problem.stochastic_gradient(theta, self.weights(problem, theta), draw.noise)
        return {"models": theta - eta[..., None] * direction}

    def oracle_calls(self, problem: Problem, draw: Draw) -> int:
        return problem.clients**2

    def vectors_sent(self, problem: Problem, draw: Draw) -> int:
        return 2 * problem.clients * (problem.clients - 1)


@dataclass(frozen=True, kw_only=True)
class FixedWeights(Algorithm):
    """theta_i <- theta_i - eta_i sum_k alpha_ik g_k(theta_i) with given alpha (N, N), row i for model i."""

    alpha: Tensor
    name: str = "all-for-one-fixed"
    linear: bool = True

    def init(self, problem: Problem, models: Tensor) -> State:
        n = problem.clients
        if self.alpha.shape != (n, n) or not bool((self.alpha >= 0).all()):
            raise InputError("alpha", f"array of shape {tuple(self.alpha.shape)}", f"give ({n}, {n}) weights >= 0")
        return {"models": models}

    def step(self, problem: Problem, state: State, draw: Draw, eta: Tensor) -> State:
        theta = state["models"]
        alpha = self.alpha.to(theta).expand(len(theta), -1, -1)
        return {"models": theta - eta[..., None] * problem.stochastic_gradient(theta, alpha, draw.noise)}

    def oracle_calls(self, problem: Problem, draw: Draw) -> int:
        return int((self.alpha > 0).sum())

    def vectors_sent(self, problem: Problem, draw: Draw) -> int:
        return 2 * int((self.alpha > 0).sum() - (self.alpha.diagonal() > 0).sum())
