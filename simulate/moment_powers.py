"""E[e_T] after very many iterations: powers of the moment map by repeated squaring instead of T steps.

The moments M = E[z z^T] of one iteration (`simulate.maps`) obey M+ = A M A^T + Q where the noise is additive and no
coin is tossed, and in any case a linear map of the m = s (s + 1)/2 entries of the symmetric (s, s) matrix M. Both kinds
compose, so that a cycle of iterations is again one such map, and its power takes log2(T) products. Rounding grows like
T 2^-53 relative to the largest moment met, not to the last one: `scale` says how large that was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from suffice.bounds import InputError

from .algorithms.base import Algorithm, State
from .batches import stack, tensors
from .maps import Maps, origin, probe, probe_batch
from .problem import QuadraticProblem


def rounding(iterations: Any) -> Any:
    """Share of the largest moment met that may be lost: a mode that neither grows nor decays adds up what every step
    loses, and control variates lose a few units in the last place."""
    return 2.0**-53 * (1000 + 8 * iterations)


MOST_ENTRIES = 60
"""Entries of a symmetric moment (s <= 10) up to which coins and noise that depends on the state are squared."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """Successive iterations that share one outcome of the coins: `first` = (t, t + 1, ...), representatives."""

    iterations: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Cycle:
    """The iterations 1, 2, ..., p as blocks; iteration p + 1 takes the step of iteration 1 again.

    An iteration stands here by the first one that takes the same step, so that each step is probed once.
    """

    blocks: tuple[Block, ...]

    @property
    def length(self) -> int:
        return sum(len(block.iterations) for block in self.blocks)

    def upto(self, count: int) -> tuple[Block, ...]:
        """The first `count` iterations of the cycle."""
        found: list[Block] = []
        for block in self.blocks:
            if count <= 0:
                break
            found.append(Block(iterations=block.iterations[:count]))
            count -= len(block.iterations)
        return tuple(found)


ONE_STEP = Cycle(blocks=(Block(iterations=(1,)),))


@dataclass(frozen=True, kw_only=True)
class _Congruence:
    """M -> A M A^T + Q."""

    A: np.ndarray
    Q: np.ndarray

    def after(self, first: _Congruence) -> _Congruence:
        return _Congruence(A=self.A @ first.A, Q=self.A @ first.Q @ self.A.T + self.Q)

    def applied(self, moment: np.ndarray) -> np.ndarray:
        return self.A @ moment @ self.A.T + self.Q


@dataclass(frozen=True, kw_only=True)
class _Linear:
    """M -> the symmetric matrix whose entries are K times those of M."""

    K: np.ndarray

    def after(self, first: _Linear) -> _Linear:
        return _Linear(K=self.K @ first.K)

    def applied(self, moment: np.ndarray) -> np.ndarray:
        spread, packed = _packing(len(moment))
        return (spread @ (self.K @ (packed @ moment.ravel()))).reshape(moment.shape)


_Map = _Congruence | _Linear
Branches = list[tuple[float, list[Maps]]]


@lru_cache(maxsize=32)
def _packing(size: int) -> tuple[np.ndarray, np.ndarray]:
    """(s^2, m) that spreads the entries of a symmetric matrix, and (m, s^2) that reads them off."""
    rows, columns = np.triu_indices(size)
    spread, packed = np.zeros((size * size, len(rows))), np.zeros((len(rows), size * size))
    entry = np.arange(len(rows))
    spread[rows * size + columns, entry] = 1
    spread[columns * size + rows, entry] = 1
    packed[entry, rows * size + columns] += 0.5
    packed[entry, columns * size + rows] += 0.5
    return spread, packed


def _linear(maps: Maps) -> np.ndarray:
    """K of one iteration."""
    spread, packed = _packing(len(maps.mean))
    return packed @ maps.operator().numpy() @ spread


def branches(problem: QuadraticProblem, algorithm: Algorithm, centre: State, eta: Tensor, block: Block) -> Branches:
    """See `MomentPowers.branches`."""
    held: list[Sequence[tuple[float, Mapping[str, Tensor]]] | None] = [None]
    odds = [1.0]
    if len(block.iterations) > 1:
        listed = algorithm.outcomes(problem, block.iterations[0])
        held = [[(1.0, extra)] for _, extra in listed]
        odds = [share for share, _ in listed]
    found: Branches = []
    for share, outcomes in zip(odds, held):
        known = {t: probe(problem, algorithm, centre, eta, t, outcomes) for t in dict.fromkeys(block.iterations)}
        found.append((share, [known[t] for t in block.iterations]))
    return found


class MomentPowers:
    """The moments of one problem, algorithm and step size at any T: each distinct step is probed once."""

    def __init__(self, problem: QuadraticProblem, algorithm: Algorithm, *, eta: float, cycle: Cycle) -> None:
        self._problem, self._algorithm, self._cycle = problem, algorithm, cycle
        self._eta = torch.as_tensor(eta, dtype=problem.dtype)
        _, self._centre, z = origin(problem, algorithm)
        self._start = np.outer(z.numpy(), z.numpy())
        self._known: dict[Block, Branches] = {}

    @property
    def entries(self) -> int:
        return len(self._start) * (len(self._start) + 1) // 2

    def branches(self, block: Block) -> Branches:
        """(probability, maps of the block's iterations) for each outcome that the block holds: one where it is short,
        since the maps of a single iteration are averaged over its coins."""
        if block not in self._known:
            self._known[block] = branches(self._problem, self._algorithm, self._centre, self._eta, block)
        return self._known[block]

    def at(self, iterations: int) -> tuple[np.ndarray, float]:
        """E[z z^T] (s, s) at T, and the largest moment met on the way; infinite or NaN where it overflows."""
        turns, rest = divmod(iterations, self._cycle.length)
        with np.errstate(all="ignore"):
            moment, scale = self._start, float(np.abs(self._start).max())
            if turns:
                if self._squares():
                    whole = self._of(self._cycle.blocks)
                    while turns:
                        if turns & 1:
                            moment = whole.applied(moment)
                            scale = max(scale, float(np.abs(moment).max()))
                        turns >>= 1
                        whole = whole.after(whole) if turns else whole  # pyright: ignore[reportArgumentType]
                else:
                    for _ in range(turns):
                        moment = self._stepped(self._cycle.blocks, moment)
                        scale = max(scale, float(np.abs(moment).max()))
            moment = self._stepped(self._cycle.upto(rest), moment)
        return moment, max(scale, float(np.abs(moment).max()))

    def _squares(self) -> bool:
        return self.entries <= MOST_ENTRIES or self._plain()

    def _plain(self) -> bool:
        """Whether every iteration is M -> A M A^T + Q."""
        found = [self.branches(block) for block in self._cycle.blocks]
        return all(len(branch) == 1 and not any(len(maps.weights) for maps in branch[0][1]) for branch in found)

    def _of(self, blocks: Sequence[Block]) -> _Map:
        plain, whole = self._plain(), None
        for block in blocks:
            branches = self.branches(block)
            if plain:
                for maps in branches[0][1]:
                    one = _Congruence(A=maps.mean.numpy(), Q=maps.noise.numpy())
                    whole = one if whole is None else one.after(whole)  # pyright: ignore[reportArgumentType]
                continue
            mixed = 0.0
            for probability, steps in branches:
                K = _linear(steps[0])
                for maps in steps[1:]:
                    K = _linear(maps) @ K
                mixed = mixed + probability * K
            one = _Linear(K=np.asarray(mixed))
            whole = one if whole is None else one.after(whole)  # pyright: ignore[reportArgumentType]
        assert whole is not None
        return whole

    def _stepped(self, blocks: Sequence[Block], moment: np.ndarray) -> np.ndarray:
        for block in blocks:
            total = torch.zeros(moment.shape, dtype=torch.float64)
            for probability, steps in self.branches(block):
                after = torch.from_numpy(moment)
                for maps in steps:
                    after = maps.advance(after)
                total = total + probability * after
            moment = total.numpy()
        return moment

    def excess(self, iterations: int, client: int) -> tuple[float, float]:
        """E[e_T] of one client, and an estimate of its absolute rounding error."""
        moment, scale = self.at(iterations)
        d = self._problem.features
        own = slice(client * d, (client + 1) * d)
        A = self._problem.A[client].numpy()
        with np.errstate(all="ignore"):
            return float((A * moment[own, own]).sum()), float(rounding(iterations) * scale * np.abs(A).sum())


def excesses(
    problems: Sequence[QuadraticProblem],
    algorithm: Algorithm,
    *,
    eta: np.ndarray,
    iterations: np.ndarray,
    cycle: Cycle,
    client: int,
) -> tuple[np.ndarray, np.ndarray]:
    """`MomentPowers.excess` of B instances, (B,) each: those of one shape are probed together where `torch.func.vmap`
    can follow the step."""
    groups: dict[Any, list[int]] = {}
    for at, problem in enumerate(problems):
        shapes = tuple(each.shape for each in tensors(problem))
        groups.setdefault((type(problem), shapes), []).append(at)
    values, errors = np.empty((2, len(problems)))
    together = True
    for rows in groups.values():
        part = [problems[at] for at in rows]
        if together and len(rows) > 1:
            try:
                values[rows], errors[rows] = _together(part, algorithm, eta[rows], iterations[rows], cycle, client)
                continue
            except (InputError, RuntimeError, NotImplementedError):  # a branch on a number, or a problem of one's own
                together = False
        for at, problem in zip(rows, part):
            powers = MomentPowers(problem, algorithm, eta=float(eta[at]), cycle=cycle)
            values[at], errors[at] = powers.excess(int(iterations[at]), client)
    return values, errors


def _together(
    problems: Sequence[QuadraticProblem],
    algorithm: Algorithm,
    eta: np.ndarray,
    iterations: np.ndarray,
    cycle: Cycle,
    client: int,
) -> tuple[np.ndarray, np.ndarray]:
    count, d = len(problems), problems[0].features
    starts = [origin(problem, algorithm) for problem in problems]
    centre = {name: torch.stack([each[1][name] for each in starts]) for name in starts[0][1]}
    z = torch.stack([each[2] for each in starts])
    batch, same, steps = stack(list(problems)), stack([algorithm] * count), torch.from_numpy(eta)
    known: dict[tuple[int, int | None], Maps] = {}

    def maps(t: int, outcome: int | None) -> Maps:
        if (t, outcome) not in known:
            known[t, outcome] = probe_batch(batch, same, centre, steps, t, outcome)
        return known[t, outcome]

    blocks: list[Branches] = []
    for block in cycle.blocks:
        held = algorithm.outcomes(problems[0], block.iterations[0]) if len(block.iterations) > 1 else []
        numbers = range(len(held)) if len(held) > 1 else (None,)
        odds = [share for share, _ in held] if len(held) > 1 else [1.0]
        blocks.append([(share, [maps(t, number) for t in block.iterations]) for share, number in zip(odds, numbers)])
    moment = torch.einsum("ba,bc->bac", z, z)
    turns, rest = (torch.from_numpy(part) for part in np.divmod(iterations.astype(np.int64), cycle.length))
    if all(len(block) == 1 for block in blocks) and not any(each.weights.shape[-1] for each in known.values()):
        moment, scale = _powers([each for block in blocks for each in block[0][1]], moment, turns)
    elif z.shape[1] * (z.shape[1] + 1) // 2 <= MOST_ENTRIES:
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
    for block in blocks if int(rest.max()) else []:
        for after in _within(block, going):
            moment = torch.where((rest > at)[:, None, None], after, moment)
            going, at = after, at + 1
    scale = torch.maximum(scale, moment.abs().amax((1, 2)))
    own = slice(client * d, (client + 1) * d)
    hessian = torch.stack([problem.A[client] for problem in problems])
    values = (hessian * moment[:, own, own]).sum((1, 2))
    return values.numpy(), rounding(iterations) * (scale * hessian.abs().sum((1, 2))).numpy()


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
    spread, packed = (torch.from_numpy(part) for part in _packing(moment.shape[-1]))
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
        scale = torch.maximum(scale, entries.abs().amax(1))
    return (entries @ spread.T).unflatten(1, moment.shape[1:]), scale
