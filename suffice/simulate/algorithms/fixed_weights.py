"""All-for-one with weights that never change: Even, Massoulie, Scaman (2022), Section 4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from suffice.bounds.threshold_weights import threshold_weights
from suffice.support.errors import InputError
from suffice.support.numbers import as_numbers

from ..oracle import Oracle
from .algorithm import Algorithm, Draw, State
from .arguments import pairwise


def dissimilarities(b: Any) -> np.ndarray:
    """b (N, N) with b_ii = 0 and 0 <= b_ik <= inf, or `InputError`."""
    b = as_numbers("b", b, ("N", "N"), infinite=True)
    if b.shape[0] != b.shape[1] or (b < 0).any() or np.diag(b).any():
        raise InputError("b", f"array of shape {b.shape}", "give (N, N) dissimilarities >= 0, zero on the diagonal")
    return b


def level(b: Any, mu: Any, epsilon: Any) -> np.ndarray:
    """sqrt(mu_i epsilon_i) (N,): the largest dissimilarity that precision epsilon tolerates."""
    mu, epsilon = (
        as_numbers(name, value, (len(b),), one_for_all=True, positive=True)
        for name, value in (("mu", mu), ("epsilon", epsilon))
    )
    return np.sqrt(mu * epsilon)


def same_cluster(labels: Sequence[Any]) -> Tensor:
    """Equal weights inside each cluster, (N, N), from one label per client: a symmetric projection."""
    if len(labels) == 0:
        raise InputError("labels", labels, "give one label per client")
    same = np.array([[one == two for two in labels] for one in labels], dtype=float)
    return torch.from_numpy(same / same.sum(-1, keepdims=True))


@dataclass(frozen=True, kw_only=True)
class FixedWeights(Algorithm):
    """theta_i <- theta_i - eta_i sum_k alpha_ik g_k(theta_i) with given alpha (N, N), row i for model i.

    `alpha` may be a tensor, an array or rows of numbers; else `InputError`. Weighted gradient averaging without
    correction is the same rule.
    """

    alpha: Tensor
    name: str = "all-for-one-fixed"
    linear: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        given: Any = self.alpha
        if not isinstance(given, Tensor):
            object.__setattr__(self, "alpha", torch.from_numpy(as_numbers("alpha", given, ("N", "N"))))

    @classmethod
    def threshold(cls, b: Any, *, mu: Any, epsilon: Any) -> FixedWeights:
        """Equal weights on {k: b_ik^2 <= mu_i epsilon_i}, b (N, N) bounds of |grad R_i - grad R_k|.

        The bias is then at most epsilon / 2. Every row holds the client itself, b_ii = 0.
        """
        return cls(alpha=torch.from_numpy(threshold_weights(b=dissimilarities(b), threshold=level(b, mu, epsilon))))

    @classmethod
    def clusters(cls, labels: Sequence[Any]) -> FixedWeights:
        """The oracle: equal weights inside each true cluster."""
        return cls(alpha=same_cluster(labels), name="all-for-one-oracle")

    def init(self, problem: Oracle, models: Tensor) -> State:
        pairwise("alpha", self.alpha, problem)
        return {"models": models}

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        theta = state["models"]
        alpha = self.collaboration(problem, state, draw)
        return {"models": theta - eta[..., None] * problem.stochastic_gradient(theta, alpha, draw.noise)}

    def collaboration(self, problem: Oracle, state: State, draw: Draw) -> Tensor:
        return self.alpha.to(state["models"]).expand(len(state["models"]), -1, -1)

    def oracle_calls(self, problem: Oracle, draw: Draw) -> int:
        return int((self.alpha > 0).sum())

    def vectors_sent(self, problem: Oracle, draw: Draw) -> int:
        return 2 * int((self.alpha > 0).sum() - (self.alpha.diagonal() > 0).sum())


@dataclass(frozen=True, kw_only=True)
class PreconditionedWeights(FixedWeights):
    """theta_i <- theta_i - eta_i P_i sum_k alpha_ik g_k(theta_i): each client applies its own matrix to the mixture.

    preconditioners  (N, d, d) [1, where eta is in theta^2 / loss]
    """

    preconditioners: Tensor
    name: str = "preconditioned-weights"

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        theta = state["models"]
        mixed = problem.stochastic_gradient(theta, self.collaboration(problem, state, draw), draw.noise)
        moved = torch.einsum("ide,sie->sid", self.preconditioners.to(theta), mixed)
        return {"models": theta - eta[..., None] * moved}
