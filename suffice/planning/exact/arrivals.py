"""When the expected excess first is at most a precision, for several lengths of many directions at once.

M(c v) = I + c M1 + c^2 M2, so that all lengths c of a direction are followed by two products of matrices, by one where
M1 is diagonal: alone, in coordinates of the client's own eigenvectors. Large matrices are added up instead, one length
after the other. From some hundred steps on, those that are still on their way are followed by powers of their own M.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np

from suffice.simulate.moments.batched import MomentMaps
from suffice.simulate.moments.recursion import BLOCK, DENSE, DIVERGED, ExactRecursion, orbit, share_of_step
from suffice.simulate.moments.reduced import ReducedMaps

SETTLED = 1024
"""Steps after which an excess that hardly changes any more is taken to stay."""
SINGLE = 4096
"""Steps up to which powers of a matrix in single precision are good enough where that is asked for."""
TOGETHER = 3
"""Times as many steps as numbers are made before powers of each matrix are cheaper."""
MOST_BLOCKS = 16
"""Blocks at a time."""
FEW = 3
"""Lengths for which a large matrix each is cheaper than one product for all, where M1 is diagonal."""


def arrivals(
    maps: MomentMaps | ReducedMaps, V: np.ndarray, shares: np.ndarray, epsilon: np.ndarray, who: np.ndarray,
    most: Sequence[int], expansion: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Of rates `shares` (S,) times V (G, F, N): times to a fraction of a step (G, F, S), and E e_t one step earlier.

    Followed up to the first step at which any problem of the same client `who` (G,) arrives, and to `most` steps by
    client; inf for those that have not arrived then, whose second number is of that step or the last one looked
    at. `expansion` is that of the maps at V, where it is known.
    """
    F, S, n = V.shape[1], len(shares), maps.start.shape[-1]
    M1, M2 = (M.reshape(-1, n, n) for M in expansion or maps.expansion(V))
    start, loss = (np.repeat(one, F, axis=0) for one in (maps.start, maps.loss))
    each = np.repeat(np.arange(len(V)), F * S)
    count = _Count(np.einsum("qn,qn->q", loss, start).repeat(S), epsilon[each], who[each], np.asarray(most))
    with np.errstate(over="ignore", invalid="ignore"):
        _together(count, M1, M2, shares.astype(M1.dtype), start, loss)
    return count.times.reshape(-1, F, S), count.ahead.reshape(-1, F, S)


def arrival(recursion: ExactRecursion, v: np.ndarray, epsilon: float, most: int) -> float:
    """The time of one client at rates v (N,), to a fraction of a step: 0 if its start is enough, inf beyond `most`."""
    if recursion.excess <= epsilon:
        return 0.0
    maps, one = MomentMaps.of([recursion.merged(v)]), np.ones(1)
    return float(arrivals(maps, np.array([[[0.0, 1.0]]]), one, epsilon * one, np.zeros(1, dtype=int), [most])[0].item())


class _Count:
    """Which of P problems are still on their way, and when the others arrived."""

    def __init__(self, excess: np.ndarray, epsilon: np.ndarray, who: np.ndarray, most: np.ndarray) -> None:
        self.times, self.ahead = np.full(len(excess), np.inf), np.full(len(excess), np.inf)
        self.before, self.ceiling, self.t = excess, DIVERGED * excess, 0
        self.epsilon, self.who, self.limit, self.clients = epsilon, who, most[who], len(most)
        self.live = np.arange(len(excess))

    def note(self, e: np.ndarray) -> np.ndarray:
        """The next excesses (live, steps); which of the live go on."""
        live, steps = self.live, e.shape[1]
        e = np.where(np.isfinite(e), e, np.inf)
        below = (e <= self.epsilon[live, None]) & (np.arange(1, steps + 1) + self.t <= self.limit[live, None])
        first = np.where(below.any(1), np.argmax(below, axis=1), steps)
        soonest = np.full(self.clients, steps)
        np.minimum.at(soonest, self.who[live], first)
        column = soonest[self.who[live]]
        over = column < steps
        last = np.take_along_axis(np.concatenate((self.before[:, None], e), axis=1), column[:, None], axis=1)[:, 0]
        self.ahead[live] = last
        here = np.flatnonzero(over & (first == column))
        part = share_of_step(last[here], e[here, column[here]], self.epsilon[live[here]])
        self.times[live[here]] = self.t + column[here] + part
        change = np.abs(e[:, -1] - self.before)
        self.t, self.before = self.t + steps, e[:, -1]
        going = ~over & (self.before < self.ceiling[live]) & (self.t < self.limit[live])
        if self.t >= SETTLED:  # of a sum of decaying exponentials: ten times the present pace would not arrive
            going &= ~(10 * change * (self.limit[live] - self.t) / steps < self.before - self.epsilon[live])
        self.live, self.before = live[going], self.before[going]
        return going


