"""The synthetic regression of Philippenko et al. (2025), Figure 2: every seed draws its own setting.

Optima, start and, in the published edition, step sizes are drawn anew for each seed, as every run of the released code
did. So the spread over seeds is that of single runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from suffice.simulate import (
    Algorithm,
    AllForOne,
    ExactSimilarity,
    Randomness,
    ReleasedSimilarity,
    SampledSimilarity,
    Stream,
    StreamingLeastSquares,
    generators,
    iterate,
    run,
)
from suffice.simulate.kernels import general_refusal, weighs_none

from .blocks import Progress, in_blocks
from .setting import BETA, RegressionSetting

SAMPLES = 10_000
"""The released code estimates smoothness and strong convexity from so many rows."""
BLOCK = 64
"""So many seeds run together."""

RATIOS = {
    "exact": ExactSimilarity(),
    "m=1": SampledSimilarity(samples=1),
    "m=16": SampledSimilarity(samples=16),
    "released": ReleasedSimilarity(),
}
"""Similarity ratios: exact, Eq. (1) from m samples, and the released code's."""


def all_for_one(ratio: str, criterion: str) -> AllForOne:
    """Weights 1{r > 0} (binary) or r (continuous) over their sum, as in the released code, for one of the `RATIOS`."""
    name = f"all-for-one-{ratio}-{criterion}"
    return replace(AllForOne.released(binary=criterion == "binary"), similarity=RATIOS[ratio], name=name)


@dataclass(frozen=True, kw_only=True)
class Contender:
    """An algorithm, what it changes in every seed's problem, and whether it moves along gradients alone."""

    algorithm: Algorithm
    changes: Mapping[str, Any] = field(default_factory=dict)
    relative: bool = True


@dataclass(frozen=True, kw_only=True)
class Path:
    """values (T + 1, S): mean over clients of log10 excess. The log of the mean is dominated by rare runs.

    collaborators (T + 1, S): positive weights of the step that comes next, in the mean over clients, each of which
    counts itself; NaN for algorithms that weigh no clients or run in torch alone, or if not asked for.
    """

    values: np.ndarray
    collaborators: np.ndarray


@dataclass(frozen=True, kw_only=True)
class ManyRegressions(StreamingLeastSquares):
    """The regressions of several seeds, one for each (S, N, d), for rules that run in torch: one step serves all."""

    optima: Tensor
    starts: Tensor

    @classmethod
    def of_each(cls, problems: Sequence[StreamingLeastSquares]) -> ManyRegressions:
        first: dict[str, Any] = {entry.name: getattr(problems[0], entry.name) for entry in fields(problems[0])}
        optima, starts = (torch.stack([getattr(one, name) for one in problems]) for name in ("optimum", "start"))
        return cls(**first, optima=optima, starts=starts)

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


def contender_paths(
    contenders: Mapping[str, Contender],
    edition: str,
    setting: RegressionSetting,
    seeds: Sequence[int],
    progress: Progress,
    *,
    collaborators: bool = False,
) -> dict[str, Path]:
    """Each contender's paths in the setting, on all seeds."""

    def block(some: Sequence[int]) -> dict[str, Path]:
        how: dict[str, Any] = {"iterations": setting.iterations, "eta": step_sizes(edition, setting, some)}
        return paths(contenders, drawn(edition, setting, some), seeds=some, collaborators=collaborators, **how)

    blocks, joined = in_blocks(seeds, BLOCK, block, progress), partial(np.concatenate, axis=1)
    return {
        name: Path(
            values=joined([one[name].values for one in blocks]),
            collaborators=joined([one[name].collaborators for one in blocks]),
        )
        for name in contenders
    }


def curve(path: Path) -> dict[str, np.ndarray]:
    """The columns of a path: its mean over seeds, with the standard deviation of a run and the error of the mean."""
    runs = path.values
    mean, sd = runs.mean(1), runs.std(1, ddof=1)
    at = np.arange(len(runs), dtype=float)
    return {"iteration": at, "mean_log10_excess": mean, "sd": sd, "se": sd / np.sqrt(runs.shape[1])}


