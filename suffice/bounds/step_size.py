"""The step-size condition eta <= q/beta: the ratio q <= 1 / sum_k alpha_k while every r_k is at least a known rho_k.

1 / sum_k alpha_k = sum_k a_k phi(r_k) r_k / sum_k a_k phi(r_k), a_k = 1/sigma_k^2, is at least q for every r >= rho iff
    F(q) = sum_k a_k min_{rho_k <= r <= 1} phi(r) (r - q) >= 0.
F decreases in q: the sharp q is its root. Client i is among the peers, with rho_i = 1. With rho_k = 0 for all others
the root is `Criterion.step_ratio`; a plan that stops at the precision may use the larger one.

Everything reduces over the last axis and is rounded down.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .collaboration_criteria import Binary, Continuous, Criterion, Sharp, largest_root
from .theorem import Conditions

_DOWN = 1 - 2.0**-46
_CELLS = 4096


def step_conditions(*, eta, q, beta, mu) -> Conditions:
    """eta <= q/beta makes eta beta sum_k alpha_k <= 1 at every step; mu <= beta always."""
    return {"step size eta <= q/beta": (eta, q / beta), "curvature mu <= beta": (mu, beta)}


def running_step_ratio(criterion: Criterion, *, similarity: Any, sigma2: Any) -> Any:
    """q for any criterion, from lower bounds of the similarities (the client's own is 1) and the variances."""
    similarity = np.asarray(similarity, dtype=float)
    if isinstance(criterion, Binary):
        return binary_running(similarity=similarity, sigma2=sigma2, threshold=criterion.threshold)
    if isinstance(criterion, Continuous):
        return continuous_running(similarity=similarity, sigma2=sigma2)
    least = _sharp_least(similarity) if isinstance(criterion, Sharp) else _least_on_grid(criterion, similarity)
    return largest_root(lambda q: (least(q) / sigma2).sum(-1), similarity.shape[:-1])


def binary_running(*, similarity, sigma2, threshold):
    """sum_k a_k max(lambda, rho_k) / sum_k a_k: members at rho_k, all others just admitted, at r = lambda."""
    least = np.maximum(similarity, np.asarray(threshold, dtype=float)[..., None])
    mass = np.broadcast_to(1 / np.asarray(sigma2, dtype=float), least.shape)
    return (least * mass).sum(-1) / mass.sum(-1) * _DOWN


def continuous_running(*, similarity, sigma2):
    """The root q of sum_k a_k x_k (x_k - q) = 0 with x_k = clip(q / 2, rho_k, 1).

    Suppose that x_k = rho_k for the j largest rho and q / 2 for the rest, of mass A. With B = sum_{l <= j} a rho and
    D = sum_{l <= j} a rho^2 the equation is A q^2 / 4 + B q - D = 0: q_j = 2 D / (B + sqrt(B^2 + A D)). Taking rho_k
    where q / 2 is better raises F, so q_j >= q when j is too large, and then rho_(j+1) <= q / 2 <= q_j / 2; when j is
    too small q_j <= q < 2 rho_(j+1). Hence the first j with rho_(j+1) <= q_j / 2 is right.
    """
    similarity = np.asarray(similarity, dtype=float)
    order = np.argsort(-similarity, axis=-1, kind="stable")
    rho = np.take_along_axis(similarity, order, -1)
    mass = np.take_along_axis(np.broadcast_to(1 / np.asarray(sigma2, dtype=float), similarity.shape), order, -1)
    B, D = np.cumsum(mass * rho, axis=-1), np.cumsum(mass * rho**2, axis=-1)
    below = np.zeros_like(mass)
    below[..., :-1] = np.cumsum(mass[..., :0:-1], axis=-1)[..., ::-1]
    following = np.zeros_like(rho)
    following[..., :-1] = rho[..., 1:]
    q = 2 * D / (B + np.sqrt(B**2 + below * D))
    first = np.argmax(following <= q / 2, axis=-1)
    return (np.take_along_axis(q, first[..., None], -1)[..., 0] * _DOWN)[()]


def sharp_running(*, similarity, sigma2):
    """The root for phi*(x) = 1 - sqrt(1 - x)."""
    return running_step_ratio(Sharp(), similarity=similarity, sigma2=sigma2)


def _sharp_least(rho: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    # With p = phi*(r), r = p (2 - p): phi*(r) (r - q) = p (p (2 - p) - q) falls in p up to q / (2 + sqrt(4 - 3 q)),
    # where q = p (4 - 3 p), and rises from there to p = 1.
    lowest = rho / (1 + np.sqrt(1 - np.minimum(rho, 1)))

    def least(q: np.ndarray) -> np.ndarray:
        q = q[..., None]
        p = np.maximum(lowest, q / (2 + np.sqrt(4 - 3 * q)))
        return p * (p * (2 - p) - q)

    return least


def _least_on_grid(criterion: Criterion, rho: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    # phi (r - q) rises where r >= q: it is least at rho if rho >= q. Otherwise on a cell [x_j, x_j+1] below q it is at
    # least phi(x_j+1) (x_j - q), with rho for x_j in the cell of rho.
    x = np.linspace(0, 1, _CELLS + 1)
    upper = np.asarray(criterion.phi(x), dtype=float)[1:]
    own = np.asarray(criterion.phi(rho), dtype=float)
    cell = np.clip(np.floor(rho * _CELLS).astype(int), 0, _CELLS - 1)

    def least(q: np.ndarray) -> np.ndarray:
        values = upper * np.minimum(x[:-1] - q[..., None], 0)
        later = np.minimum.accumulate(values[..., ::-1], axis=-1)[..., ::-1]
        later = np.concatenate((later, np.zeros_like(later[..., :1])), axis=-1)
        q = q[..., None]
        below = np.minimum(np.take_along_axis(later, cell + 1, -1), upper[cell] * np.minimum(rho - q, 0))
        return np.where(rho >= q, own * (rho - q), below)

    return least
