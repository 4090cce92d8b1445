"""The synthetic regression of Philippenko et al. (2025), Figure 2: every seed draws its own setting.

Optima, start and, in the published edition, step sizes are drawn anew for each seed, as every run of the released code
did. So the spread over seeds is that of single runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from suffice.simulate import (
    AllForOne,
    ExactSimilarity,
    Randomness,
    ReleasedSimilarity,
    SampledSimilarity,
    Stream,
    StreamingLeastSquares,
    generators,
)
from suffice.simulate.kernel_choice import attempt, objection
from suffice.simulate.kernels import Recorded, general_paths, weighs_none

from .lockstep import Contender, LastDraws, Path, lockstep
from .setting import BETA, Setting

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
class Regressions(StreamingLeastSquares):
    """One regression per seed: optima and starts (S, N, d); all else as in the problem it is made of. H = I.

    Keeps the draws of the last iteration, which several algorithms may take in turn, and the last sampled gaps, which
    an algorithm needs to name its collaborators and again to step.
    """

    optima: Tensor
    starts: Tensor
    _draws: LastDraws = field(default_factory=LastDraws, repr=False, compare=False)
    _gaps: list[tuple[Tensor, Tensor, tuple[Tensor, Tensor]]] = field(default_factory=list, repr=False, compare=False)

    @classmethod
    def drawn(cls, edition: str, setting: Setting, seeds: Sequence[int]) -> Regressions:
        """The setting of every seed, stacked; all but optima and starts is that of the first."""
        make, n = generators.adaptive_regression, setting.clients
        settings = [make(edition, setting.features, clients=n, spread=setting.spread, seed=int(seed)) for seed in seeds]
        first = settings[0]
        return cls(
            **{entry.name: getattr(first, entry.name) for entry in fields(first)},
            optima=torch.stack([setting.optimum for setting in settings]),
            starts=torch.stack([setting.start for setting in settings]),
        )

    def each(self) -> list[StreamingLeastSquares]:
        """The regression of every seed."""
        kept: dict[str, Any] = {entry.name: getattr(self, entry.name) for entry in fields(StreamingLeastSquares)}
        return [
            StreamingLeastSquares(
                **kept | dict[str, Any](population=replace(self.population, xi=-optimum, start=start))
            )
            for optimum, start in zip(self.optima, self.starts)
        ]

    def variant(self, *, pairwise: bool | None = None, batch: int | None = None) -> Regressions:
        """The same settings with other samples."""
        return replace(
            self,
            pairwise=self.pairwise if pairwise is None else pairwise,
            batch=batch or self.batch,
            _draws=LastDraws(),
            _gaps=[],
        )

    def draw(
        self, randomness: Randomness, iteration: int, *, stream: Stream = Stream.NOISE, batch: int | None = None
    ) -> Tensor:
        def make() -> Tensor:
            return super(Regressions, self).draw(randomness, iteration, stream=stream, batch=batch)

        return self._draws.get(iteration, stream, batch or self.batch, make)

    def sampled_gap(self, theta: Tensor, draw: Tensor) -> tuple[Tensor, Tensor]:
        if not (self._gaps and self._gaps[0][0] is theta and self._gaps[0][1] is draw):
            self._gaps[:] = [(theta, draw, super().sampled_gap(theta, draw))]
        return self._gaps[0][2]

    # What depends on the optima. Every Hessian is 2 I, so gradients are 2 (theta - optimum) and their gaps constant.

    @property
    def optimum(self) -> Tensor:
        return self.optima

    @property
    def start(self) -> Tensor:
        return self.starts

    def centred(self, theta: Tensor) -> Tensor:
        return theta - self.optima[:, 0].unflatten(0, (-1, *(1,) * (theta.ndim - 2)))

    def samples(self, draw: Tensor) -> tuple[Tensor, Tensor]:
        x, noise = draw[..., :-1], draw[..., -1]
        return x, torch.einsum("sk...d,skd->sk...", x, self.optima - self.optima[:, :1]) + noise

    def excess(self, theta: Tensor) -> Tensor:
        return ((theta - self.optima) ** 2).sum(-1)

    def gradient(self, theta: Tensor) -> Tensor:
        return 2 * (theta - self.optima)

    def gradient_gap(self, theta: Tensor) -> Tensor:
        return self._gap

    @cached_property
    def _gap(self) -> Tensor:
        return 4 * ((self.optima[:, :, None] - self.optima[:, None]) ** 2).sum(-1)

    def mean_log10_excess(self, theta: Tensor) -> Tensor:
        """Mean over clients, (S,): what the papers' pictures show. The log of the mean is dominated by rare runs."""
        return torch.log10(self.excess(theta)).mean(-1)


