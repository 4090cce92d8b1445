"""When the expected excess first is at most a precision, for several lengths of many directions of rates at once.

M(c v) = I + c M1 + c^2 M2, so that all lengths c of a direction are followed by two products of matrices. From some
hundred steps on, those that are still on their way are followed by powers of their own M.
"""

from __future__ import annotations

import numpy as np

from suffice.simulate.moments.recursion import BLOCK, DENSE, DIVERGED, ExactRecursion, orbit, share_of_step

SETTLED = 1024
"""Steps after which an excess that hardly changes any more is taken to stay."""
TOGETHER = 3
"""Times as many steps as numbers are made before powers of each matrix are cheaper."""
MOST_BLOCKS = 16
"""Blocks at a time."""


def arrivals(
    M1: np.ndarray, M2: np.ndarray, start: np.ndarray, loss: np.ndarray, shares: np.ndarray, epsilon: float, most: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of lengths `shares` (S,) of F directions with expansions M1, M2 (F, n, n): times to a fraction of a step (F, S),
    the lowest E e_t before the first step at which any arrives, and when that is.

    Followed up to that step, and to `most` steps: times are inf of those that have not arrived then.
    """
    F, n, S = len(M1), len(start), len(shares)
    times, lowest, when = np.full(F * S, np.inf), np.full(F * S, start @ loss), np.zeros(F * S, dtype=int)
    live, before, t = np.arange(F * S), np.full(F * S, start @ loss), 0
    ceiling, blocks = DIVERGED * (start @ loss), None
    # rows of few models times a matrix are faster than a matrix times columns
    Z, turned = np.tile(start, (F, S, 1)).astype(M1.dtype), [M.swapaxes(-1, -2).copy() for M in (M1, M2)]
    kept = np.arange(F)  # directions of which some length is on its way
    with np.errstate(over="ignore", invalid="ignore"):
        while live.size and t < most:
            steps = min(max(t, 4), BLOCK - 1) if t < max(TOGETHER * n, BLOCK) else BLOCK * min(t // (4 * BLOCK) + 1, MOST_BLOCKS)
            steps = min(steps, -(-(most - t) // BLOCK) * BLOCK)
            if steps < BLOCK:
                e = np.empty((len(kept), S, steps))
                for s in range(steps):
                    Z = Z + shares[:, None] * (Z @ turned[0] + shares[:, None] * (Z @ turned[1]))
                    e[..., s] = Z @ loss
                e = e.reshape(-1, steps)[np.searchsorted(kept, live // S) * S + live % S]
            else:
                if blocks is None:
                    blocks = _Blocks(M1, M2, shares, live, Z[np.searchsorted(kept, live // S), live % S], loss)
                e = blocks.next(steps)
            e = np.where(np.isfinite(e), e, np.inf)[:, : most - t]
            below = e <= epsilon
            first = int(np.argmax(below.any(0))) if below.any() else e.shape[1]
            if first:
                at = np.argmin(e[:, :first], axis=1)
                lower = e[np.arange(len(e)), at] < lowest[live]
                lowest[live[lower]], when[live[lower]] = e[lower, at[lower]], t + 1 + at[lower]
            if first < e.shape[1]:
                last = e[:, first - 1] if first else before
                here = below[:, first]
                times[live[here]] = t + first + share_of_step(last[here], e[here, first], epsilon)
                break
            t, change = t + steps, np.abs(e[:, -1] - before)
            before = e[:, -1]
            going = before < ceiling
            if t >= SETTLED:  # of a sum of decaying exponentials: ten times the present pace would not arrive
                going &= 10 * change * (most - t) / steps >= before - epsilon
            live, before = live[going], before[going]
            if blocks is not None:
                blocks.keep(going)
            elif len(on := np.unique(live // S)) < len(kept):
                some = np.searchsorted(kept, on)
                kept, Z, turned = on, Z[some], [M[some] for M in turned]
    return times.reshape(F, S), lowest.reshape(F, S), when.reshape(F, S)


class _Blocks:
    """Models z (P, n) followed some BLOCKs at a time: functionals of z_t that are the next excesses."""

    def __init__(
        self, M1: np.ndarray, M2: np.ndarray, shares: np.ndarray, live: np.ndarray, z: np.ndarray, loss: np.ndarray
    ) -> None:
        at, c = live // len(shares), shares[live % len(shares)][:, None, None]
        M = np.eye(len(loss)) + c * M1[at] + c**2 * M2[at]
        back = M.swapaxes(-1, -2)
        self.z, self.power = z.astype(float), np.linalg.matrix_power(M, BLOCK)
        self.looks = orbit(back, back @ loss, BLOCK - 1).swapaxes(-1, -2)

    def next(self, steps: int) -> np.ndarray:
        Z = orbit(self.power, self.z, steps // BLOCK)
        self.z = Z[..., -1]
        return (self.looks @ Z[..., :-1]).swapaxes(-1, -2).reshape(len(Z), steps)

    def keep(self, going: np.ndarray) -> None:
        self.z, self.power, self.looks = self.z[going], self.power[going], self.looks[going]


def arrival(recursion: ExactRecursion, v: np.ndarray, epsilon: float, most: int) -> float:
    """The time of one client at rates v (N,), to a fraction of a step: 0 if its start is enough, inf beyond `most`."""
    if recursion.excess <= epsilon:
        return 0.0
    M = recursion.matrix(v)[None] - np.eye(len(recursion.loss))
    return float(arrivals(M, 0 * M, recursion.start, recursion.loss, np.ones(1), epsilon, most)[0][0, 0])
