"""Expected values of a batch of instances after many iterations, by powers of their moment maps side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from scipy.sparse.csgraph import connected_components
from torch import Tensor
from torch.func import vmap

from suffice.support.errors import InputError

from .algorithms.base import Algorithm
from .moment_maps import Maps, origin, probe_batch, probes_of
from .moment_powers import Cycle, MomentPowers, branches, form_value
from .problem import QuadraticProblem
from .problem_batches import instances, stack, tensors, with_tensors
from .quadratic_forms import QuadraticForm

_LARGE = 8
"""Size of a state from which it pays to look for parts that evolve apart."""


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
    if isinstance(problems, Sequence):  # of a user's own, perhaps: vmap has to follow no more than the step
        first, batch = problems[0], stack(list(problems))
        starts = [origin(problem, algorithm) for problem in problems]
        centre = {name: torch.stack([each[1][name] for each in starts]) for name in starts[0][1]}
        z = torch.stack([each[2] for each in starts])
        rows = [{name: float(value[at]) for name, value in scalars.items()} for at in range(len(eta))]
        F = torch.stack(
            [form.on_state(problem, client, each[1], row) for problem, each, row in zip(problems, starts, rows)]
        )
    else:
        batch = problems
        first = with_tensors(batch, [each[0] for each in tensors(batch)])
        centre, z = vmap(lambda given: origin(with_tensors(batch, given), algorithm)[1:])(tensors(batch))
        F = vmap(lambda given, centre, own: form.on_state(with_tensors(batch, given), client, centre, own))(
            tensors(batch), centre, own
        )
    same, steps = stack([algorithm] * len(eta)), torch.from_numpy(eta)
    probes = probes_of(batch, centre)
    probed = cache(lambda t, outcome: probe_batch(batch, same, centre, steps, t, outcome, probes))
    blocks = branches(first, algorithm, cycle.until(int(iterations.max())), probed)
    moment = torch.einsum("ba,bc->bac", z, z)
    every = {id(maps): maps for block in blocks for _, taken in block for maps in taken}
    parts = _uncoupled(list(every.values()), F) if z.shape[1] > _LARGE else None
    copies = 1 if parts is None else len(parts)
    if parts is not None:
        shorter = {key: _restricted(maps, parts) for key, maps in every.items()}
        blocks = [[(share, [shorter[id(maps)] for maps in taken]) for share, taken in block] for block in blocks]
        moment, F = _square(moment, parts), _square(F, parts)
        F.unflatten(0, (-1, copies))[:, 1:, -1, -1] = 0  # the constant, once
    T = torch.from_numpy(iterations.astype(np.int64)).repeat_interleave(copies)
    weights = torch.from_numpy(form.weights(iterations, scalars)).repeat_interleave(copies, 0) if form.stepped else None
    found = form_value(form, F, blocks, moment, T, weights)
    values, errors = (part.unflatten(0, (-1, copies)).sum(1).numpy() for part in found)
    return values, errors


def _uncoupled(maps: Sequence[Maps], F: Tensor) -> np.ndarray | None:
    """Parts of the state that F asks for, that no step mixes and that F does not multiply with each other, (C, m)
    places each with the constant last; None unless they are of one size and not all. Features apart have one each.

    Moments within a part need no others: E[x_P x_P^T] of z = (x, 1), x_P+ = A_P x_P + b_P.
    """
    mixed = (F != 0).any(0)
    asked = (mixed.any(0) | mixed.any(1))[:-1].numpy()
    for each in maps:
        mixed |= (each.mean != 0).any(0) | (each.deviations != 0).any(0).any(0)
    _, part = connected_components(mixed[:-1, :-1].numpy(), directed=False)
    places = [np.flatnonzero(part == each) for each in np.unique(part[asked])]
    if len({len(each) for each in places}) != 1 or len(places[0]) == len(part):
        return None
    return np.column_stack((places, np.full(len(places), len(part))))


def _square(matrices: Tensor, parts: np.ndarray) -> Tensor:
    """The square blocks (B C, ..., m, m) of matrices (B, ..., s, s) at places (C, m)."""
    found = matrices[..., parts[:, :, None], parts[:, None, :]]
    return found.movedim(-3, 1).flatten(0, 1)


def _restricted(maps: Maps, parts: np.ndarray) -> Maps:
    mean, noise, deviations = (_square(each, parts) for each in (maps.mean, maps.noise, maps.deviations))
    weights = maps.weights.repeat_interleave(len(parts), 0)
    return Maps(mean=mean, weights=weights, deviations=deviations, noise=noise)
