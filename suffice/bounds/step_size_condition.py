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
    """The root q of sum_k a_k x_k (x_k - q) = 0, by bisection: r (r - q) is least at x_k = max(q / 2, rho_k)."""

    def terms(q: np.ndarray) -> np.ndarray:
        x = np.maximum(similarity, q / 2)
        return x * (x - q)

    return _running_root(terms, similarity, sigma2)


def sharp_running(*, similarity, sigma2):
    """The root for phi*(x) = 1 - sqrt(1 - x), by bisection.

    With p = phi*(r), r = p (2 - p): phi*(r) (r - q) = p (p (2 - p) - q) falls in p up to q / (2 + sqrt(4 - 3 q)), where
    q = p (4 - 3 p), and rises from there to p = 1.
    """
    lowest = np.asarray(similarity) / (1 + np.sqrt(1 - np.minimum(similarity, 1)))

    def terms(q: np.ndarray) -> np.ndarray:
        p = np.maximum(lowest, q / (2 + np.sqrt(4 - 3 * q)))
        return p * (p * (2 - p) - q)

    return _running_root(terms, similarity, sigma2)


def _running_root(terms: Callable[[np.ndarray], np.ndarray], similarity: Any, sigma2: Any) -> Any:
    """The largest q with sum_k a_k terms_k(q) >= 0."""
    return largest_root(lambda q: (terms(q[..., None]) / sigma2).sum(-1), np.shape(similarity)[:-1])


def largest_root(total: Callable[[np.ndarray], np.ndarray], shape: tuple[int, ...]) -> Any:
    """The largest q in [0, 1], of a shape, with total(q) >= 0 for a falling `total`: by bisection, rounded down."""
    low, high = np.zeros(shape), np.ones(shape)
    for _ in range(60):
        middle = (low + high) / 2
        good = total(middle) >= 0
        low, high = np.where(good, middle, low), np.where(good, high, middle)
    return (low * _DOWN)[()]
