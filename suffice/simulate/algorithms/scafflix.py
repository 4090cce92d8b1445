"""Scaffnew, i-Scaffnew and Scafflix: local steps with control variates, an average with probability p.

Mishchenko, Malinovsky, Stich, Richtarik (2022); Yi, Condat, Richtarik (2023), Algorithms 1 and 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from suffice.bounds.scafflix_settings import initial_control_variates
from suffice.support.errors import InputError

from ..oracle import Oracle
from ..randomness import Randomness, Stream
from .algorithm import Algorithm, Count, Draw, State, checked
from .arguments import models_of, per_client, probability
from .flix import mixture, optima, personalised

COIN = "coin"

# The paper iterates x_i and evaluates gradients at t_i = alpha_i x_i + (1 - alpha_i) y_i:
#     x'_i = x_i - (gamma_i / alpha_i) (g_i(t_i) - h_i);   with probability p, for all clients together,
#     x_i = xbar = sum_j (alpha_j^2 / gamma_j) x'_j / sum_j (alpha_j^2 / gamma_j),
#     h_i <- h_i + (p alpha_i / gamma_i) (xbar - x'_i);   otherwise x_i = x'_i.
# Multiplying by alpha_i gives the same in t_i alone, without a division by alpha_i:
#     t'_i = t_i - gamma_i (g_i(t_i) - h_i),   h_i <- h_i + (p / gamma_i) (t_i - t'_i) when t_i is the average's,
# and alpha_j^2 x'_j = alpha_j (t'_j - (1 - alpha_j) y_j).


@dataclass(frozen=True, kw_only=True)
class Scaffnew(Algorithm):
    """Scafflix with steps gamma_i = eta_i, personalisation weights alpha_i in (0, 1] and anchors y_i (N, d).

    alpha = 1 is i-Scaffnew; with one eta for all, Scaffnew. The models traced are the personalised
    t_i = alpha_i x_i + (1 - alpha_i) y_i. Starts are those of x_i; anchors are the clients' own optima unless given.
    One coin of probability p serves all clients.

    control     the h_i at the start (N, d), zero unless given. sum_i alpha_i h_i never changes and is 0 at the
                solution of FLIX: with another value the method converges elsewhere (the paper prints sum_i h_i = 0)
    population  take exact gradients instead of the oracle's
    """

    p: float = checked(probability)
    alpha: float | Tensor = 1.0
    anchors: Tensor | None = None
    control: Tensor | None = None
    population: bool = False
    name: str = "scaffnew"
    linear: bool = True

    @classmethod
    def scafflix(
        cls,
        problem: Oracle,
        *,
        p: float,
        alpha: float | Tensor,
        eta: float | Tensor,
        anchors: Tensor | None = None,
        start: Literal["corrected", "printed"] = "corrected",
        population: bool = False,
    ) -> Scaffnew:
        """Scafflix started, for one communication, from the gradients at the clients' starts.

        They are projected onto sum_i alpha_i h_i = 0 (`corrected`; eta are the steps it will run with) or, as the
        constraint is printed, onto sum_i h_i = 0. Raises `InputError`.
        """
        if start not in ("corrected", "printed"):
            raise InputError("start", start, "use corrected or printed")
        gradients = problem.gradient(personalised(problem.start[None], alpha, anchors, problem))[0]
        if start == "printed":
            control = gradients - gradients.mean(0)
        else:
            weights, steps = (
                per_client(name, value, problem).cpu() for name, value in (("alpha", alpha), ("eta", eta))
            )
            control = torch.from_numpy(initial_control_variates(gradients.cpu(), eta=steps, alpha=weights))
        return cls(p=p, alpha=alpha, anchors=anchors, control=control, population=population, name="scafflix")

    def init(self, problem: Oracle, models: Tensor) -> State:
        mixed = personalised(models, self.alpha, self.anchors, problem)
        if self.control is None:
            return {"models": mixed, "control": torch.zeros_like(mixed)}
        return {"models": mixed, "control": models_of("control", self.control, problem).expand_as(mixed)}

    def draw(self, problem: Oracle, randomness: Randomness, iteration: int) -> Draw:
        coin = randomness.uniform(iteration=iteration, stream=Stream.COIN, clients=1, features=1)[:, 0, 0] < self.p
        return Draw(iteration=iteration, noise=problem.draw(randomness, iteration), extra={COIN: coin})

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        mixed, h, gamma, alpha = state["models"], state["control"], eta[..., None], mixture(self.alpha, problem)
        g = problem.gradient(mixed) if self.population else problem.stochastic_gradient(mixed, None, draw.noise)
        local = mixed - gamma * (g - h)
        offset = (1 - alpha) * self.fixed(problem)
        average = ((alpha / gamma) * (local - offset)).sum(1, keepdim=True) / (alpha**2 / gamma).sum(0)
        together = alpha * average + offset
        coin = draw.extra[COIN][:, None, None]
        return {
            "models": torch.where(coin, together, local),
            "control": torch.where(coin, h + (self.p / gamma) * (together - local), h),
        }

    def fixed(self, problem: Oracle) -> Tensor:
        """The anchors (N, d)."""
        return optima(problem) if self.anchors is None else self.anchors.to(problem.start)

    def vectors_sent(self, problem: Oracle, draw: Draw) -> Count:
        return 2 * problem.clients * draw.extra[COIN]

    def outcomes(self, problem: Oracle, iteration: int) -> Sequence[tuple[float, Mapping[str, Tensor]]]:
        sides = [(self.p, True), (1 - self.p, False)]
        return [(odds, {COIN: torch.tensor([side], device=problem.device)}) for odds, side in sides]
