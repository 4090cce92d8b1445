"""A quantity on simulated paths of any algorithm and any problem, many instances side by side.

Instances of one shape run together where `torch.func.vmap` can follow the step, one by one elsewhere. They read the
same random numbers: each instance's own paths are independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.func import vmap

from suffice.support.errors import InputError

from .algorithms.algorithm import Algorithm, Draw, State
from .problem import Problem
from .problem_batches import stack, tensors, with_tensors
from .problems.gradient_noise import AdditiveNoise
from .quadratic_forms import QuadraticForm
from .randomness import Randomness
from .stopping_time import STOPPED, Stopping

_ENTRIES = 1 << 18
"""The models of one batch have at most so many numbers."""
NUDGE = 2.0**-44
"""Relative size of the disturbance that shows how rounding moves a deterministic path: 256 units in the last place."""


def noiseless(problem: Problem) -> bool:
    """Whether stochastic gradients are the gradients themselves."""
    grown = getattr(problem, "growth", problem.start * 0)  # of `GrowingNoise`
    return isinstance(problem, AdditiveNoise) and not bool(problem.sigma2.any()) and not bool(grown.any())


class _Coins(Exception):
    """An algorithm draws more than the noise, so that an instance without noise is random after all."""


@torch.no_grad()
def path_values(
    problems: Sequence[Problem],
    algorithm: Algorithm,
    *,
    eta: np.ndarray,
    iterations: np.ndarray,
    client: int,
    form: QuadraticForm,
    seeds: int,
    root: int,
    calm: int | None = None,
    scalars: Mapping[str, np.ndarray] | None = None,
) -> tuple[list[np.ndarray], list[bool]]:
    """The quantity on every path of B instances, (S,) each, and for each instance whether it draws nothing at all.

    Such an instance has three entries: its value twice, and that of a path which is disturbed in every iteration by
    `NUDGE`. An instance on which the algorithm refuses to start has none. With `calm` all count as random, and all
    paths but the first `calm` are disturbed. `scalars` (B,) are those that the form takes.
    """
    given = {name: np.asarray(value, dtype=float) for name, value in (scalars or {}).items()}
    found: list[np.ndarray] = [np.zeros(0)] * len(problems)
    fixed = [calm is None and noiseless(problem) for problem in problems]
    together, refused = True, None
    for part, quiet in _batches(problems, fixed, iterations, seeds):
        count, states = 3 if quiet else seeds, {}
        for at in part:
            start = problems[at].start
            try:
                states[at] = algorithm.init(problems[at], start.expand(count, *start.shape).clone())
            except InputError as error:
                refused = error

        undisturbed = 2 if quiet else count if calm is None else calm

        def values_of(rows: list[int], states: dict[int, State] = states, quiet: bool = quiet, calm: int = undisturbed):
            return _Paths(
                [problems[at] for at in rows], algorithm, client, form, [states[at] for at in rows], quiet, calm, root,
                {name: torch.from_numpy(value[rows]) for name, value in given.items()},
            ).values(eta[rows], iterations[rows])  # fmt: skip

        for chosen in [list(states)] if together and len(states) > 1 else [[at] for at in states]:
            try:
                values = values_of(chosen)
            except _Coins:
                return path_values(
                    problems, algorithm, eta=eta, iterations=iterations, client=client, form=form, seeds=seeds,
                    root=root, calm=seeds, scalars=scalars,
                )  # fmt: skip
            # vmap cannot follow a branch on a number, and a problem of one's own may be no dataclass
            except (InputError, RuntimeError, NotImplementedError, TypeError, ValueError):
                if len(chosen) == 1:
                    raise
                together = False
                values = [values_of([at])[0] for at in chosen]
            for at, value in zip(chosen, values):
                found[at] = value
    if refused is not None and not any(map(len, found)) and not all(map(noiseless, problems)):
        raise refused  # not where it divides by the noise and none of these instances has any
    return found, fixed


def _batches(
    problems: Sequence[Problem], fixed: list[bool], iterations: np.ndarray, seeds: int
) -> Iterator[tuple[list[int], bool]]:
    """Places of instances of one shape, the shorter paths first, and whether they draw nothing."""
    groups: dict[Any, list[int]] = {}
    for at in np.argsort(iterations, kind="stable").tolist():
        shape = (type(problems[at]), fixed[at], *(each.shape for each in tensors(problems[at])))
        groups.setdefault(shape, []).append(at)
    for (_, quiet, *_), rows in groups.items():
        size = max(1, _ENTRIES // ((3 if quiet else seeds) * problems[rows[0]].start.numel()))
        yield from ((rows[first : first + size], quiet) for first in range(0, len(rows), size))


def _certain(algorithm: Algorithm, problem: Problem, draw: Draw) -> bool:
    """Whether `draw.extra` has only one possible outcome, as where all clients take part."""
    try:
        listed = algorithm.outcomes(problem, draw.iteration)
    except InputError:  # it has no finite list of them
        return False
    return len(listed) == 1 and set(listed[0][1]) == set(draw.extra)


@dataclass
class _Paths:
    """Instances of one shape, side by side."""

    problems: list[Problem]
    algorithm: Algorithm
    client: int
    form: QuadraticForm
    states: list[State]
    quiet: bool
    calm: int
    root: int
    scalars: dict[str, Tensor]

    def __post_init__(self) -> None:
        self.randomness = Randomness(seeds=torch.arange(len(self.states[0]["models"])), root=self.root)
        self.alone = len(self.problems) == 1
        self.batch = self.problems[0] if self.alone else stack(self.problems)
        self.given = tensors(self.batch)

    def step(self, problem: Problem, eta: Tensor, state: State, t: int) -> State:
        draw = self.algorithm.draw(problem, self.randomness, t)
        if self.quiet and draw.extra and not _certain(self.algorithm, self.problems[0], draw):
            raise _Coins
        after = self.algorithm.step(problem, state, draw, eta)
        calm, rest = after["models"][: self.calm], after["models"][self.calm :]
        return {**after, "models": torch.cat((calm, nudged(problem, rest, t)))} if len(rest) else after

    def stepped(self, steps: Tensor, state: State, t: int) -> State:
        if self.alone:
            return self.step(self.problems[0], steps[0], state, t)
        side_by_side = vmap(lambda parts, eta, at: self.step(with_tensors(self.batch, parts), eta, at, t))
        return side_by_side(self.given, steps, state)

    def valued(self, state: State) -> Tensor:
        """The form of the states, (..., S) with an axis for the instances."""
        form, client = self.form, self.client
        if self.alone:
            scalars = {name: float(each[0]) for name, each in self.scalars.items()}
            return form.value(self.problems[0], state, client, scalars)[None]
        seen = state if callable(form.of) else {"models": state["models"]}
        side_by_side = vmap(lambda parts, at, s: form.value(with_tensors(self.batch, parts), at, client, s))
        return side_by_side(self.given, seen, self.scalars)

    def values(self, eta: np.ndarray, iterations: np.ndarray) -> list[np.ndarray]:
        """The quantity of each instance after its own number of iterations."""
        form, first = self.form, self.states[0]
        state = first if self.alone else {name: torch.stack([each[name] for each in self.states]) for name in first}
        steps = torch.as_tensor(eta, dtype=self.problems[0].dtype)
        found: list[np.ndarray] = [np.zeros(0)] * len(eta)
        total = torch.zeros(())
        weights = form.weights(iterations, {k: v.numpy() for k, v in self.scalars.items()}) if form.weighted else None
        stopping = Stopping(self.scalars[form.level][:, None], self.valued(state)) if form.level else None
        left = np.arange(len(eta))
        for t in range(int(iterations.max(initial=0)) + 1):
            if t:
                running = iterations[left] >= t
                if 2 * running.sum() <= len(left):  # what is through no longer costs
                    kept = torch.from_numpy(np.flatnonzero(running))
                    self.given, steps, left = [each[kept] for each in self.given], steps[kept], left[running]
                    self.scalars = {name: each[kept] for name, each in self.scalars.items()}
                    state = {name: each[kept] for name, each in state.items()}
                    total = total[kept] if total.ndim else total
                    if stopping is not None:
                        stopping.keep(kept)
                state = self.stepped(steps, state, t)
                if stopping is not None:
                    stopping.then(self.valued(state))
            if weights is not None and weights[left, t].any():
                total = total + self.share(torch.from_numpy(weights[left, t]), state, stopping)
            due = np.flatnonzero(iterations[left] == t)
            if len(due):
                if form.mean:
                    now = self.valued({"models": total})
                elif weights is not None:
                    now = total
                else:
                    now = self.valued(state) if stopping is None else STOPPED[form.over](stopping)
                for at in due:
                    found[left[at]] = now[at].double().cpu().numpy()
        return found

    def share(self, weights: Tensor, state: State, stopping: Stopping | None) -> Tensor:
        """The addition of this iteration to the sum of the models, or of the form's values, which count before tau."""
        if self.form.mean:
            models = state["models"]
            return (weights[0] if self.alone else weights.view(-1, *[1] * (models.ndim - 1))).to(models) * models
        values = self.valued(state) if stopping is None else torch.where(stopping.still, stopping.value, 0.0)
        return torch.where(weights[:, None] == 0, 0.0, weights[:, None].to(values) * values)


def nudged(problem: Problem, models: Tensor, t: int) -> Tensor:
    """The models, each number moved by up to two `NUDGE` of its size or of the largest optimum.

    Signs alternate over t, clients and features, and sizes fall along them: on a flat loss moves cancel neither over
    any number of iterations nor between features, and clients that are alike part.
    """
    place = (t + torch.arange(models.shape[1])[:, None] + torch.arange(models.shape[2])).to(models)
    moves = NUDGE * (1 + 1 / place) * (1 - 2 * place.remainder(2))
    return models + moves * (models.abs() + problem.optimum.abs().amax())
