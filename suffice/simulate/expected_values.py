"""Expected values of a batch of instances after many iterations, by powers of their moment maps side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from scipy.sparse.csgraph import connected_components
from torch import Tensor
from torch.func import vmap

from suffice.support.errors import InputError

from .algorithms.base import Algorithm
from .moment_maps import Maps, asked_of, origin, possible, probe_batch
from .moment_powers import MOST_ENTRIES, SQUARED, Branches, Cycle, MomentPowers, packing, rounding
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
) -> tuple[np.ndarray, np.ndarray]:
    """`MomentPowers.value` of B instances, a sequence or a batch, (B,) each: those of one shape are probed together
    where `torch.func.vmap` can follow the step."""
    together = True
    if not isinstance(problems, Sequence):
        try:
            if len(eta) > 1:
                return _together(problems, algorithm, eta, iterations, cycle, client, form)
        except (InputError, RuntimeError, NotImplementedError):  # vmap cannot follow, see below
            together = False
        problems = instances(problems, len(eta))
    groups: dict[Any, list[int]] = {}
    for at, problem in enumerate(problems):
        shapes = tuple(each.shape for each in tensors(problem))
        groups.setdefault((type(problem), shapes), []).append(at)
    values, errors = np.empty((2, len(problems)))
    for rows in groups.values():
        part = [problems[at] for at in rows]
        if together and len(rows) > 1:
            try:
                values[rows], errors[rows] = _together(
                    part, algorithm, eta[rows], iterations[rows], cycle, client, form
                )
                continue
            except (InputError, RuntimeError, NotImplementedError):
                # vmap cannot follow a branch on a number, a problem of one's own may be no dataclass: one by one, then
                together = False
        for at, problem in zip(rows, part):
            powers = MomentPowers(problem, algorithm, eta=float(eta[at]), cycle=cycle)
            values[at], errors[at] = powers.value(form, int(iterations[at]), client)
    return values, errors


def _together(
    problems: Sequence[QuadraticProblem] | QuadraticProblem,
    algorithm: Algorithm,
    eta: np.ndarray,
    iterations: np.ndarray,
    cycle: Cycle,
    client: int,
    form: QuadraticForm,
) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(problems, Sequence):  # of a user's own, perhaps: vmap has to follow no more than the step
        first, batch = problems[0], stack(list(problems))
        starts = [origin(problem, algorithm) for problem in problems]
        centre = {name: torch.stack([each[1][name] for each in starts]) for name in starts[0][1]}
        z = torch.stack([each[2] for each in starts])
        F = torch.stack([form.on_state(each, client, z.shape[1], int(T)) for each, T in zip(problems, iterations)])
    else:
        batch = problems
        first = with_tensors(batch, [each[0] for each in tensors(batch)])
        centre, z = vmap(lambda given: origin(with_tensors(batch, given), algorithm)[1:])(tensors(batch))
        F = vmap(lambda given, T: form.on_state(with_tensors(batch, given), client, z.shape[1], T))(
            tensors(batch), torch.from_numpy(iterations)
        )
    same, steps = stack([algorithm] * len(eta)), torch.from_numpy(eta)
    known: dict[tuple[int, int | None], Maps] = {}
    asked = asked_of(batch, centre)

    def maps(t: int, outcome: int | None) -> Maps:
        if (t, outcome) not in known:
            known[t, outcome] = probe_batch(batch, same, centre, steps, t, outcome, asked)
        return known[t, outcome]

    blocks: list[Branches] = []
    for block in cycle.blocks:
        held = possible(algorithm.outcomes(first, block.iterations[0])) if len(block.iterations) > 1 else []
        numbers = range(len(held)) if len(held) > 1 else (None,)
        odds = [share for share, _ in held] if len(held) > 1 else [1.0]
        blocks.append([(share, [maps(t, number) for t in block.iterations]) for share, number in zip(odds, numbers)])
    moment = torch.einsum("ba,bc->bac", z, z)
    parts = _uncoupled(list(known.values()), F) if z.shape[1] > _LARGE else None
    copies = 1 if parts is None else len(parts)
    if parts is not None:
        shorter = {id(each): _restricted(each, parts) for each in known.values()}
        blocks = [[(share, [shorter[id(each)] for each in steps]) for share, steps in block] for block in blocks]
        known = {at: shorter[id(each)] for at, each in known.items()}
        moment, F = _square(moment, parts), _square(F, parts)
        F.unflatten(0, (-1, copies))[:, 1:, -1, -1] = 0  # the constant, once
    T = torch.from_numpy(iterations.astype(np.int64)).repeat_interleave(copies)
    turns, rest = T // cycle.length, T % cycle.length
    if form.average:
        moment, scale = _averages(blocks, moment, T)
    elif all(len(block) == 1 for block in blocks) and not any(each.weights.shape[-1] for each in known.values()):
        moment, scale = _powers([each for block in blocks for each in block[0][1]], moment, turns)
    elif moment.shape[1] * (moment.shape[1] + 1) // 2 <= MOST_ENTRIES:
        moment, scale = _operator_powers(blocks, moment, turns)
    else:
        scale = moment.abs().amax((1, 2))
        for turn in range(int(turns.max())):
            after = moment
            for block in blocks:
                after = _within(block, after)[-1]
            moment = torch.where((turns > turn)[:, None, None], after, moment)
            scale = torch.maximum(scale, moment.abs().amax((1, 2)))
    going, at = moment, 0
    for block in blocks if int(rest.max()) and not form.average else []:
        for after in _within(block, going):
            moment = torch.where((rest > at)[:, None, None], after, moment)
            going, at = after, at + 1
    scale = torch.maximum(scale, moment.abs().amax((1, 2)))
    values, size = (F * moment).sum((1, 2)), scale * F.abs().sum((1, 2))
    each, errors = (part.unflatten(0, (-1, copies)).sum(1).numpy() for part in (values, size))
    return each, rounding(iterations) * errors


def _uncoupled(maps: Sequence[Maps], F: Tensor) -> np.ndarray | None:
    """Parts of the state that no step mixes and that F does not multiply with each other, (C, m) places each with the
    constant last; None unless there are several of one size. Separable losses have one part per feature.

    Moments within a part need no others: E[x_P x_P^T] of z = (x, 1), x_P+ = A_P x_P + b_P.
    """
    mixed = (F != 0).any(0)
    for each in maps:
        mixed |= (each.mean != 0).any(0) | (each.deviations != 0).any(0).any(0)
    count, part = connected_components(mixed[:-1, :-1].numpy(), directed=False)
    sizes = np.bincount(part)
    if count < 2 or sizes.min() < sizes.max():
        return None
    places = np.argsort(part, kind="stable").reshape(count, -1)
    return np.column_stack((places, np.full(count, len(part))))


def _square(matrices: Tensor, parts: np.ndarray) -> Tensor:
    """The square blocks (B C, ..., m, m) of matrices (B, ..., s, s) at places (C, m)."""
    found = matrices[..., parts[:, :, None], parts[:, None, :]]
    return found.movedim(-3, 1).flatten(0, 1)


def _restricted(maps: Maps, parts: np.ndarray) -> Maps:
    mean, noise, deviations = (_square(each, parts) for each in (maps.mean, maps.noise, maps.deviations))
    weights = maps.weights.repeat_interleave(len(parts), 0)
    return Maps(mean=mean, weights=weights, deviations=deviations, noise=noise)


def _averages(blocks: Sequence[Branches], moment: Tensor, iterations: Tensor) -> tuple[Tensor, Tensor]:
    """(1/T) sum over t < T of the moments (B, s, s), T >= 1, and the largest ones met."""
    total, scale, t = torch.zeros_like(moment), moment.abs().amax((1, 2)), 0
    while t < int(iterations.max()):
        for block in blocks:
            for after in _within(block, moment):
                total = torch.where((iterations > t)[:, None, None], total + moment, total)
                scale = torch.where(iterations > t, torch.maximum(scale, moment.abs().amax((1, 2))), scale)
                moment, t = after, t + 1
    return total / iterations[:, None, None].clamp_min(1), scale


def _within(block: Branches, moment: Tensor) -> list[Tensor]:
    """The moments after each iteration of a block that holds its outcome."""
    given, found = [moment] * len(block), []
    for at in range(len(block[0][1])):
        given = [steps[at].advance(each) for (_, steps), each in zip(block, given)]
        found.append(torch.stack([share * each for (share, _), each in zip(block, given)]).sum(0))
    return found


def _powers(cycle: Sequence[Maps], moment: Tensor, turns: Tensor) -> tuple[Tensor, Tensor]:
    """The moments (B, s, s) after `turns` (B,) cycles of M -> A M A^T + Q, and the largest ones met."""
    scale = moment.abs().amax((1, 2))
    A, Q = cycle[0].mean, cycle[0].noise
    for maps in cycle[1:]:
        A, Q = maps.mean @ A, maps.advance(Q)
    for bit in range(int(turns.max()).bit_length()):
        if bit:
            A, Q = A @ A, A @ Q @ A.mT + Q
        odd = ((turns >> bit) & 1 == 1)[:, None, None]
        moment = torch.where(odd, A @ moment @ A.mT + Q, moment)
        scale = torch.maximum(scale, moment.abs().amax((1, 2)))
    return moment, scale


def _operator_powers(cycle: Sequence[Branches], moment: Tensor, turns: Tensor) -> tuple[Tensor, Tensor]:
    """The same where coins are tossed, by powers of the map of the entries of M."""
    spread, packed = (torch.from_numpy(part) for part in packing(moment.shape[-1]))
    scale, entries = moment.abs().amax((1, 2)), moment.flatten(1) @ packed.T
    K = torch.eye(len(packed), dtype=moment.dtype)
    for block in cycle:
        mixed = torch.zeros_like(K)
        for share, steps in block:
            after = K
            for maps in steps:
                after = packed @ maps.operator() @ spread @ after
            mixed = mixed + share * after
        K = mixed
    for bit in range(int(turns.max()).bit_length()):
        if bit:
            K = K @ K
        odd = ((turns >> bit) & 1 == 1)[:, None]
        entries = torch.where(odd, (K @ entries[..., None])[..., 0], entries)
        scale = torch.maximum(scale, SQUARED * entries.abs().amax(1))
    return (entries @ spread.T).unflatten(1, moment.shape[1:]), scale
