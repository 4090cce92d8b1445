"""Expectations by every sequence of outcomes: of any algorithm that draws nothing but what its `outcomes` list.

Where gradients are without noise and outcomes few, T iterations have few sequences, each with its probability. All of
them are followed, so that the expectation of any quantity is a finite sum, the step linear or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from .algorithms.algorithm import Algorithm, Draw, Wrapper
from .oracle import Oracle
from .path_values import path_values
from .problem import Problem
from .quadratic_forms import QuadraticForm
from .randomness import Randomness

MOST_SEQUENCES = 4096


@dataclass(frozen=True, kw_only=True)
class AlgorithmOnOutcomes(Wrapper):
    """The algorithm, path by path along the sequences `index`, T of (2 P,)."""

    of: Algorithm
    index: Sequence[Tensor]
    name: str = "followed"
    linear: bool = False
    step = property(lambda self: self.of.step)

    def draw(self, problem: Oracle, randomness: Randomness, iteration: int) -> Draw:
        drawn, listed = self.of.draw(problem, randomness, iteration), self.of.outcomes(problem, iteration)
        chosen = {
            name: torch.cat([extra[name] for _, extra in listed])[self.index[iteration - 1]] for name in drawn.extra
        }
        return replace(drawn, extra=chosen)


def expected_by_sequences(
    problems: Sequence[Problem],
    algorithm: Algorithm,
    held: Sequence[bool],
    *,
    eta: np.ndarray,
    iterations: np.ndarray,
    client: int,
    form: QuadraticForm,
    scalars: Mapping[str, np.ndarray] | None = None,
) -> dict[int, np.ndarray]:
    """For each instance (3,): the expectation twice, then moved by what rounding may do to a path on average.

    `held` says of each iteration whether it keeps the outcome of the one before. Left out are instances of more
    iterations or of more than `MOST_SEQUENCES`. Gradients are without noise, and outcomes those of the first problem.
    """
    found: dict[int, np.ndarray] = {}
    odds, index = np.ones(1), list[Tensor]()
    for t in range(1, min(int(iterations.max(initial=0)), len(held)) + 1):
        if held[t - 1]:
            index.append(index[-1])
        else:
            chances = np.array([chance for chance, _ in algorithm.outcomes(problems[0], t)])
            if len(odds) * len(chances) > MOST_SEQUENCES:
                break
            index = [each.repeat_interleave(len(chances)) for each in index]
            index.append(torch.arange(len(chances)).repeat(len(odds)))
            odds = np.outer(odds, chances).ravel()
        rows = np.flatnonzero(iterations == t).tolist()
        followed = AlgorithmOnOutcomes(of=algorithm, index=[each.repeat(2) for each in index])
        paths, _ = path_values(
            [problems[at] for at in rows], followed, eta=eta[rows], iterations=iterations[rows], client=client,
            form=form, seeds=2 * len(odds), root=0, calm=len(odds),
            scalars={name: value[rows] for name, value in (scalars or {}).items()},
        )  # fmt: skip
        for at, values in zip(rows, paths):
            own, disturbed = values.reshape(2, -1)
            found[at] = odds @ own + np.array([0.0, 0.0, odds @ np.abs(disturbed - own)])
    return found
