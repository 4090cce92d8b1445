"""The step-size condition eta <= q/beta: the ratio q <= 1 / sum_k alpha_k while every r_k is at least a known rho_k.

1 / sum_k alpha_k = sum_k a_k phi(r_k) r_k / sum_k a_k phi(r_k), a_k = 1/sigma_k^2, is at least q for every r >= rho iff
    F(q) = sum_k a_k min_{rho_k <= r <= 1} phi(r) (r - q) >= 0.
F decreases in q: the sharp q is its root. Client i is among the peers, with rho_i = 1. With rho_k = 0 for all others
the root is `Criterion.step_ratio`; a plan that stops at the precision may use the larger one.

Everything reduces over the last axis and is rounded down. Other papers' conditions, and best steps (`..._best_step`),
stand beside their theorems. Plans find steps in `suffice.planning.exact.weights`, by schedules in
`suffice.planning.step_size_schedules`; limits of one client are in `suffice.simulate.step_limit`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .elementary import sqrt
from .theorem import Conditions

_DOWN = 1 - 2.0**-46


def step_conditions(*, eta, q, beta, mu) -> Conditions:
    """eta <= q/beta makes eta beta sum_k alpha_k <= 1 at every step; mu <= beta always."""
    return {"step size eta <= q/beta": (eta, q / beta), "curvature mu <= beta": (mu, beta)}


# The step condition of Lemma 1 is eta <= rbar / beta with rbar = 1 / sum_k alpha_k
#     = (a_i phi(1) + sum_{k != i} a_k phi(r_k) r_k) / (a_i phi(1) + sum_{k != i} a_k phi(r_k)).
# rbar >= q for every r iff a_i phi(1) (1 - q) + sum_{k != i} a_k phi(r_k) (r_k - q) >= 0 for every r, that is
#     phi(1) (1 - q) + (1/w - 1) min_r phi(r) (r - q) >= 0,   w = a_i / sum_k a_k,
# and the left side decreases in q: the sharp q is its root.


def binary_step_ratio(*, threshold, share):
    """q = lambda + (1 - lambda) w: the minimum of phi(r)(r - q) is at r = lambda."""
    return threshold + (1 - threshold) * share


def continuous_step_ratio(*, share):
    """q = 2 sqrt(w) / (1 + sqrt(w)): r (r - q) is least at r = q/2, so 1 - q = (1/w - 1) q^2 / 4."""
    return 2 * sqrt(share) / (1 + sqrt(share))


# phi*(r) (r - q) with p = phi*(r), r = p (2 - p), is least where q = p (4 - 3 p), with value -2 p^2 (1 - p): the root
# is where (1 - p) (1 - 3 p) = 2 (1/w - 1) p^2 (1 - p), that is 2 (1/w - 1) p^2 + 3 p - 1 = 0.


def sharp_step_ratio(*, share):
    """q = p (4 - 3 p) with p = 2 / (3 + sqrt(1 + 8 / w)): the criterion phi*(x) = 1 - sqrt(1 - x)."""
    p = 2 / (3 + sqrt(1 + 8 / share))
    return p * (4 - 3 * p)


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
    """The root for phi*(x) = 1 - sqrt(1 - x), by bisection.

    With p = phi*(r), r = p (2 - p): phi*(r) (r - q) = p (p (2 - p) - q) falls in p up to q / (2 + sqrt(4 - 3 q)), where
    q = p (4 - 3 p), and rises from there to p = 1.
    """
    rho = np.asarray(similarity, dtype=float)
    lowest = rho / (1 + np.sqrt(1 - np.minimum(rho, 1)))

    def total(q: np.ndarray) -> np.ndarray:
        q = q[..., None]
        p = np.maximum(lowest, q / (2 + np.sqrt(4 - 3 * q)))
        return (p * (p * (2 - p) - q) / sigma2).sum(-1)

    return largest_root(total, rho.shape[:-1])


def largest_root(total: Callable[[np.ndarray], np.ndarray], shape: tuple[int, ...]) -> Any:
    """The largest q in [0, 1], of a shape, with total(q) >= 0 for a falling `total`: by bisection, rounded down."""
    low, high = np.zeros(shape), np.ones(shape)
    for _ in range(60):
        middle = (low + high) / 2
        good = total(middle) >= 0
        low, high = np.where(good, middle, low), np.where(good, high, middle)
    return (low * _DOWN)[()]
