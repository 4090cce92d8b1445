"""All-for-one: every client's model moves along a weighted sum of all clients' gradients taken at it.

Philippenko et al. (2025), Eq. (All-for-one), Definitions 1 and 3, Eq. (1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from suffice.bounds import Binary, Continuous, Criterion, collaboration_weights
from suffice.support.errors import InputError

from ..oracle import Oracle
from ..randomness import Randomness, Stream
from ..refresh_schedule import Every, Schedule
from ..similarity import ExactSimilarity, ReleasedSimilarity, Similarity
from .arguments import per_client
from .base import Algorithm, Count, Draw, State

ACTIVE = "active"


@dataclass(frozen=True, kw_only=True)
class AllForOne(Algorithm):
    """theta_i <- theta_i - eta_i sum_k alpha_ik g_k(theta_i), alpha from similarity ratios r_ik.

    Definition 1: alpha_ik = (phi(r_ik) / sigma_k^2) / (sum_l r_il phi(r_il) / sigma_l^2); `normalised` weights,
    (phi(r_ik) / sigma_k^2) / (sum_l phi(r_il) / sigma_l^2), sum to 1. A binary criterion may carry one threshold
    per client as a tensor (N, 1).

    similarity     exact ratios (the rule of the theorems, not counted as oracle calls) or estimates from samples
    refresh        iterations that compute the ratios anew; the state keeps them in between, nobody similar at first
    participation  probability that a client is active, one or (N,). Inactive clients send nothing and stay where they
                   are; their ratios are neither used nor refreshed, and the others' weights are over active peers
    sigma2         variances to weigh by, one or (N,): the problem's own unless given; 1 ignores them
    """

    criterion: Criterion
    similarity: Similarity = field(default_factory=ExactSimilarity)
    normalised: bool = False
    refresh: Schedule = field(default_factory=Every)
    participation: float | Tensor = 1.0
    sigma2: float | Tensor | None = None
    name: str = "all-for-one"
    linear: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.criterion, Criterion) or isinstance(self.criterion, type):
            raise InputError("criterion", self.criterion, "give a criterion object, such as Continuous()")

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
        chance = per_client("participation", self.participation, problem)
        if not bool(((chance > 0) & (chance <= 1)).all()):
            raise InputError("participation", chance.tolist(), "give probabilities in (0, 1]")
        if self.refresh == Every():
            return {"models": models}
        nobody = torch.eye(problem.clients).to(models).expand(len(models), -1, -1)
        return {"models": models, "similarity": nobody}

    def draw(self, problem: Oracle, randomness: Randomness, iteration: int) -> Draw:
        extra: dict[str, Tensor] = {}
        if self.refresh.due(iteration):
            extra |= self.similarity.draw(problem, randomness, iteration)
        if self._partial:
            coins = randomness.uniform(iteration=iteration, stream=Stream.COIN, clients=problem.clients, features=1)
            chance = self.participation
            extra[ACTIVE] = coins[..., 0] < (chance.to(coins) if isinstance(chance, Tensor) else chance)
        return Draw(iteration=iteration, noise=problem.draw(randomness, iteration), extra=extra)

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        theta, ratio, active = state["models"], self._ratio(problem, state, draw), draw.extra.get(ACTIVE)
        alpha = self._weights(problem, ratio, active)
        after = theta - eta[..., None] * problem.stochastic_gradient(theta, alpha, draw.noise)
        if active is not None:
            after = torch.where(active[..., None], after, theta)
        return {"models": after} if "similarity" not in state else {"models": after, "similarity": ratio}

    def _ratio(self, problem: Oracle, state: State, draw: Draw) -> Tensor:
        if not self.refresh.due(draw.iteration):
            return state["similarity"]
        ratio = self.similarity.ratio(problem, state["models"], draw.extra)
        if "similarity" in state and ACTIVE in draw.extra:
            active = draw.extra[ACTIVE]
            return torch.where(active[..., None] & active[..., None, :], ratio, state["similarity"])
        return ratio

    def _weights(self, problem: Oracle, ratio: Tensor, active: Tensor | None) -> Tensor:
        if active is not None:  # r = 0 has weight 0; a client's own row stays well defined when it is inactive
            present = active[..., None, :] | torch.eye(problem.clients, dtype=torch.bool, device=active.device)
            ratio = ratio * present
        variances = self._variances(problem)
        if self.normalised:
            phi = self.criterion.phi(ratio) / variances
            return (phi / phi.sum(-1, keepdim=True)).to(ratio)
        return collaboration_weights(self.criterion, similarity=ratio, sigma2=variances).to(ratio)

    def collaboration(self, problem: Oracle, state: State, draw: Draw) -> Tensor:
        return self._weights(problem, self._ratio(problem, state, draw), draw.extra.get(ACTIVE))

    def _variances(self, problem: Oracle) -> Tensor | float:
        known: Any = problem
        if self.sigma2 is None:
            return known.sigma2
        return self.sigma2.to(problem.start) if isinstance(self.sigma2, Tensor) else float(self.sigma2)

    @property
    def _partial(self) -> bool:
        return isinstance(self.participation, Tensor) or self.participation < 1

    def oracle_calls(self, problem: Oracle, draw: Draw) -> Count:
        """N^2 gradients for the step, and m samples of each for an estimate, in units of the problem's batch."""
        estimate = self.similarity.samples / problem.batch if self.refresh.due(draw.iteration) else 0
        return (1 + estimate) * self._active(problem, draw) ** 2

    def vectors_sent(self, problem: Oracle, draw: Draw) -> Count:
        """Every model to every peer and a gradient back, and what an estimate sends back."""
        estimate = self.similarity.gradients_sent if self.refresh.due(draw.iteration) else 0
        active = self._active(problem, draw)
        return (2 + estimate) * active * (active - 1)

    def _active(self, problem: Oracle, draw: Draw) -> Count:
        return problem.clients if ACTIVE not in draw.extra else draw.extra[ACTIVE].sum(-1)

    def outcomes(self, problem: Oracle, iteration: int) -> Sequence[tuple[float, Mapping[str, Tensor]]]:
        if self.similarity.samples:
            remedy = "weights estimated from samples have no finite list of outcomes: simulate"
            raise InputError("algorithm", self.name, remedy)
        if not self._partial:
            return [(1.0, {})]
        if problem.clients > 12:
            remedy = f"2^{problem.clients} sets of active clients are too many to list: simulate"
            raise InputError("participation", self.participation, remedy)
        chance = per_client("participation", self.participation, problem)
        masks = (
            torch.cartesian_prod(*[torch.tensor([True, False])] * problem.clients)
            .view(-1, problem.clients)
            .to(chance.device)
        )
        odds = torch.where(masks, chance, 1 - chance).prod(-1)
        return [(float(p), {ACTIVE: mask}) for p, mask in zip(odds, masks[:, None])]
