"""Models of a linear map z+ = M z: their path, sums over it, and when a functional of them first is small enough."""

from __future__ import annotations

import numpy as np

BLOCK = 64
"""So many steps are made at a time where there are many."""
DIVERGED = 1e12
"""An excess of so many times its start has left."""
LONG = 6
"""Times as many steps as numbers from which on sums over steps are doubled, not added up step by step."""
ALONE = 60
"""Matrices of more numbers a side are stepped one after the other, as each then stays in the cache."""
SETTLED = 1024
"""Steps after which an excess that hardly changes any more is taken to stay."""
TOGETHER = 3
"""Times as many steps as numbers are made before powers of each matrix are cheaper."""
MOST_BLOCKS = 16
"""Blocks at a time."""


def orbit(M: np.ndarray, z: np.ndarray, steps: int, powers: list[np.ndarray] | None = None) -> np.ndarray:
    """z, M z, ..., M^steps z as columns, (..., n, steps + 1), for M (..., n, n) and z (..., n)."""
    if M.ndim > 2 and z.shape[-1] > ALONE:
        each = zip(M, np.broadcast_to(z, (*M.shape[:-2], z.shape[-1])))
        return np.stack([orbit(one, at, steps) for one, at in each])
    powers = squares(M, steps) if powers is None else powers
    path = np.empty((steps + 1, *z.shape), dtype=M.dtype)
    path[0], have, out = z, 1, np.moveaxis(path, 0, -1)
    if len(powers) == 1 and M.ndim == 2:
        for t in range(steps):
            path[t + 1] = M @ path[t]
        return out
    while have <= steps:
        power = powers[min(have.bit_length(), len(powers)) - 1]
        reach = min(have, 2 ** (len(powers) - 1))
        more = min(reach, steps + 1 - have)
        out[..., have : have + more] = power @ out[..., have - reach : have - reach + more]
        have += more
    return out


def squares(M: np.ndarray, steps: int) -> list[np.ndarray]:
    """M, M^2, M^4, ..., as many as save more steps than they cost."""
    n, found = M.shape[-1], [M]
    for _ in range(0 if steps < n else 3 if steps < 3 * n else BLOCK.bit_length() - 1):
        found.append(found[-1] @ found[-1])
    return found


def orbit_sum(M: np.ndarray, z: np.ndarray, p: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """sum_t (M')^(steps-1-t) p (M^t z)' over t < steps, (n, n), and M^steps z: of many steps by doubling,
    S_2m = (M^m)' S_m + S_m (M^m)'."""
    later = max(steps.bit_length() - 6, 0) if steps >= LONG * len(z) else 0
    m = steps >> later
    powers = squares(M, m)
    Z = orbit(M, z, m, powers)
    total = orbit(M.T, p, max(m - 1, 0), [one.T for one in powers])[:, ::-1][:, :m] @ Z[:, :-1].T
    if not later:
        return total, Z[:, -1]
    power = np.linalg.matrix_power(M, m)
    for j in reversed(range(later)):
        total, power = power.T @ total + total @ power.T, power @ power
        if steps >> j & 1:
            total = M.T @ total + np.outer(p, power @ z)
            power = power @ M
    return total, power @ z


def share_of_step(before: np.ndarray | float, after: np.ndarray | float) -> np.ndarray:
    """Where between two steps the excess passes 1, 0 to 1, its logarithm being interpolated."""
    return np.log(before) / np.log(before / np.maximum(after, 1e-300))


def arrivals(
    M1: np.ndarray, M2: np.ndarray, start: np.ndarray, loss: np.ndarray, shares: np.ndarray, most: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """When loss . M^t start first is at most 1, of M = I + c M1 + c^2 M2 for lengths c = `shares` (S,) of F
    directions (F, n, n): times to a fraction of a step (F, S), the lowest value before the first step at which any
    arrives, and when that is.

    Followed up to that step, and to `most` steps: times are inf of those that have not arrived then. All lengths of a
    direction are stepped by two products of matrices; those that are still on their way after some hundred steps, by
    powers of their own M.
    """
    (F, n), S, first = M1.shape[:2], len(shares), float(start @ loss)
    times, lowest, when = np.full(F * S, np.inf), np.full(F * S, first), np.zeros(F * S, dtype=int)
    live, before, t = np.arange(F * S), np.full(F * S, first), 0
    shares, loss = shares.astype(M1.dtype), loss.astype(M1.dtype)
    # rows of few models times a matrix are faster than a matrix times columns
    forth1, forth2 = (M.swapaxes(-1, -2).copy() for M in (M1, M2))
    Z, length, apart = np.tile(start.astype(M1.dtype), (F, S, 1)), shares[:, None], ()
    with np.errstate(over="ignore", invalid="ignore"):
        while live.size and t < most:
            at, of = np.divmod(live, S)
            if not apart and t >= max(TOGETHER * n, BLOCK):
                c = shares[of][:, None, None]
                M = np.eye(n) + c * M1[at] + c**2 * M2[at]
                back = M.swapaxes(-1, -2)
                # functionals of z_t that are the next values
                looks = orbit(back, back @ loss, BLOCK - 1).swapaxes(-1, -2)
                apart = Z[at, of], np.linalg.matrix_power(M, BLOCK), looks
            if apart:
                z, power, looks = apart
                path = orbit(power, z, min(max(t // (4 * BLOCK), 1), MOST_BLOCKS))
                e = (looks @ path[..., :-1]).swapaxes(-1, -2).reshape(len(z), -1)
                apart = path[..., -1], power, looks
            else:
                found = []
                for _ in range(min(max(t, 4), BLOCK - 1)):
                    Z = Z + length * (Z @ forth1 + length * (Z @ forth2))
                    found.append(Z @ loss)
                e = np.stack(found, axis=-1)[at, of]
            e = np.where(np.isfinite(e), e, np.inf)[:, : most - t]
            below = e <= 1
            arrived = below.any()
            end = int(np.argmax(below.any(0))) if arrived else e.shape[1]
            if end:
                at = np.argmin(e[:, :end], axis=1)
                least = e[np.arange(len(e)), at]
                lower = least < lowest[live]
                lowest[live[lower]], when[live[lower]] = least[lower], t + 1 + at[lower]
            if arrived:
                last, here = e[:, end - 1] if end else before, below[:, end]
                times[live[here]] = t + end + share_of_step(last[here], e[here, end])
                break
            t, last, before = t + e.shape[1], before, e[:, -1]
            # of sums of decaying exponentials: whether ten times the present pace gets them to 1 in the steps left
            arriving = (t < SETTLED) | (10 * np.abs(before - last) * (most - t) / e.shape[1] >= before - 1)
            going = (before < DIVERGED * first) & arriving
            live, before, apart = live[going], before[going], tuple(one[going] for one in apart)
    return times.reshape(F, S), lowest.reshape(F, S), when.reshape(F, S)
