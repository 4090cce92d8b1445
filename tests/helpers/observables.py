"""The random variables whose expectations theorems bound, read off traced paths: a second route to `Stopping`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from suffice.bounds import Quantity

# All take the excess losses (S, T + 1) of one client at t = 0..T and the precision; tau = min{t: e_t < eps}.


def _tau(excess: np.ndarray, eps: float) -> np.ndarray:
    below = excess < eps
    return np.where(below.any(1), below.argmax(1), excess.shape[1])


def _last(excess: np.ndarray, eps: float) -> np.ndarray:
    return excess[:, -1]


def _while_running(excess: np.ndarray, eps: float) -> np.ndarray:
    return excess[:, -1] * (_tau(excess, eps) >= excess.shape[1] - 1)


def _still_running(excess: np.ndarray, eps: float) -> np.ndarray:
    return (_tau(excess, eps) > excess.shape[1] - 1).astype(float)


def _stopped(excess: np.ndarray, eps: float) -> np.ndarray:
    at = np.minimum(_tau(excess, eps), excess.shape[1] - 1)
    return np.take_along_axis(excess, at[:, None], 1)[:, 0]


def _hitting(excess: np.ndarray, eps: float) -> np.ndarray:
    """min(tau, T) <= tau: a bound of E[tau] bounds it too."""
    return np.minimum(_tau(excess, eps), excess.shape[1] - 1).astype(float)


OF_PATHS: dict[Quantity, Callable[[np.ndarray, float], np.ndarray]] = {
    Quantity.EXCESS: _last,
    Quantity.EXCESS_WHILE_RUNNING: _while_running,
    Quantity.STILL_RUNNING: _still_running,
    Quantity.STOPPED_EXCESS: _stopped,
    Quantity.HITTING_TIME: _hitting,
}
