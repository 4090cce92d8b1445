"""IFCA: every client joins the cluster whose model fits it best. Ghosh, Chung, Yin, Ramchandran (2020), Algorithm 1."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from suffice.support.errors import InputError
from suffice.support.numbers import as_numbers

from ..oracle import Oracle
from .algorithm import Algorithm, Draw, State


@dataclass(frozen=True, kw_only=True)
class IFCA(Algorithm):
    """C_m <- C_m - (1/N) sum_{i: s_i = m} eta_i g_i(C_m) with s_i = argmin_m R_i(C_m): the gradient averaging form.

    The M centres start at the mean of the clients' starts plus `offsets` (M, d), which must differ: equal centres
    keep everybody with the first. Clusters are chosen by the local loss on rows held out, of a problem the exact one,
    ties by the lower number. The models are those of the chosen centres; the choice is made as soon as the centres have
    moved, for the next iteration.
    """

    offsets: Tensor
    name: str = "ifca"
    linear: bool = False

    def __post_init__(self) -> None:
        as_numbers("offsets", self.offsets, ("M", "d"))

    def init(self, problem: Oracle, models: Tensor) -> State:
        if self.offsets.shape[1] != problem.features:
            remedy = f"give (M, d) for d = {problem.features} features"
            raise InputError("offsets", f"array of shape {tuple(self.offsets.shape)}", remedy)
        return _choose(problem, models.mean(1, keepdim=True) + self.offsets.to(models))

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        g = problem.stochastic_gradient(state["models"], None, draw.noise)
        moves = torch.matmul(state["chosen"].transpose(-1, -2), eta[..., None] * g)
        return _choose(problem, state["centres"] - moves / problem.clients)

    def collaboration(self, problem: Oracle, state: State, draw: Draw) -> Tensor:
        return torch.matmul(state["chosen"], state["chosen"].transpose(-1, -2)) / problem.clients

    def oracle_calls(self, problem: Oracle, draw: Draw) -> int:
        """One gradient and M loss evaluations per client."""
        return problem.clients * (1 + len(self.offsets))

    def vectors_sent(self, problem: Oracle, draw: Draw) -> int:
        """M centres to every client, one gradient back."""
        return problem.clients * (len(self.offsets) + 1)


def _choose(problem: Oracle, centres: Tensor) -> State:
    """`chosen` (S, N, M) marks each client's centre by 1."""
    n = problem.clients
    # R_i(C_m) up to a constant of the client, which moves no argmin
    losses = torch.stack([problem.held_out(centre[:, None].expand(-1, n, -1)) for centre in centres.unbind(1)], dim=-1)
    choice = losses.argmin(-1)
    models = centres.gather(1, choice[..., None].expand(-1, -1, centres.shape[-1]))
    return {"models": models, "centres": centres, "chosen": one_hot(choice, centres.shape[1]).to(centres)}
