"""A `Recorder` keeps what is asked for of the paths of a run, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from suffice.support.errors import InputError
from suffice.support.numbers import as_numbers

from .algorithms.algorithm import Algorithm, Draw, State
from .oracle import Oracle
from .trace import Trace

_LARGEST = 200_000_000


def check_size(field: str, value: object, numbers: int) -> None:
    """Raise `InputError` for what would fill the memory."""
    if numbers > _LARGEST:
        raise InputError(field, value, f"the trace would hold over {_LARGEST} numbers; record less")


class Recorder:
    """Fills a `Trace`: call `block` at the start of each block of seeds and `see` after every iteration.

    last: the iteration after which models are kept, if at all.
    """

    def __init__(
        self,
        problem: Oracle,
        algorithm: Algorithm,
        *,
        wanted: range,
        grid: np.ndarray,
        epsilon: np.ndarray | None,
        weights: Sequence[int] | None,
        last: int | None,
    ) -> None:
        self.problem, self.algorithm, self.wanted, self.grid = problem, algorithm, wanted, grid
        n, count = problem.clients, len(wanted)
        check_size("grid", len(grid), count * len(grid) * n)
        self.row_of = {int(seed): row for row, seed in enumerate(wanted)}
        chosen = [] if weights is None else as_numbers("weights", weights, ("count",)).tolist()
        of_the_run = set(chosen) <= self.row_of.keys() and len(set(chosen)) == len(chosen)
        if weights is not None and not (chosen and of_the_run):
            raise InputError("weights", weights, "give one or more different seeds of the run")
        self.chosen = {int(seed): place for place, seed in enumerate(chosen)}
        check_size("weights", len(chosen), len(chosen) * len(grid) * n * n)
        check_size("models", True, 0 if last is None else count * n * problem.features)
        self.last, self.epsilon, self.spent = last, epsilon, np.zeros((2, 0))
        self.column = {int(t): column for column, t in enumerate(grid)}
        self.trace = Trace(
            algorithm=algorithm.name,
            values=np.empty((count, len(grid), n)),
            measure=problem.measure,
            iterations=grid,
            seeds=np.asarray(wanted),
            oracle_calls=np.zeros(len(grid)),
            vectors_sent=np.zeros(len(grid)),
            stopping_times=None if epsilon is None else np.full((count, n), np.inf),
            # iteration 0 has no weights: they are those of the step that led to the recorded models
            weights=np.full((len(chosen), len(grid), n, n), np.nan) if chosen else None,
            weight_seeds=np.array(chosen, dtype=int) if chosen else None,
            models=None if last is None else np.empty((count, n, problem.features)),
        )

    def block(self, seeds: Tensor, begin: bool = True) -> None:
        """The seeds whose paths come next, or go on unless they `begin`; some may not be wanted."""
        self.seeds = seeds.tolist()
        self.kept = [place for place, seed in enumerate(self.seeds) if seed in self.row_of]
        self.rows = [self.row_of[self.seeds[place]] for place in self.kept]
        if begin:
            self.spent = np.zeros((2, len(self.seeds)))

    def see(self, t: int, before: State | None, draw: Draw | None, after: State) -> np.ndarray | None:
        """Record iteration t, from `before` to `after`, and return the values; t = 0 has no `before` and `draw`."""
        if draw is not None and t <= self.grid[-1]:
            for spent, cost in zip(self.spent, (self.algorithm.oracle_calls, self.algorithm.vectors_sent)):
                spent += torch.as_tensor(cost(self.problem, draw), dtype=torch.float64).cpu().numpy()
        found, metrics = self.trace, cast(dict[str, np.ndarray], self.trace.metrics)
        if found.models is not None and t == self.last:
            found.models[self.rows] = after["models"][self.kept].double().cpu().numpy()
        at = self.column.get(t)
        if at is None and self.epsilon is None:
            return None
        now = self.problem.value(after["models"])[self.kept].double().cpu().numpy()
        if found.stopping_times is not None:
            first = (now < self.epsilon) & np.isinf(found.stopping_times[self.rows])
            found.stopping_times[self.rows] = np.where(first, t, found.stopping_times[self.rows])
        if at is None:
            return now
        found.values[self.rows, at] = now
        for name, value in self.problem.metrics(after["models"]).items():
            kept = metrics.setdefault(name, np.empty_like(found.values))
            kept[self.rows, at] = value[self.kept].double().cpu().numpy()
        found.oracle_calls[at] += self.spent[0, self.kept].sum()
        found.vectors_sent[at] += self.spent[1, self.kept].sum()
        if before is not None and draw is not None and found.weights is not None:
            weights = self.algorithm.collaboration(self.problem, before, draw)
            if weights is None:
                remedy = "this algorithm weighs no clients: do not record weights"
                raise InputError("weights", self.algorithm.name, remedy)
            for place, seed in enumerate(self.seeds):
                if seed in self.chosen:
                    found.weights[self.chosen[seed], at] = weights[place].double().cpu().numpy()
        return now

    def over(self, t: int) -> bool:
        """Whether the block has nothing to record after iteration t: the grid is over, and stopping times are known."""
        times, done = self.trace.stopping_times, self.last is None and t >= self.grid[-1]
        return done and times is not None and bool(np.isfinite(times[self.rows]).all())

    def finished(self, kernel: str = "reference", **found: Any) -> Trace:
        """The trace when all blocks are done, with `found` arrays in place of its own; costs are means over seeds."""
        count = len(self.wanted)
        costs = {name: getattr(self.trace, name) / count for name in ("oracle_calls", "vectors_sent")}
        return replace(self.trace, kernel=kernel, **costs, **found)
