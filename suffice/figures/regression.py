"""The synthetic regression of Philippenko et al. (2025), Figure 2: every seed draws its own setting.

Optima, start and, in the published edition, step sizes are drawn anew for each seed, as every run of the released code
did. So the spread over seeds is that of single runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from suffice.simulate import (
    Algorithm,
    AllForOne,
    Randomness,
    Stream,
    StreamingLeastSquares,
    Trace,
    generators,
    iterate,
    run,
)
from suffice.simulate.kernels import general_refusal
from suffice.simulate.kernels.task import PAIRS, ROUNDS

from .setting import BETA, RegressionSetting

SAMPLES = 10_000
"""The released code estimates smoothness and strong convexity from so many rows."""
BLOCK = 64
"""So many seeds run together."""


def all_for_one(similarity: Any, criterion: str) -> AllForOne:
    """Weights 1{r > 0} (binary) or r (continuous) over their sum, as in the released code, by a similarity ratio r."""
    return replace(AllForOne.released(binary=criterion == "binary"), similarity=similarity)


@dataclass(frozen=True, kw_only=True)
class Contender:
    """An algorithm, and what it changes in every seed's problem."""

    algorithm: Algorithm
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ManyRegressions(StreamingLeastSquares):
    """The regressions of several seeds, one for each (S, N, d), for rules that run in torch: one step serves all."""

    optima: Tensor

    def centred(self, theta: Tensor) -> Tensor:
        return theta - self.optima[:, 0].unflatten(0, (-1, *(1,) * (theta.ndim - 2)))

    def samples(self, draw: Tensor) -> tuple[Tensor, Tensor]:
        x, noise = draw[..., :-1], draw[..., -1]
        return x, torch.einsum("sk...d,skd->sk...", x, self.optima - self.optima[:, :1]) + noise

    def excess(self, theta: Tensor) -> Tensor:
        return ((theta - self.optima) ** 2).sum(-1)  # H = I


def drawn(edition: str, setting: RegressionSetting, seeds: Sequence[int]) -> list[StreamingLeastSquares]:
    """The regression of every seed."""
    make, n = generators.adaptive_regression, setting.clients
    return [make(edition, setting.features, clients=n, spread=setting.spread, seed=int(seed)) for seed in seeds]


def paths(
    contenders: Mapping[str, Contender],
    problems: Sequence[StreamingLeastSquares],
    *,
    seeds: Sequence[int],
    iterations: int,
    eta: Tensor,
) -> dict[str, np.ndarray]:
    """The mean over clients of log10 excess of each contender on every seed's problem, (iterations + 1, S).

    eta broadcasts to (S, N). The log of the mean is dominated by rare runs.
    """
    steps = eta.expand(len(seeds), problems[0].clients)
    found = {}
    for name, entry in contenders.items():
        own = [replace(problem, **entry.changes) for problem in problems]
        if general_refusal(own[0], entry.algorithm) is None:
            each = zip(own, seeds, steps.numpy())
            excess = np.stack([trace_of(entry.algorithm, *one, iterations).excess[0] for one in each])
        else:
            first: dict[str, Any] = {entry.name: getattr(own[0], entry.name) for entry in fields(own[0])}
            optima, starts = (torch.stack([getattr(one, name) for one in own]) for name in ("optimum", "start"))
            many = ManyRegressions(**first, optima=optima)
            how: dict[str, Any] = {"seeds": torch.as_tensor(list(seeds)), "iterations": iterations}
            path = iterate(many, entry.algorithm, **how, eta=lambda t: steps, starts=starts)
            excess = torch.stack([many.excess(state["models"]) for *_, state in path], 1).numpy()
        with np.errstate(divide="ignore"):
            found[name] = np.log10(excess).mean(-1).T
    return found


def trace_of(
    algorithm: Algorithm, problem: StreamingLeastSquares, seed: int, eta: np.ndarray, iterations: int, **kept: Any
) -> Trace:
    """The run of one seed on its problem."""
    alone = not isinstance(algorithm, (*ROUNDS, *PAIRS))  # it averages no models
    return run(problem, algorithm, iterations=iterations, eta=eta, seeds=range(seed, seed + 1), relative=alone, **kept)


def step_sizes(edition: str, setting: RegressionSetting, seeds: Sequence[int]) -> Tensor:
    """Step sizes that broadcast to (S, N): the scaled one over beta, or in the published edition over L_i.

    L_i is twice the largest eigenvalue of the second-moment matrix of client i's rows, without the bias feature.
    """
    constant = torch.tensor(setting.scaled(edition), dtype=torch.float64)
    return constant / (BETA if edition == "stated" else estimated_smoothness(setting, seeds))


def estimated_smoothness(setting: RegressionSetting, seeds: Sequence[int]) -> Tensor:
    """L_i as the released code estimates it, (S, N)."""
    # iterations 0 to 2 of this stream are the generator's
    return torch.from_numpy(sampled_curvatures(seeds, 3, setting.clients, setting.features)[..., -1])


def sampled_curvatures(seeds: Sequence[int], first: int, clients: int, features: int) -> np.ndarray:
    """Twice the eigenvalues, ascending, of each client's second-moment matrix of 10^4 standard normal rows, (S, N, d).

    That matrix is Wishart; Bartlett's factor has its exact law: below the diagonal normals, on it roots of chi-square
    variables, here at the quantiles of uniform numbers. They are those of iterations `first` and `first` + 1.
    """
    from scipy.special import gammaincinv  # of a chi-square variable's half; scipy.stats takes a second to load

    randomness = Randomness(seeds=torch.as_tensor(list(seeds)))
    normal = randomness.normal(iteration=first, stream=Stream.DATA, clients=clients * features, features=features)
    uniform = randomness.uniform(iteration=first + 1, stream=Stream.DATA, clients=clients, features=features).numpy()
    factor, index = np.tril(normal.unflatten(1, (clients, features)).numpy(), -1), np.arange(features)
    factor[..., index, index] = np.sqrt(2 * gammaincinv((SAMPLES - index) / 2, uniform))
    return 2 * np.linalg.eigvalsh(factor @ factor.swapaxes(-1, -2)) / SAMPLES
