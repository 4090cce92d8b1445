"""Several algorithms side by side on the same random numbers: one draw of an iteration serves them all.

Random numbers are most of what a step on a stream costs, and common ones make differences between curves sharper.
Paths are those of `suffice.simulate.run`, to rounding, but for settings that differ from seed to seed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor

from suffice.simulate import Algorithm, Problem, Stream, iterate
from suffice.simulate.threads import one_thread

Progress = Callable[[int, int], None]
Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Contender:
    """An algorithm and the problem whose stochastic gradients it takes."""

    algorithm: Algorithm
    problem: Problem


@dataclass(frozen=True, kw_only=True)
class Path:
    """values (G, S, ...): what was measured at the iterations of the grid.

    collaborators (G, S): positive weights of the step that comes next, in the mean over clients, each of which counts
    itself; NaN for algorithms that weigh no clients, or if not asked for.
    """

    values: Tensor
    collaborators: Tensor


class LastDraws:
    """Remembers one iteration's draws of a problem that several algorithms use in turn."""

    def __init__(self) -> None:
        self.held: dict[tuple[int, Stream, int], Tensor] = {}

    def get(self, iteration: int, stream: Stream, batch: int, make: Callable[[], Tensor]) -> Tensor:
        key = (iteration, stream, batch)
        if any(held[0] != iteration for held in self.held):
            self.held.clear()
        if key not in self.held:
            self.held[key] = make()
        return self.held[key]


def lockstep(
    contenders: Mapping[str, Contender],
    *,
    seeds: Sequence[int],
    grid: Sequence[int],
    eta: Callable[[int], Tensor],
    measure: Callable[[Any, Tensor], Tensor],
    starts: Tensor | None = None,
    collaborators: bool = False,
) -> dict[str, Path]:
    """Run all and record `measure(problem, models)`, (S, ...), at the iterations `grid`.

    They start from `starts` (S, N, d), or each from its own problem's start. eta(t) is the step size of iteration
    t = 1, 2, ..., anything that broadcasts to (S, N).
    """
    indices, wanted, last = torch.as_tensor(list(seeds)), set(grid), max(grid)
    # Weights of the step that comes next are known with its draw: one iteration more.
    iterations = last + 1 if collaborators else last
    values: dict[str, list[Tensor]] = {name: [] for name in contenders}
    sizes: dict[str, list[Tensor]] = {name: [] for name in contenders}
    unknown = torch.full((len(indices),), torch.nan, dtype=torch.float64)
    # Contenders take turns inside an iteration: a problem need remember one iteration's draws alone.
    paths = [
        iterate(entry.problem, entry.algorithm, seeds=indices, iterations=iterations, eta=eta, starts=starts)
        for entry in contenders.values()
    ]
    for _ in range(iterations + 1):
        for (name, entry), path in zip(contenders.items(), paths):
            t, before, draw, state = next(path)
            if t in wanted:
                values[name].append(measure(entry.problem, state["models"]))
            if collaborators and t - 1 in wanted and before is not None and draw is not None:
                weights = entry.algorithm.collaboration(entry.problem, before, draw)
                sizes[name].append(unknown if weights is None else (weights > 0).double().sum(-1).mean(-1))
    none = [unknown] * len(wanted)
    return {
        name: Path(values=torch.stack(values[name]), collaborators=torch.stack(sizes[name] or none))
        for name in contenders
    }


def in_blocks(
    seeds: Sequence[int], size: int, work: Callable[[Sequence[int]], Result], progress: Progress | None = None
) -> list[Result]:
    """`work` on blocks of seeds in their order, a few at a time: threads, as the work is inside torch."""
    blocks = [seeds[at : at + size] for at in range(0, len(seeds), size)]
    done: list[Result] = []
    with one_thread(), ThreadPoolExecutor(max_workers=min(os.cpu_count() or 1, len(blocks), 4)) as pool:
        for result in pool.map(work, blocks):
            done.append(result)
            if progress is not None:
                progress(len(done), len(blocks))
    return done
