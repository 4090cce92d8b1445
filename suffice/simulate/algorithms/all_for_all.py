"""All-for-all: one gradient per client and iteration, taken at its own model and filtered by W = Lambda Lambda^T.

Even, Massoulie, Scaman (2022), Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from suffice.bounds.threshold_weights import component_weights
from suffice.support.errors import InputError

from ..oracle import Oracle
from .algorithm import Algorithm, Draw, State
from .arguments import pairwise
from .fixed_weights import dissimilarities, level, same_cluster


@dataclass(frozen=True, kw_only=True)
class AllForAll(Algorithm):
    """x_i <- x_i - eta sum_j W_ij g_j(x_j), W = Lambda Lambda^T, from weights Lambda (N, N) whose rows sum to 1.

    Stable for eta <= 1 / (L smax), smax the largest eigenvalue of W, which can be near N/4; the rate is
    1 - eta mu smin with smin the smallest non-zero one, from a common start. If Lambda averages inside the parts of
    a partition both are 1. `suffice.bounds.spectral_gap.spectrum` gives them.
    """

    Lambda: Tensor
    name: str = "all-for-all"
    linear: bool = True

    @classmethod
    def threshold(cls, b: Any, *, mu: Any, epsilon: Any) -> AllForAll:
        """Equal weights on the connected components of the graph of {j: b_ij^2 <= mu_i epsilon_i}.

        They make Lambda a projection, but b can exceed the threshold inside them: bound the bias afterwards.
        """
        b, limit = dissimilarities(b), level(b, mu, epsilon)
        weights = component_weights(b=np.where(b <= limit[:, None], 0.0, 1.0), threshold=0.0)
        return cls(Lambda=torch.from_numpy(weights))

    @classmethod
    def clusters(cls, labels: Sequence[Any]) -> AllForAll:
        """The oracle: equal weights inside each true cluster."""
        return cls(Lambda=same_cluster(labels), name="all-for-all-oracle")

    @cached_property
    def W(self) -> Tensor:
        return self.Lambda @ self.Lambda.T

    def init(self, problem: Oracle, models: Tensor) -> State:
        rows = pairwise("Lambda", self.Lambda, problem).sum(-1)
        if bool(((rows - 1).abs() > 1e-6).any()):
            raise InputError("Lambda", rows.tolist(), "make every row sum to 1")
        return {"models": models}

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        x = state["models"]
        own = problem.stochastic_gradient(x, None, draw.noise)
        return {"models": x - eta[..., None] * torch.matmul(self.W.to(x), own)}

    def collaboration(self, problem: Oracle, state: State, draw: Draw) -> Tensor:
        return self.W.to(state["models"]).expand(len(state["models"]), -1, -1)

    def vectors_sent(self, problem: Oracle, draw: Draw) -> int:
        return int((self.W > 0).sum() - (self.W.diagonal() > 0).sum())
