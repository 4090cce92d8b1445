"""Expected values of a batch of instances after many iterations, by powers of their moment maps side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from torch.func import vmap

from suffice.support.errors import InputError

from .algorithms.algorithm import Algorithm
from .moment_maps import origin, probe_batch
from .moment_powers import Cycle, MomentPowers, branches, form_value
from .problem import QuadraticProblem
from .problem_batches import instances, stack, tensors, with_tensors
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
                values[rows], errors[rows] = _together(
                    part, algorithm, eta[rows], iterations[rows], cycle, client, form, some
                )
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


def _together(
    problems: Sequence[QuadraticProblem] | QuadraticProblem,
    algorithm: Algorithm,
    eta: np.ndarray,
    iterations: np.ndarray,
    cycle: Cycle,
    client: int,
    form: QuadraticForm,
    scalars: dict[str, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    own = {name: torch.from_numpy(np.asarray(value, dtype=float)) for name, value in scalars.items()}
    batch = stack(list(problems)) if isinstance(problems, Sequence) else problems
    first = with_tensors(batch, [each[0] for each in tensors(batch)])
    centre, z = vmap(lambda given: origin(with_tensors(batch, given), algorithm)[1:])(tensors(batch))
    F = vmap(lambda given, centre, own: form.on_state(with_tensors(batch, given), client, centre, own))(
        tensors(batch), centre, own
    )
    same, steps = stack([algorithm] * len(eta)), torch.from_numpy(eta)
    probed = cache(lambda t, outcome: probe_batch(batch, same, centre, steps, t, outcome))
    blocks = branches(first, algorithm, cycle.until(int(iterations.max())), probed)
    moment = torch.einsum("ba,bc->bac", z, z)
    weights = torch.from_numpy(form.weights(iterations, scalars)) if form.stepped else None
    value, error = form_value(form, F, blocks, moment, torch.from_numpy(iterations.astype(np.int64)), weights)
    return value.numpy(), error.numpy()