@dataclass(frozen=True, kw_only=True)
class Relative(Regressions):
    """The same settings with models written as theta_i - theta_i*, for rules that move along gradients alone.

    theta_i itself is known to 1e-16 of an optimum of size 5, so its excess is rounding below 1e-30. Here a sample of
    client k gives x . (theta_i - theta_i*) - x . (theta_k* - theta_i*) - noise, whose middle term is exactly 0 inside a
    cluster: nothing cancels, and excesses are right to the smallest.
    """

    _shifts: list[tuple[Tensor, Tensor, Tensor]] = field(default_factory=list, repr=False, compare=False)

    @classmethod
    def of_same(cls, other: Regressions) -> Relative:
        kept: dict[str, Any] = {entry.name: getattr(other, entry.name) for entry in fields(other) if entry.init}
        return cls(**kept | dict[str, Any](_draws=LastDraws(), _gaps=[]))

    @property
    def optimum(self) -> Tensor:
        return torch.zeros_like(self.optima)

    @property
    def start(self) -> Tensor:
        return self.starts - self.optima

    def centred(self, theta: Tensor) -> Tensor:
        return theta

    def samples(self, draw: Tensor) -> tuple[Tensor, Tensor]:
        for known, x, _ in self._shifts:
            if known is draw:
                return x, draw[..., -1]
        x, noise = draw[..., :-1], draw[..., -1]
        if self.pairwise and draw.ndim == 5:
            # optima[k] - optima[i] for the sample of client k at model i
            return x, torch.einsum("skjid,skid->skji", x, self.optima[:, :, None] - self.optima[:, None]) + noise
        seen = torch.matmul(self.optima, x.flatten(1, 2).mT).unflatten(-1, x.shape[1:3])  # [s, i, k, j]
        shift = seen.diagonal(dim1=1, dim2=2).permute(0, 2, 1)[:, None] - seen
        self._shifts[:] = [*self._shifts[-2:], (draw, x, shift.masked_fill_(self._same[..., None], 0))]
        return x, noise

    def _slopes(self, theta: Tensor, x: Tensor, y: Tensor) -> Tensor:
        shift = next(shift for _, known, shift in self._shifts if known is x)
        prediction = torch.matmul(theta, x.flatten(1, 2).mT) - shift.flatten(2)
        return self.slope(prediction, y.flatten(1)[:, None]) / x.shape[2]

    @cached_property
    def _same(self) -> Tensor:
        return (self.optima[:, :, None] == self.optima[:, None]).all(-1)

    def excess(self, theta: Tensor) -> Tensor:
        return (theta**2).sum(-1)

    def gradient(self, theta: Tensor) -> Tensor:
        return 2 * theta


def paths(
    contenders: Mapping[str, Contender],
    *,
    seeds: Sequence[int],
    iterations: int,
    eta: Tensor,
    collaborators: bool = False,
) -> dict[str, Path]:
    """The mean over clients of log10 excess at iterations 0..`iterations`, compiled or, what is not, in `lockstep`.

    Random numbers are the same. Of a compiled rule's collaborators there are means over seeds alone.
    """
    arguments: dict[str, Any] = {"seeds": seeds, "iterations": iterations, "eta": eta, "collaborators": collaborators}
    found = {name: _compiled(entry, **arguments) for name, entry in contenders.items()}
    rest = lockstep(
        {name: entry for name, entry in contenders.items() if found[name] is None},
        seeds=seeds,
        grid=range(iterations + 1),
        eta=lambda t: eta,
        measure=Regressions.mean_log10_excess,
        collaborators=collaborators,
    )
    return {name: path or rest[name] for name, path in found.items()}


def _compiled(
    entry: Contender, *, seeds: Sequence[int], iterations: int, eta: Tensor, collaborators: bool
) -> Path | None:
    each, count = cast(Regressions, entry.problem).each(), len(seeds)
    sizes = collaborators and not weighs_none(entry.algorithm)  # those of the next step: one iteration more
    steps = np.broadcast_to(eta.numpy() if eta.ndim < 2 else eta.numpy()[:, None], (count, 1, each[0].clients))

    def run() -> Recorded:
        last = iterations + sizes
        return general_paths(
            each,
            entry.algorithm,
            seeds=seeds,
            iterations=last,
            grid=range(last + 1),
            eta=steps,
            sizes=sizes,
            relative=isinstance(entry.problem, Relative),
        )

    found: Recorded | None = attempt("auto", objection(each, entry.algorithm), run)
    if found is None:
        return None
    mean = (
        np.full((iterations + 1, 1), np.nan) if found.sizes is None else found.sizes[1:].mean(-1, keepdims=True) / count
    )
    with np.errstate(divide="ignore"):
        values = np.log10(found.excess[:, : iterations + 1]).mean(-1).T
    return Path(values=torch.from_numpy(values), collaborators=torch.from_numpy(mean).expand(-1, count))


def step_sizes(edition: str, setting: Setting, seeds: Sequence[int]) -> Tensor:
    """Step sizes that broadcast to (S, N): the scaled one over beta, or in the published edition over L_i.

    L_i = 2 lambda_max of the second-moment matrix of client i's 10^4 standard normal rows (without the bias feature):
    a Wishart matrix, drawn by Bartlett's factor.
    """
    constant = torch.tensor(setting.scaled(edition), dtype=torch.float64)
    return constant / (BETA if edition == "stated" else estimated_smoothness(setting, seeds))


def estimated_smoothness(setting: Setting, seeds: Sequence[int]) -> Tensor:
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
