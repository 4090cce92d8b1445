"""CoBo: pairs of clients learn whether their gradients agree, and pull together when they do.

Hashemi, He, Jaggi (2024), Algorithm 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from suffice.support.errors import InputError
from suffice.support.numbers import as_number, as_whole

from ..oracle import Oracle
from ..randomness import Randomness, Stream
from .algorithm import Algorithm, Count, Draw, State, checked
from .arguments import check_pairs, pairwise
from .simplex_projection import on_simplex

Sampling = Literal["none", "constant", "time", "mixed", "released"]

MIDPOINT = "midpoint"
PAIRS = "pairs"


def pulled(problem: Oracle, theta: Tensor, w: Tensor, rho: float, draw: Draw, eta: Tensor) -> Tensor:
    """x_i - eta_i (g_i(x_i) + rho sum_k w_ik (x_i - x_k))."""
    apart = w.sum(-1)[..., None] * theta - torch.matmul(w, theta)
    return theta - eta[..., None] * (problem.stochastic_gradient(theta, None, draw.noise) + rho * apart)


def _agreement(problem: Oracle, theta: Tensor, draw: Draw) -> Tensor:
    """<g_i(z_ik), g_k(z_ik)> of the sampled pairs, (S, N, N); other entries mean nothing.

    The clients that client k meets stand first in its column of `met`, which has as many rows as the longest column
    needs: each client takes so many gradients, not N.
    """
    pairs, sample, to = draw.extra[PAIRS], draw.extra[MIDPOINT], theta[:, None]
    wanted = pairs | pairs.transpose(-1, -2)
    selects = getattr(problem, "selects", True)
    if selects and not wanted.any():
        return theta.new_zeros(pairs.shape)
    # samples of pairs stand by their numbers
    if not selects or getattr(problem, "pairwise", False) or wanted.all():
        gradient = problem.peer_gradient((theta[:, :, None] + to) / 2, sample)  # of k at [:, i, k], and z_ik = z_ki
        return torch.einsum("sikd,skid->sik", gradient, gradient)
    order = wanted.to(torch.uint8).argsort(dim=1, descending=True, stable=True)
    met = order[:, : int(wanted.sum(1).max())]
    seed, client = (torch.arange(count, device=theta.device) for count in theta.shape[:2])
    seed = seed[:, None, None]
    gradient = problem.peer_gradient((theta[seed, met] + to) / 2, sample)
    # where k stands in the column of one whom it meets: `order` is a permutation, and this its inverse
    theirs = order.argsort(dim=1)[seed, client, met].clamp_max(met.shape[1] - 1)
    product = torch.einsum("smkd,smkd->smk", gradient, gradient[seed, theirs, met])
    return theta.new_zeros(pairs.shape).scatter(1, met, product)


@dataclass(frozen=True, kw_only=True)
class CoBo(Algorithm):
    """w_ij <- clip(w_ij + gamma <g_i(z_ij), g_j(z_ij)>, 0, 1) at z_ij = (x_i + x_j)/2 for the sampled pairs, then
    x_i <- x_i - eta_i (g_i(x_i) + rho sum_k w_ik (x_i - x_k)).

    Midpoint gradients use a sample of each client that is fresh in every iteration; it serves all its pairs.
    gamma is `weight_step`; weights start at `w0`, one number or (N, N), and w_ii has no effect. Midpoints are N d
    numbers for each pair of the client that has most of them; on a card of all pairs, so that it need not be waited
    for, but where a network is large.

    sampling      the probability of a pair in iteration t = 1, 2, ...: "none" 1; "constant" 1/N; "time" 1/t; "mixed"
                  1/N in the first 0.2 % of `horizon` iterations, then 1/t; "released" 2/N until t = 800, then 1/sqrt(t)
    symmetric     pairs {i, j} are drawn, and w_ij = w_ji; otherwise ordered pairs (i, j), as in the paper
    models_first  the models move first, with the old weights; the weights then see the new models
    simplex       the weights w_i of a client sum to 1 in place of the bound 1 of each (Section 4.3): the entries of the
                  sampled pairs move, w_ii by |g_i(x_i)|^2, and w_i is projected on the simplex; w0 is then 1/N
    """

    rho: float = checked(as_number, least=0)
    weight_step: float = checked(as_number, least=0)
    sampling: Sampling = "constant"
    horizon: int | None = checked(as_whole, None)
    symmetric: bool = False
    models_first: bool = False
    simplex: bool = False
    w0: float | Tensor | None = None
    name: str = "cobo"
    linear: bool = False
    estimates = True

    @classmethod
    def released(cls, *, rho: float) -> CoBo:
        """The authors' code: weight step 0.01, models first, unordered pairs; but without its momentum of 0.9."""
        return cls(
            rho=rho, weight_step=0.01, sampling="released", symmetric=True, models_first=True, name="cobo-released"
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sampling not in ("none", "constant", "time", "mixed", "released"):
            raise InputError("sampling", self.sampling, "use none, constant, time, mixed or released")
        if self.sampling == "mixed" and self.horizon is None:
            raise InputError("horizon", None, "mixed sampling needs the number of iterations of the run")
        if self.simplex and self.symmetric:
            raise InputError("symmetric", True, "rows that sum to 1 are projected one by one: w_ij = w_ji is lost")

    def init(self, problem: Oracle, models: Tensor) -> State:
        check_pairs(problem, len(models))
        w0 = pairwise("w0", (1 / problem.clients if self.simplex else 1.0) if self.w0 is None else self.w0, problem)
        if bool((w0 > 1).any()):
            raise InputError("w0", w0.max().item(), "give weights in [0, 1]")
        if self.simplex and bool(((w0.sum(-1) - 1).abs() > 1e-6).any()):
            raise InputError("w0", w0.sum(-1).tolist(), "give rows that sum to 1")
        return {"models": models, "w": w0.expand(len(models), -1, -1)}

    def chance(self, clients: int, iteration: int) -> float:
        """The probability that a pair is sampled."""
        if self.sampling == "none":
            return 1.0
        if self.sampling == "released":
            return min(2 / clients, 1.0) if iteration <= 800 else 1 / math.sqrt(iteration)
        if self.sampling == "constant" or (self.sampling == "mixed" and iteration - 1 < 0.002 * (self.horizon or 0)):
            return 1 / clients
        return 1 / iteration

    def draw(self, problem: Oracle, randomness: Randomness, iteration: int) -> Draw:
        n = problem.clients
        coins = randomness.uniform(iteration=iteration, stream=Stream.COIN, clients=n, features=n)
        pairs = coins < self.chance(n, iteration)
        if not self.simplex:  # where w_ii has no effect
            pairs = pairs & ~torch.eye(n, dtype=torch.bool, device=coins.device)
        if self.symmetric:
            pairs = pairs.triu()
            pairs = pairs | pairs.transpose(-1, -2)
        midpoint = problem.draw(randomness, iteration, stream=Stream.SIMILARITY)
        return Draw(
            iteration=iteration, noise=problem.draw(randomness, iteration), extra={MIDPOINT: midpoint, PAIRS: pairs}
        )

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        theta, w = state["models"], state["w"]
        if self.models_first:
            theta = pulled(problem, theta, w, self.rho, draw, eta)
            return {"models": theta, "w": self._selected(problem, theta, w, draw)}
        w = self._selected(problem, theta, w, draw)
        return {"models": pulled(problem, theta, w, self.rho, draw, eta), "w": w}

    def _selected(self, problem: Oracle, theta: Tensor, w: Tensor, draw: Draw) -> Tensor:
        moved = torch.where(draw.extra[PAIRS], w + self.weight_step * _agreement(problem, theta, draw), w)
        return on_simplex(moved) if self.simplex else moved.clamp(0, 1)

    def collaboration(self, problem: Oracle, state: State, draw: Draw) -> Tensor:
        """The w_ij that the models use."""
        return state["w"] if self.models_first else self._selected(problem, state["models"], state["w"], draw)

    def oracle_calls(self, problem: Oracle, draw: Draw) -> Count:
        """One for each client's step, two for each sampled pair, one for a client with itself."""
        alone = draw.extra[PAIRS].diagonal(dim1=-2, dim2=-1).sum(-1)
        return problem.clients + (1 if self.symmetric else 2) * draw.extra[PAIRS].sum((-1, -2)) - alone

    def vectors_sent(self, problem: Oracle, draw: Draw) -> Count:
        """Every model to every client, and for w_ij the gradient of j to i."""
        pairs = draw.extra[PAIRS]
        return problem.clients * (problem.clients - 1) + pairs.sum((-1, -2)) - pairs.diagonal(dim1=-2, dim2=-1).sum(-1)
