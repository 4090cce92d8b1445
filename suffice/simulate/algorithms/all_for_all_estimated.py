"""All-for-all between clients that samples taken before the run show to be alike. Even, Massoulie, Scaman (2022), 6."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from suffice.support.numbers import as_number, as_whole

from ..oracle import Oracle
from ..randomness import Randomness, Stream
from .algorithm import Algorithm, Draw, State, checked

BEFORE = "before"


@dataclass(frozen=True, kw_only=True)
class EstimatedAllForAll(Algorithm):
    """All-for-all whose Lambda comes from S samples per client before the first step: equal weights on
    {j: bhat_ij <= threshold}, or on the connected components of that graph.

    bhat_ij = |ghat_i - ghat_j|, ghat the mean of S gradients at the mean of the starts. For f_i = |x - E xi_i|^2 / 2
    these are the paper's |muhat_i - muhat_j|. In a linear model it compares the means of z z^T, z = (a, b), whole;
    gradients see their part z z^T (x_0, -1). The state holds W (S, N, N), zero until it is known.
    """

    samples: int = checked(as_whole)
    threshold: float = checked(as_number, least=0)
    connected: bool = True
    name: str = "all-for-all-estimated"
    linear: bool = False
    estimates = True

    def init(self, problem: Oracle, models: Tensor) -> State:
        return {"models": models, "W": models.new_zeros(len(models), problem.clients, problem.clients)}

    def draw(self, problem: Oracle, randomness: Randomness, iteration: int) -> Draw:
        noise, extra = problem.draw(randomness, iteration), {}
        if iteration == 1:
            extra[BEFORE] = problem.draw(randomness, iteration, stream=Stream.SIMILARITY, batch=self.samples)
        return Draw(iteration=iteration, noise=noise, extra=extra)

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        x, W = state["models"], self.collaboration(problem, state, draw)
        own = problem.stochastic_gradient(x, None, draw.noise)
        return {"models": x - eta[..., None] * torch.matmul(W, own), "W": W}

    def collaboration(self, problem: Oracle, state: State, draw: Draw) -> Tensor:
        """W, from the samples in the first iteration and from the state ever after."""
        if draw.iteration > 1:
            return state["W"]
        start = state["models"].mean(1, keepdim=True).expand_as(state["models"])
        gap, _ = problem.sampled_gap(start, draw.extra[BEFORE])
        linked = (gap + gap.transpose(-1, -2) <= 2 * self.threshold**2).to(gap)  # symmetric whatever the rounding
        if self.connected:  # paths of up to 2, 4, 8, ... edges
            for _ in range((problem.clients - 1).bit_length()):
                linked = (torch.matmul(linked, linked) > 0).to(gap)
        Lambda = linked / linked.sum(-1, keepdim=True)
        return torch.matmul(Lambda, Lambda.transpose(-1, -2))

    def oracle_calls(self, problem: Oracle, draw: Draw) -> float:
        """The S samples in units of the problem's batch, once."""
        return problem.clients * (1 + (self.samples / problem.batch if draw.iteration == 1 else 0))

    def vectors_sent(self, problem: Oracle, draw: Draw) -> int:
        """At most: every pair of clients exchanges gradients, and before the first step the means of the samples."""
        return problem.clients * (problem.clients - 1) * (2 if draw.iteration == 1 else 1)