def _together(
    count: _Count, M1: np.ndarray, M2: np.ndarray, shares: np.ndarray, z: np.ndarray, loss: np.ndarray
) -> None:
    S, n = len(shares), z.shape[-1]
    diagonal = np.einsum("qnn->qn", M1)[:, None].copy()
    simple = bool((np.abs(M1).sum((1, 2)) <= (1 + 1e-12) * np.abs(diagonal).sum((1, 2))).all())
    sizes = chunks(int(count.limit.max()), n)
    if n > DENSE and not (simple and S > FEW):
        _in_turn(count, sizes, M1, M2, shares, z, loss)
        return
    every = M1, M2, shares, loss
    kept, c = np.arange(len(z)), shares[:, None]  # directions of which some length is on its way
    # rows of few models times a matrix are faster than a matrix times columns
    Z, loss, M2 = np.repeat(z[:, None], S, axis=1), loss[..., None], M2.swapaxes(-1, -2).copy()
    M1 = diagonal if simple else M1.swapaxes(-1, -2).copy()
    for steps in sizes:
        if steps >= BLOCK:
            at, length = np.searchsorted(kept, count.live // S), count.live % S
            _apart(count, chain((steps,), sizes), *every, Z[at, length])
            return
        e = np.empty((len(kept), S, steps))
        for s in range(steps):
            more = Z @ M2
            more *= c
            more += Z * M1 if simple else Z @ M1
            more *= c
            Z = np.add(Z, more, out=more)
            e[..., s] = (Z @ loss)[..., 0]
        place = np.full(len(z) * S, -1)
        place[(kept[:, None] * S + np.arange(S)).ravel()] = np.arange(len(kept) * S)
        count.note(e.reshape(-1, steps)[place[count.live]])
        if not count.live.size:
            return
        going = np.unique(count.live // S)
        if len(going) < len(kept):
            some = np.searchsorted(kept, going)
            kept, Z, M1, M2, loss = going, *(one[some] for one in (Z, M1, M2, loss))


def _in_turn(
    count: _Count,
    sizes: Iterator[int],
    M1: np.ndarray,
    M2: np.ndarray,
    shares: np.ndarray,
    z: np.ndarray,
    loss: np.ndarray,
) -> None:
    """One length after the other: a large matrix of its own stays in the cache for some steps, M1 and M2 would not."""
    S, n = len(shares), z.shape[-1]
    z = z[count.live // S]
    M = np.empty((n, n), dtype=M1.dtype)
    for steps in sizes:
        if steps >= BLOCK:
            _apart(count, chain((steps,), sizes), M1, M2, shares, loss, z)
            return
        e = np.empty((len(z), steps))
        for j, (q, length) in enumerate(zip(*np.divmod(count.live, S))):
            np.multiply(M2[q], shares[length], out=M)
            M += M1[q]
            M *= shares[length]
            M.flat[:: n + 1] += 1
            path = orbit(M, z[j], steps)
            e[j], z[j] = loss[q] @ path[:, 1:], path[:, -1]
        z = z[count.note(e)]
        if not len(z):
            return


def _apart(
    count: _Count,
    sizes: Iterable[int],
    M1: np.ndarray,
    M2: np.ndarray,
    shares: np.ndarray,
    loss: np.ndarray,
    z: np.ndarray,
) -> None:
    """Some BLOCKs at a time: functionals of z_t that are the next excesses, and the step to z_{t + BLOCK}."""
    (at, length), n = np.divmod(count.live, len(shares)), M1.shape[-1]
    c = shares[length][:, None, None]
    exact = count.limit.max() > SINGLE
    M = np.eye(n, dtype=float if exact else M1.dtype) + c * M1[at] + c**2 * M2[at]
    turned = M.swapaxes(-1, -2)
    power = np.linalg.matrix_power(M, BLOCK)
    looks = orbit(turned, np.matmul(turned, loss[at][..., None])[..., 0], BLOCK - 1).swapaxes(-1, -2)
    for steps in sizes:
        Z = orbit(power, z, steps // BLOCK)
        z = Z[..., -1]
        going = count.note((looks @ Z[..., :-1]).swapaxes(-1, -2).reshape(len(z), steps))
        if not going.any():
            return
        if not going.all():
            looks, power, z = looks[going], power[going], z[going]


def chunks(horizon: int, n: int) -> Iterator[int]:
    """Steps to make at a time: few at first, then blocks as soon as these are cheaper."""
    total = 0
    while total < horizon:
        blocks = min(max(total // (4 * BLOCK), 1), MOST_BLOCKS)
        steps = BLOCK * blocks if total >= TOGETHER * n else min(max(4, total), BLOCK - 1)
        yield steps
        total += steps
