"""Expected values after very many iterations: powers of the moment map by repeated squaring instead of T steps.

The moments M = E[z z^T] of one iteration (`simulate.maps`) obey M+ = A M A^T + Q where the noise is additive and no
coin is tossed, and in any case a linear map of the m = s (s + 1)/2 entries of the symmetric (s, s) matrix M. Both kinds
compose, so that a cycle of iterations is again one such map, and its power takes log2(T) products. Rounding grows like
T 2^-53 relative to the largest moment met, not to the last one: `scale` says how large that was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .algorithms.base import Algorithm, State
from .moment_maps import Maps, origin, probe
from .problem import QuadraticProblem
from .quadratic_forms import QuadraticForm, forms


def rounding(iterations: Any) -> Any:
    """Share of the largest moment met that may be lost: a mode that neither grows nor decays adds up what every step
    loses, and control variates lose a few units in the last place."""
    return 2.0**-53 * (1000 + 8 * iterations)


SQUARED = 8.0
"""How much more is lost where the map of the entries is squared: control variates at 1/eta of the models' scale cancel
late (against 50 digits Scaffnew lost five times `rounding` after 4,000 iterations)."""
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

    def largest(self, moment: np.ndarray) -> float:
        return float(np.abs(self.applied(moment)).max())


@dataclass(frozen=True, kw_only=True)
class _Linear:
    """M -> the symmetric matrix whose entries are K times those of M."""

    K: np.ndarray

    def after(self, first: _Linear) -> _Linear:
        return _Linear(K=self.K @ first.K)

    def applied(self, moment: np.ndarray) -> np.ndarray:
        spread, packed = packing(len(moment))
        return (spread @ (self.K @ (packed @ moment.ravel()))).reshape(moment.shape)

    def largest(self, moment: np.ndarray) -> float:
        return SQUARED * float(np.abs(self.applied(moment)).max())


_Map = _Congruence | _Linear
Branches = list[tuple[float, list[Maps]]]


@lru_cache(maxsize=32)
def packing(size: int) -> tuple[np.ndarray, np.ndarray]:
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
    spread, packed = packing(len(maps.mean))
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
                            scale = max(scale, whole.largest(moment))
                            moment = whole.applied(moment)
                        turns >>= 1
                        if turns:  # a map is of its own kind, whichever of the two that is
                            whole = whole.after(whole)  # ty: ignore[invalid-argument-type]
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
        if self._plain():
            steps = (maps for block in blocks for maps in self.branches(block)[0][1])
            plain = (_Congruence(A=maps.mean.numpy(), Q=maps.noise.numpy()) for maps in steps)
            return reduce(lambda whole, one: one.after(whole), plain)
        return reduce(lambda whole, one: one.after(whole), map(self._mixed, blocks))

    def _mixed(self, block: Block) -> _Linear:
        mixed = np.zeros(())
        for probability, steps in self.branches(block):
            K = _linear(steps[0])
            for maps in steps[1:]:
                K = _linear(maps) @ K
            mixed = mixed + probability * K
        return _Linear(K=mixed)

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

    def average(self, iterations: int) -> tuple[np.ndarray, float]:
        """(1/T) sum of E[z z^T] over t < T, T >= 1, iteration by iteration, and the largest moment met."""
        total, moment, t = np.zeros_like(self._start), self._start, 0
        scale = float(np.abs(moment).max())
        with np.errstate(all="ignore"):
            while t < iterations:
                for block in self._cycle.blocks:
                    for count in range(len(block.iterations)):
                        within = Block(iterations=block.iterations[:count])
                        if t < iterations:
                            total += self._stepped((within,), moment) if count else moment
                            t += 1
                    moment = self._stepped((block,), moment)
                    scale = max(scale, float(np.abs(moment).max()))
        return total / iterations, scale

    def value(self, form: QuadraticForm, iterations: int, client: int) -> tuple[float, float]:
        """A quantity of one client, and an estimate of its absolute rounding error."""
        moment, scale = self.average(iterations) if form.average else self.at(iterations)
        F = form.on_state(self._problem, client, len(moment), iterations).numpy()
        with np.errstate(all="ignore"):
            return float((F * moment).sum()), float(rounding(iterations) * scale * np.abs(F).sum())

    def excess(self, iterations: int, client: int) -> tuple[float, float]:
        """E[e_T] of one client, and an estimate of its absolute rounding error."""
        return self.value(forms()["excess"], iterations, client)
