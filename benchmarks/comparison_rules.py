"""The algorithms of the published comparisons by name, what is tried of each, and two that sample as papers do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

import suffice as sf
from suffice.bounds import Binary, Continuous
from suffice.simulate import (
    APFL,
    IFCA,
    WGABC,
    AllForOne,
    CoBo,
    Ditto,
    FedAvg,
    FederatedClustering,
    Flix,
    Local,
    Randomness,
    SampledSimilarity,
    Scaffnew,
    Stream,
)
from suffice.simulate.algorithms.algorithm import Algorithm, Draw, State
from suffice.simulate.algorithms.cobo import MIDPOINT, PAIRS
from suffice.simulate.algorithms.flix import mixture
from suffice.simulate.algorithms.sampling import sample
from suffice.simulate.algorithms.scafflix import COIN

REFRESH, SAMPLES = 50, 128
"""All-for-one computes its weights so rarely, from so many rows of each client (512 in the paper)."""
OWN: dict[str, dict[str, float]] = {
    "All-for-one binary": {"threshold": 0.5},
    "FedAvg": {"period": 1},
    "Fine-tuned FedAvg": {"alone_from": 0.5},
    "Ditto": {"pull": 1.0},
    "CoBo": {"rho": 0.05, "weight_step": 0.1},
    "WGA-BC": {"mixture": 0.5, "memory": 0.1},
    "APFL": {"mixture": 0.5},
    "IFCA": {"spread": 0.3},
}
"""The numbers of rules beside the step size, the same everywhere. Ditto's and CoBo's rho are those of CoBo's paper and
code; the code's weight step of 0.01 is ten times larger here, as runs are so much shorter."""


@dataclass(frozen=True, kw_only=True)
class SampledCoBo(CoBo):
    """CoBo on a network, one seed at a time: midpoint gradients of the sampled pairs alone, the same numbers."""

    def _selected(self, problem: Any, theta: Tensor, w: Tensor, draw: Draw) -> Tensor:
        seed, i, k = draw.extra[PAIRS].nonzero(as_tuple=True)
        if not len(i):
            return w
        middle, rows = (theta[seed, i] + theta[seed, k]) / 2, draw.extra[MIDPOINT]
        share = theta.new_full((), 1 / rows.shape[-1]).expand(len(i), rows.shape[-1])
        data = problem.data
        own, peer = (problem.flat.gradients(middle, data.X, data.y, rows[seed, who], share) for who in (i, k))
        moved = w.clone()
        moved[seed, i, k] += self.weight_step * (own * peer).sum(-1)
        return moved.clamp(0, 1)


@dataclass(frozen=True, kw_only=True)
class SampledScafflix(Scaffnew):
    """Scafflix with `participants` clients a round, drawn after each average: the others stay at the server's model.

    The paper's experiments have it (tau), its Algorithm 1 does not. All clients: Scafflix itself.
    """

    participants: int
    linear: bool = False

    def init(self, problem: Any, models: Tensor) -> State:
        state = super().init(problem, models)
        return state | {"present": torch.zeros_like(models[..., 0], dtype=torch.bool)}

    def draw(self, problem: Any, randomness: Randomness, iteration: int) -> Draw:
        draw = super().draw(problem, randomness, iteration)
        u = randomness.uniform(iteration=iteration, stream=Stream.COIN, clients=problem.clients + 1, features=1)
        return replace(draw, extra={**draw.extra, "next": sample(u[:, 1:, 0], self.participants, None)})

    def step(self, problem: Any, state: State, draw: Draw, eta: Tensor) -> State:
        mixed, h, gamma, alpha = state["models"], state["control"], eta[..., None], mixture(self.alpha, problem)
        present = torch.where(state["present"].any(-1, keepdim=True), state["present"], draw.extra["next"])[..., None]
        g = problem.stochastic_gradient(mixed, None, draw.noise)
        local = torch.where(present, mixed - gamma * (g - h), mixed)
        offset, shares = (1 - alpha) * self.fixed(problem), present * alpha / gamma
        average = (shares * (local - offset)).sum(1, keepdim=True) / (shares * alpha).sum(1, keepdim=True)
        together, coin = alpha * average + offset, draw.extra[COIN][:, None, None]
        return {
            "models": torch.where(coin, together, local),
            "control": torch.where(coin & present, h + (self.p / gamma) * (together - local), h),
            "present": torch.where(coin[..., 0], draw.extra["next"], present[..., 0]),
        }

    def vectors_sent(self, problem: Any, draw: Draw) -> Any:
        return 2 * self.participants * draw.extra[COIN]


def tries(rule: str, steps: Sequence[float]) -> list[dict[str, Any]]:
    """What is tried of a rule on the rows held out: three step sizes."""
    return [{"eta": eta, **OWN.get(rule.partition(",")[0], {})} for eta in steps]


def rule_of(
    rule: str,
    options: dict[str, Any],
    problem: sf.Neural,
    clusters: Sequence[int],
    iterations: int,
    anchors: Any = None,
) -> Algorithm:
    """The algorithm "NAME" or "NAME, word" with what was tried; Scafflix and FLIX take `anchors`."""
    name, _, word = rule.partition(", ")
    seen = {"similarity": SampledSimilarity(samples=SAMPLES), "refresh": REFRESH, "sigma2": 1.0}
    if name == "All-for-one binary":
        return AllForOne(criterion=Binary(threshold=options["threshold"]), **seen)
    if name == "All-for-one continuous":
        return AllForOne(criterion=Continuous(), **seen)
    if name == "Oracle":
        return FedAvg(clusters=torch.tensor(clusters))
    if name == "FedAvg":
        return FedAvg(period=options["period"])
    if name == "Fine-tuned FedAvg":
        return FedAvg(fine_tune_after=round(options["alone_from"] * iterations))
    if name == "Ditto":
        return Ditto(pull=float(word.removeprefix("pull=") or options["pull"]))
    if name == "APFL":
        return APFL(mixture=options["mixture"], adaptive=True)
    if name == "WGA-BC":
        return WGABC(mixture=options["mixture"], memory=options["memory"])
    if name == "CoBo":
        own = {"rho": options["rho"], "weight_step": options["weight_step"]}
        how: Any = word or "constant"
        return SampledCoBo(**own, sampling=how, horizon=iterations)
    if name == "IFCA":
        z = np.random.default_rng(1).normal(size=(max(clusters) + 1, problem.features))
        return IFCA(
            offsets=options["spread"] * problem.start.square().mean().sqrt() * torch.from_numpy(z).to(problem.start)
        )
    if name == "FC":
        share = max(np.bincount(clusters)) / len(clusters)
        return FederatedClustering(fraction=float(share))
    numbers = {key: float(value) for key, value in (part.split("=") for part in word.split())}
    if name == "FLIX":
        return Flix(alpha=numbers["alpha"], anchors=anchors)
    if name == "Scafflix":
        several = int(numbers.get("tau", problem.clients))
        return SampledScafflix(
            p=numbers["p"], alpha=numbers["alpha"], anchors=anchors, participants=several, name="scafflix"
        )
    assert name == "Local", name
    return Local()


def step_of(rule: str, options: dict[str, Any]) -> float:
    """The step size. FLIX's objective is alpha^2 times as curved as the loss, and its steps are as much longer."""
    if rule.startswith("FLIX"):
        return options["eta"] / float(rule.split("alpha=")[1].split()[0]) ** 2
    return options["eta"]
