"""Schedules of three stages: constant rates in each, all three chosen together, in fewer steps than one constant plan.

E e_T = loss . M(v_3)^T_3 M(v_2)^T_2 M(v_1)^T_1 z_0 for rates v_j kept up for T_j steps, exactly, and its derivatives by
all 3 N rates come from one pass forward and one backward. From the constant plan, which is the schedule (v, v, v),
rates descend on E e_T for a T that is shorter; what reaches the precision there counts, and is shortened again. So no
schedule is slower than the constant plan. It is a local optimum: no proof that none is faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np


from suffice.simulate.moments.recursion import ExactRecursion, orbit


from .search import without_small

STAGES = 3
ROUNDS = 40
"""Of descent for each length that is tried."""
SHORTER = 6
"""The first length tried is a sixth shorter."""
NUMBERS = 2e7
"""In the matrices of the clients that descend together."""


def lengths(steps: int) -> list[int]:
    """Of the stages, of sum `steps`, as equal as can be."""
    ends = [steps * (j + 1) // STAGES for j in range(STAGES)]
    return np.diff([0, *ends]).tolist()


def staged_curve(recursion: ExactRecursion, rates: np.ndarray, steps: int) -> np.ndarray:
    """E e_t, t = 0..steps, of rates (3, N) in equal stages [loss]."""
    z, parts = recursion.start, [np.array([recursion.excess])]
    for v, part in zip(rates, lengths(steps)):
        Z = orbit(recursion.matrix(v), z, part)
        z = Z[:, -1]
        parts.append(recursion.loss @ Z[:, 1:])
    return np.concatenate(parts)


def faster_stages(
    recursions: Sequence[ExactRecursion], rates: np.ndarray, epsilon: np.ndarray, steps: Sequence[int]
) -> list[tuple[np.ndarray, int]]:
    """Rates (3, N) and the T they take, of clients whose constant rates (C, N) take `steps`; those where none is found.

    Every stage is below its step limit. Plans too long to be polished stay as they are.
    """
    found = [(np.tile(v, (STAGES, 1)), T) for v, T in zip(rates, steps)]
    n, numbers = len(recursions[0].loss), recursions[0].moments.noise.size
    at_once = max(1, int(NUMBERS / (numbers + 10 * n**2)))
    todo = [c for c, T in enumerate(steps) if T > 1 and 3.0 * T * n**2 <= WORK]
    for first in range(0, len(todo), at_once):
        part = todo[first : first + at_once]
        maps = MomentMaps.of([recursions[c] for c in part])
        for c, one in zip(
            part, _shortened([recursions[c] for c in part], maps, [found[c] for c in part], epsilon[part])
        ):
            found[c] = one
    return found


def _shortened(
    recursions: Sequence[ExactRecursion], maps: MomentMaps, found: list[tuple[np.ndarray, int]], epsilon: np.ndarray
) -> list[tuple[np.ndarray, int]]:
    cut = [max(1, T // SHORTER) for _, T in found]
    open_ = np.arange(len(found))
    while open_.size:
        goal = {c: found[c][1] - cut[c] for c in open_.tolist()}
        V = np.stack([found[c][0].ravel() for c in goal])[:, None]
        # a rate of 0 may grow again: what matters at the start is little
        V = np.maximum(V, 1e-3 * V.max(-1, keepdims=True))
        descent = Descent(
            maps=_Staged(maps=maps[open_], lengths=np.array([lengths(T) for T in goal.values()])),
            client=open_, epsilon=epsilon[open_], V=V, allowed=np.ones(V.shape, dtype=bool), goal=goal, hunt=False,
        )  # fmt: skip
        ends = descent.run(ROUNDS)[:, 0]
        going = []
        for c, end in zip(goal, ends.reshape(len(open_), STAGES, -1)):
            usable = next(
                (v for v in (without_small(end), end) if _arrives(recursions[c], v, goal[c], float(epsilon[c]))), None
            )
            if usable is not None:
                found[c] = usable, goal[c]
            elif cut[c] == 1:
                continue
            cut[c] = max(1, min(cut[c], found[c][1] // SHORTER) if usable is not None else cut[c] // 2)
            if found[c][1] > 1:
                going.append(c)
        open_ = np.array(going, dtype=int)
    return found


def _arrives(recursion: ExactRecursion, rates: np.ndarray, steps: int, epsilon: float) -> bool:
    used = [v for v, part in zip(rates, lengths(steps)) if part]
    return bool(staged_curve(recursion, rates, steps)[-1] <= epsilon) and all(recursion.limit(v) > 1 for v in used)


@dataclass(frozen=True, kw_only=True)
class _Staged:
    """What `Descent` follows: rates (G, K, 3 N), stage after stage, of `lengths` (G, 3)."""

    maps: MomentMaps
    lengths: np.ndarray

    def __getitem__(self, groups: Any) -> _Staged:
        return replace(self, maps=self.maps[groups], lengths=self.lengths[groups])

    def trial(self, V: np.ndarray, steps: int) -> _StagedTrial:
        return _StagedTrial(self, V)


class _StagedTrial:
    excess: np.ndarray

    def __init__(self, staged: _Staged, V: np.ndarray) -> None:
        maps, self.lengths = staged.maps, staged.lengths
        self.maps, self.V = maps, V.reshape(*V.shape[:2], STAGES, -1)
        M = maps.matrices(V.reshape(len(V), -1, self.V.shape[-1]))
        self.M = M.reshape(*self.V.shape[:3], *M.shape[-2:])
        z, self.Z = np.broadcast_to(maps.start[:, None], M[:, ::STAGES, 0].shape), []
        for j, most in enumerate(self.lengths.max(0).tolist()):
            Z = orbit(self.M[:, :, j], z, most)
            z = np.take_along_axis(Z, self.lengths[:, None, j, None, None], axis=-1)[..., 0]
            self.Z.append(Z)
        self.excess = np.einsum("gn,gkn->gk", maps.loss, z)[..., None]

    def stable(self, groups: np.ndarray, problems: np.ndarray) -> np.ndarray:
        """Asked by a hunt for the shortest length alone; here it is given, and `_arrives` checks every stage."""
        raise NotImplementedError("stages are minimised at given lengths")

    def derivatives(self, goals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """ln E e_T (G, K) and its derivatives by all rates (G, K, 3 N), at the sum of the lengths."""
        p = np.broadcast_to(self.maps.loss[:, None], self.Z[0].shape[:-1])
        gradient = np.zeros(self.V.shape)
        for j in reversed(range(STAGES)):
            length = self.lengths[:, j]
            most = int(length.max())
            if not most:
                continue
            P = orbit(self.M[:, :, j].swapaxes(-1, -2), p, most)
            p = np.take_along_axis(P, length[:, None, None, None], axis=-1)[..., 0]
            back = length[:, None] - 1 - np.arange(most)
            kept = np.take_along_axis(P, np.maximum(back, 0)[:, None, None], axis=-1) * (back >= 0)[:, None, None]
            Z = np.where((back >= 0)[:, None, None], self.Z[j][..., :most], 0)
            gradient[:, :, j] = self.maps.contract(self.V[:, :, j], kept, Z)
        last = np.maximum(self.excess[..., 0], 1e-300)
        return np.log(last), gradient.reshape(*self.V.shape[:2], -1) / last[..., None]
