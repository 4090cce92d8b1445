"""Linear recursions of many instances at once, and the pieces in which long paths are cheap to follow."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

_PIECE = 1 << 14
"""Numbers of a path's array that stay in the processor's cache while a dozen formulas pass over them."""


def by_length(T: np.ndarray, most: int = _PIECE) -> Iterator[np.ndarray]:
    """Rows of instances that are followed together, the longest paths first: of like T (n,), and few where T is large.

    A batch is followed for as long as its longest path.
    """
    order, first = np.argsort(-T, kind="stable"), 0
    while first < len(order):
        last = first + max(1, int(most / (T[order[first]] + 1)))
        yield order[first:last]
        first = last


def repeated(step: np.ndarray, state: np.ndarray, T: np.ndarray) -> np.ndarray:
    """step^T state for matrices (n, m, m), vectors (n, m) and whole numbers T (n,), by squaring.

    An affine recursion is one whose last entry stays 1.
    """
    T, state = T.astype(np.int64), state.copy()
    for bit in range(int(T.max(initial=0)).bit_length()):
        if bit:
            with np.errstate(all="ignore"):  # powers beyond an instance's own T may overflow
                step = step @ step
        odd = (T >> bit & 1 == 1).nonzero()[0]
        state[odd] = np.einsum("nij,nj->ni", step[odd], state[odd])
    return state


def affine(factor: np.ndarray, added: np.ndarray, start: np.ndarray, T: np.ndarray) -> np.ndarray:
    """x_T of x_t = factor x_{t-1} + added from x_0 = start, all (n,)."""
    step = np.stack((factor, added, np.zeros_like(factor), np.ones_like(factor)), -1).reshape(-1, 2, 2)
    return repeated(step, np.stack((start, np.ones_like(start)), -1), T)[:, 0]


def matrices_of(after: Callable[[np.ndarray], np.ndarray], like: np.ndarray) -> np.ndarray:
    """The matrices (n, m, m) of a linear map of states (..., n, m) `like` one, from its images of the unit states."""
    n, m = like.shape
    return np.moveaxis(after(np.broadcast_to(np.eye(m)[:, None], (m, n, m))), 0, -1)


def affine_recursion(factor: np.ndarray, added: np.ndarray, start: np.ndarray) -> np.ndarray:
    """x_0 = start (...), x_t = factor_t x_{t-1} + added_t, t = 1, ..., T, as (T + 1, ...); factor (T, ...) or (1, ...).

    1, 2, 4, ... steps at a time are made one: (f, a) after (g, b) is (f g, f b + a).
    """
    with np.errstate(over="ignore", under="ignore"):
        kept, total, by = np.broadcast_to(factor, added.shape).copy(), added.copy(), 1
        while by < len(total):
            total[by:] += kept[by:] * total[:-by]
            kept[by:] = kept[by:] * kept[:-by]
            by *= 2
        return np.concatenate((start[None], total + kept * start))
