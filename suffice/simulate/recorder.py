"""A `Recorder` keeps what is asked for of the paths of a run, block by block."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from suffice.support.errors import InputError
from suffice.support.numbers import as_numbers

from .algorithms.algorithm import Algorithm, Draw, State
from .oracle import Oracle
from .trace import METRIC, Trace

_LARGEST = 200_000_000


def check_size(field: str, value: object, numbers: int) -> None:
    """Raise `InputError` for what would fill the memory."""
    if numbers > _LARGEST:
        raise InputError(field, value, f"the trace would hold over {_LARGEST} numbers; record less")


class Recorder:
    """Collects a `Trace`: call `block` at the start of each block of seeds and `see` after every iteration.

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
        self.last = last
        self.models = None if last is None else np.empty((count, n, problem.features))
        self.column = {int(t): column for column, t in enumerate(grid)}
        self.values = np.empty((count, len(grid), n))
        self.metrics: dict[str, np.ndarray] = {}
        self.calls, self.vectors = np.zeros(len(grid)), np.zeros(len(grid))
        self.epsilon = epsilon
        self.stopping = None if epsilon is None else np.full((count, n), np.inf)
        self.spent: np.ndarray = np.zeros((2, 0))
        # Iteration 0 has no weights: they are those of the step that led to the recorded models.
        self.weights = np.full((len(chosen), len(grid), n, n), np.nan) if chosen else None

    def block(self, seeds: Tensor, begin: bool = True) -> None:
        """The seeds whose paths come next, or go on unless they `begin`; some may not be wanted."""
        self.seeds = seeds.tolist()
        self.kept = [place for place, seed in enumerate(self.seeds) if seed in self.row_of]
        self.rows = [self.row_of[self.seeds[place]] for place in self.kept]
        if begin:
            self.spent = np.zeros((2, len(self.seeds)))

    def see(self, t: int, before: State | None, draw: Draw | None, after: State) -> np.ndarray | None:
        """Iteration t took `before` to `after`; for t = 0 there is neither `before` nor `draw`. What was recorded."""
        if draw is not None and t <= self.grid[-1]:
            for spent, cost in zip(self.spent, (self.algorithm.oracle_calls, self.algorithm.vectors_sent)):
                spent += torch.as_tensor(cost(self.problem, draw), dtype=torch.float64).cpu().numpy()
        if self.models is not None and t == self.last:
            self.models[self.rows] = after["models"][self.kept].double().cpu().numpy()
        at = self.column.get(t)
        if at is None and self.stopping is None:
            return None
        now = self.problem.value(after["models"])[self.kept].double().cpu().numpy()
        if self.stopping is not None and self.epsilon is not None:
            first = (now < self.epsilon) & np.isinf(self.stopping[self.rows])
            self.stopping[self.rows] = np.where(first, t, self.stopping[self.rows])
        if at is None:
            return now
        self.values[self.rows, at] = now
        for name, value in self.problem.metrics(after["models"]).items():
            kept = self.metrics.setdefault(name, np.empty_like(self.values))
            kept[self.rows, at] = value[self.kept].double().cpu().numpy()
        self.calls[at] += self.spent[0, self.kept].sum()
        self.vectors[at] += self.spent[1, self.kept].sum()
        if before is not None and draw is not None and self.weights is not None:
            self._collaboration(at, before, draw)
        return now

    def over(self, t: int) -> bool:
        """Whether the block has nothing to record after iteration t: the grid is over, and stopping times are known."""
        done = self.stopping is not None and self.last is None and t >= self.grid[-1]
        return done and bool(np.isfinite(self.stopping[self.rows]).all())

    def _collaboration(self, at: int, before: State, draw: Draw) -> None:
        weights = self.algorithm.collaboration(self.problem, before, draw)
        if weights is None:
            raise InputError("weights", self.algorithm.name, "this algorithm weighs no clients: do not record weights")
        for place, seed in enumerate(self.seeds):
            if self.weights is not None and seed in self.chosen:
                self.weights[self.chosen[seed], at] = weights[place].double().cpu().numpy()

    def kept_arrays(self) -> dict[str, np.ndarray]:
        """All that was recorded so far, by name."""
        kept = {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        return kept | {METRIC + name: value for name, value in self.metrics.items()}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Go on from what `kept_arrays` gave; `block` comes first where a block is under way."""
        for name, value in arrays.items():
            if name.startswith(METRIC):
                self.metrics[name.removeprefix(METRIC)] = value
            else:
                setattr(self, name, value)

    def trace(self, kernel: str = "reference") -> Trace:
        """What was recorded, when all blocks are done, and what ran; call it once."""
        count = len(self.wanted)
        return Trace(
            algorithm=self.algorithm.name,
            values=self.values,
            measure=self.problem.measure,
            metrics=self.metrics,
            iterations=self.grid,
            seeds=np.asarray(self.wanted),
            oracle_calls=self.calls / count,
            vectors_sent=self.vectors / count,
            stopping_times=self.stopping,
            weights=self.weights,
            weight_seeds=np.array(list(self.chosen), dtype=int) if self.chosen else None,
            models=self.models,
            kernel=kernel,
        )