def paths(
    contenders: Mapping[str, Contender],
    problems: Sequence[StreamingLeastSquares],
    *,
    seeds: Sequence[int],
    iterations: int,
    eta: Tensor,
    collaborators: bool = False,
) -> dict[str, Path]:
    """Each contender on every seed's problem, at iterations 0..`iterations`; eta broadcasts to (S, N)."""
    steps = eta.expand(len(seeds), problems[0].clients)
    found = {}
    for name, entry in contenders.items():
        own = [replace(problem, **entry.changes) for problem in problems]
        if general_refusal(own[0], entry.algorithm) is None:
            sizes = collaborators and not weighs_none(entry.algorithm)
            each = [_alone(entry, *one, iterations, sizes) for one in zip(own, seeds, steps.numpy())]
            found[name] = Path(values=np.stack([one.values for one in each], 1),
                               collaborators=np.stack([one.collaborators for one in each], 1))  # fmt: skip
        else:
            found[name] = _together(entry.algorithm, own, seeds, steps, iterations)
    return found


def _alone(
    entry: Contender, problem: StreamingLeastSquares, seed: int, eta: np.ndarray, iterations: int, sizes: bool
) -> Path:
    """One seed; the weights of the next step are known with its draw, so that sizes take one iteration more."""
    seed = int(seed)
    trace = run(
        problem, entry.algorithm, iterations=iterations + sizes, eta=eta, seeds=range(seed, seed + 1),
        weights=[seed] if sizes else None, relative=entry.relative,
    )  # fmt: skip
    with np.errstate(divide="ignore"):
        values = np.log10(trace.excess[0, : iterations + 1]).mean(-1)
    none = np.full(iterations + 1, np.nan)
    return Path(values=values, collaborators=none if trace.weights is None else collaborators_of(trace.weights[0, 1:]))


def collaborators_of(weights: np.ndarray) -> np.ndarray:
    """How many weights (G, N, N) are positive, in the mean over the clients, (G,)."""
    return (weights > 0).sum(-1).mean(-1)


def _together(
    algorithm: Algorithm,
    problems: Sequence[StreamingLeastSquares],
    seeds: Sequence[int],
    eta: Tensor,
    iterations: int,
) -> Path:
    problem = ManyRegressions.of_each(problems)
    path = iterate(
        problem, algorithm, seeds=torch.as_tensor(list(seeds)), iterations=iterations, eta=lambda t: eta,
        starts=problem.starts,
    )  # fmt: skip
    values = torch.stack([torch.log10(problem.excess(state["models"])).mean(-1) for *_, state in path]).numpy()
    return Path(values=values, collaborators=np.full_like(values, np.nan))


def step_sizes(edition: str, setting: RegressionSetting, seeds: Sequence[int]) -> Tensor:
    """Step sizes that broadcast to (S, N): the scaled one over beta, or in the published edition over L_i.

    L_i = 2 lambda_max of the second-moment matrix of client i's 10^4 standard normal rows (without the bias feature):
    a Wishart matrix, drawn by Bartlett's factor.
    """
    constant = torch.tensor(setting.scaled(edition), dtype=torch.float64)
    return constant / (BETA if edition == "stated" else estimated_smoothness(setting, seeds))


def estimated_smoothness(setting: RegressionSetting, seeds: Sequence[int]) -> Tensor:
    """2 lambda_max of the second-moment matrix of 10^4 standard normal rows, (S, N)."""
    d, n = setting.features, setting.clients
    randomness = Randomness(seeds=torch.as_tensor(list(seeds)))
    # iterations 0 to 2 of this stream are the generator's
    normal = randomness.normal(iteration=3, stream=Stream.DATA, clients=n * d, features=d).unflatten(1, (n, d)).numpy()
    uniform = randomness.uniform(iteration=4, stream=Stream.DATA, clients=n, features=d).numpy()
    return torch.from_numpy(sampled_curvatures(normal, uniform)[..., -1])


def sampled_curvatures(normal: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Twice the eigenvalues, ascending, of the second-moment matrix of 10^4 standard normal rows, (..., d).

    That matrix is Wishart; Bartlett's factor has its exact law: below the diagonal normals (..., d, d), on it roots of
    chi-square variables, here at the quantiles `uniform` (..., d).
    """
    from scipy.special import gammaincinv  # of a chi-square variable's half; scipy.stats takes a second to load

    factor, index = np.tril(normal, -1), np.arange(normal.shape[-1])
    factor[..., index, index] = np.sqrt(2 * gammaincinv((SAMPLES - index) / 2, uniform))
    return 2 * np.linalg.eigvalsh(factor @ factor.swapaxes(-1, -2)) / SAMPLES
