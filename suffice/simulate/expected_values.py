"""Expected values of a batch of instances after many iterations, by powers of their moment maps side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from suffice.support.errors import InputError

from .algorithms.algorithm import Algorithm
from .moment_powers import Cycle, MomentPowers
from .problem import QuadraticProblem
from .problem_batches import instances, stack, tensors
from .quadratic_forms import QuadraticForm


def expected_values(
    problems: Sequence[QuadraticProblem] | QuadraticProblem,
    algorithm: Algorithm,
    *,
    eta: np.ndarray,
    iterations: np.ndarray,
    cycle: Cycle,
    client: int,
    form: QuadraticForm,
    scalars: Mapping[str, np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """`MomentPowers.value` of B instances, a sequence or a batch, (B,) each: those of one shape are probed together
    where `torch.func.vmap` can follow the step."""
    many: Any = problems
    whole, together, given = not isinstance(problems, Sequence), True, dict(scalars or {})
    groups: dict[Any, list[int]] = {None: list(range(len(eta)))} if whole else {}
    for at, problem in enumerate(() if whole else many):
        shapes = tuple(each.shape for each in tensors(problem))
        groups.setdefault((type(problem), shapes), []).append(at)
    values, errors = np.empty((2, len(eta)))
    for rows in groups.values():
        part = many if whole else [many[at] for at in rows]
        if together and len(rows) > 1:
            try:
                some = {name: value[rows] for name, value in given.items()}
                batch: Any = part if whole else stack(part)
                powers = MomentPowers(batch, algorithm, eta=eta[rows], cycle=cycle, many=len(rows))
                values[rows], errors[rows] = map(np.asarray, powers.found(form, iterations[rows], client, some))
                continue
            except (InputError, RuntimeError, NotImplementedError):
                # vmap cannot follow a branch on a number, a problem of one's own may be no dataclass: one by one, then
                together = False
        alone: Any = instances(part, len(eta)) if whole else part
        for at, problem in zip(rows, alone):
            powers = MomentPowers(problem, algorithm, eta=eta[at], cycle=cycle)
            own = {name: float(value[at]) for name, value in given.items()}
            values[at], errors[at] = powers.value(form, int(iterations[at]), client, own)
    return values, errors
