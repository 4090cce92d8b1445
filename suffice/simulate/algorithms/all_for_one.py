"""All-for-one: every client's model moves along a weighted sum of all clients' gradients taken at it.

Philippenko et al. (2025), Eq. (All-for-one), Definitions 1 and 3, Eq. (1).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from suffice.bounds import Binary, Continuous, Criterion, collaboration_weights
from suffice.support.errors import InputError
from suffice.support.numbers import as_whole

from ..oracle import Oracle
from ..randomness import Randomness
from ..similarity_ratio import ExactSimilarity, ReleasedSimilarity, Similarity
from .algorithm import Algorithm, Draw, State, checked
from .arguments import per_client


@dataclass(frozen=True, kw_only=True)
class AllForOne(Algorithm):
    """theta_i <- theta_i - eta_i sum_k alpha_ik g_k(theta_i), alpha from similarity ratios r_ik.

    Definition 1: alpha_ik = (phi(r_ik) / sigma_k^2) / (sum_l r_il phi(r_il) / sigma_l^2); `normalised` weights,
    (phi(r_ik) / sigma_k^2) / (sum_l phi(r_il) / sigma_l^2), sum to 1. A binary criterion may carry one threshold
    per client as a tensor (N, 1).

    similarity     exact ratios (the rule of the theorems, not counted as oracle calls) or estimates from samples
    refresh        k: iterations 1, 1 + k, 1 + 2k, ... compute the ratios anew, and the state keeps them in between
    sigma2         variances to weigh by, one or (N,): the problem's own unless given; 1 ignores them
    """

    criterion: Criterion
    similarity: Similarity = field(default_factory=ExactSimilarity)
    normalised: bool = False
    refresh: int = checked(as_whole, 1)
    sigma2: float | Tensor | None = None
    name: str = "all-for-one"
    linear: bool = False
    estimates = property(lambda self: self.similarity.samples > 0)

    def __post_init__(self) -> None:
        if not isinstance(self.criterion, Criterion) or isinstance(self.criterion, type):
            raise InputError("criterion", self.criterion, "give a criterion object, such as Continuous()")
        super().__post_init__()

    @classmethod
    def released(cls, *, binary: bool) -> AllForOne:
        """The authors' code: weights 1{r > 0} or r, divided by their sum, whatever the variances; its own ratio r."""
        # phi = 1e-12 1{r >= 1e-12} is 1{r > 0} after normalisation, but for ratios that no double gradient resolves.
        criterion = Binary(threshold=1e-12) if binary else Continuous()
        name = f"all-for-one-released-{criterion.kind}"
        return cls(criterion=criterion, similarity=ReleasedSimilarity(), normalised=True, sigma2=1.0, name=name)

    def init(self, problem: Oracle, models: Tensor) -> State:
        if self.sigma2 is None and not hasattr(problem, "sigma2"):
            remedy = f"a {type(problem).__name__} does not know it: give yours, or AllForOne(sigma2=1) to ignore it"
            raise InputError("sigma2", None, remedy)
        variances = per_client("sigma2", self._variances(problem), problem)
        if bool((variances <= 0).any()):
            remedy = "weights divide by sigma^2: give positive variances, or AllForOne(sigma2=1) to ignore them"
            raise InputError("sigma2", float(variances.min()), remedy)
        if self.refresh == 1:
            return {"models": models}
        nobody = torch.eye(problem.clients).to(models).expand(len(models), -1, -1)
        return {"models": models, "similarity": nobody}

    def draw(self, problem: Oracle, randomness: Randomness, iteration: int) -> Draw:
        extra = self.similarity.draw(problem, randomness, iteration) if self._due(iteration) else {}
        return Draw(iteration=iteration, noise=problem.draw(randomness, iteration), extra=extra)

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        theta, ratio = state["models"], self._ratio(problem, state, draw)
        alpha = self._weights(problem, ratio)
        after = theta - eta[..., None] * problem.stochastic_gradient(theta, alpha, draw.noise)
        return {"models": after} if "similarity" not in state else {"models": after, "similarity": ratio}

    def _ratio(self, problem: Oracle, state: State, draw: Draw) -> Tensor:
        if not self._due(draw.iteration):
            return state["similarity"]
        return self.similarity.ratio(problem, state["models"], draw.extra)

    def _weights(self, problem: Oracle, ratio: Tensor) -> Tensor:
        variances = self._variances(problem)
        if self.normalised:
            phi = self.criterion.phi(ratio) / variances
            return (phi / phi.sum(-1, keepdim=True)).to(ratio)
        return collaboration_weights(self.criterion, similarity=ratio, sigma2=variances).to(ratio)

    def collaboration(self, problem: Oracle, state: State, draw: Draw) -> Tensor:
        return self._weights(problem, self._ratio(problem, state, draw))

    def _variances(self, problem: Oracle) -> Tensor | float:
        known: Any = problem
        if self.sigma2 is None:
            return known.sigma2
        return self.sigma2.to(problem.start) if isinstance(self.sigma2, Tensor) else float(self.sigma2)

    def _due(self, iteration: int) -> bool:
        return (iteration - 1) % self.refresh == 0

    def oracle_calls(self, problem: Oracle, draw: Draw) -> float:
        """N^2 gradients for the step, and m samples of each for an estimate, in units of the problem's batch."""
        estimate = self.similarity.samples / problem.batch if self._due(draw.iteration) else 0
        return (1 + estimate) * problem.clients**2

    def vectors_sent(self, problem: Oracle, draw: Draw) -> int:
        """Every model to every peer and a gradient back, and what an estimate sends back."""
        estimate = self.similarity.gradients_sent if self._due(draw.iteration) else 0
        return (2 + estimate) * problem.clients * (problem.clients - 1)
