"""FLIX: one shared model, mixed at every client with an anchor of its own.

Gasanov, Khaled, Horvath, Richtarik (2022); Yi, Condat, Richtarik (2023), Eq. (FLIX).
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from suffice.support.errors import InputError

from ..oracle import Oracle
from .algorithm import Algorithm, Draw, State
from .arguments import models_of, per_client


def personalised(models: Tensor, alpha: float | Tensor, anchors: Tensor | None, problem: Oracle) -> Tensor:
    """alpha_i x_i + (1 - alpha_i) y_i, the anchors y_i being the clients' own optima unless given; all checked."""
    weight = per_client("alpha", alpha, problem)[:, None]
    if not bool(((weight > 0) & (weight <= 1)).all()):
        raise InputError("alpha", weight[:, 0].tolist(), "give personalisation weights in (0, 1]")
    if anchors is None and not hasattr(problem, "optimum") and bool((weight < 1).any()):
        remedy = f"a {type(problem).__name__} does not know the clients' optima: give models that they trained alone"
        raise InputError("anchors", None, remedy)
    fixed = optima(problem) if anchors is None else models_of("anchors", anchors, problem)
    return weight * models + (1 - weight) * fixed


def optima(problem: Oracle) -> Tensor:
    """The clients' own optima; where they are unknown the start, which has weight 0 as alpha is 1."""
    return getattr(problem, "optimum", problem.start)


def mixture(alpha: float | Tensor, problem: Oracle) -> Tensor:
    """The checked alpha as (N, 1)."""
    like = problem.start
    weight = alpha.to(like) if isinstance(alpha, Tensor) else like.new_full((), float(alpha))
    return weight.expand(problem.clients)[:, None]


@dataclass(frozen=True, kw_only=True)
class Flix(Algorithm):
    """x <- x - mean_i(eta_i alpha_i g_i(t_i)), t_i = alpha_i x + (1 - alpha_i) y_i: gradient descent on the mean of
    f_i(alpha_i x + (1 - alpha_i) y_i).

    The paper's step is one eta, 1 / mean_i(alpha_i^2 L_i). The models traced are the personalised t_i, and they are
    the whole state: t_i <- t_i - alpha_i mean_j(eta_j alpha_j g_j(t_j)). x starts at the mean of the clients' starts.
    `population` takes exact gradients instead of the oracle's.
    """

    alpha: float | Tensor
    anchors: Tensor | None = None
    population: bool = False
    name: str = "flix"
    linear: bool = True

    def init(self, problem: Oracle, models: Tensor) -> State:
        common = models.mean(1, keepdim=True).expand_as(models)
        return {"models": personalised(common, self.alpha, self.anchors, problem)}

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        mixed = state["models"]
        alpha = mixture(self.alpha, problem)
        g = problem.gradient(mixed) if self.population else problem.stochastic_gradient(mixed, None, draw.noise)
        return {"models": mixed - alpha * (eta[..., None] * alpha * g).mean(1, keepdim=True)}

    def vectors_sent(self, problem: Oracle, draw: Draw) -> int:
        return 2 * problem.clients
