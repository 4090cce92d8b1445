"""Second moments in closed form: of All-for-one, of models that agree, and of All-for-all.

Written in NumPy for a batch of instances (leading axis n); nothing of the simulator or of the bounds is used. The
simulator's own step is probed beside them (`simulated`); it cannot take their place, as the bounds are attained by a
million agents, where noise averages out, and after up to 10^10 iterations.
Quadratics f_j(x) = sum_a h_ja (x_a - m_ja)^2/2 with additive noise of variance v_ja in direction a.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...instances.recursions import matrices_of, repeated


def power(x: np.ndarray, T: np.ndarray) -> np.ndarray:
    """(1 - x)^T, also for x within rounding of 0 and T in the billions."""
    with np.errstate(all="ignore"):
        left = np.exp(T * np.log1p(-np.minimum(x, 1)))
        if np.any(x >= 1):
            left = np.where(x < 1, left, np.power(1 - x, T))
        return np.where(T == 0, 1.0, left)


def geometric(x: np.ndarray, T: np.ndarray) -> np.ndarray:
    """sum_{t < T} (1 - x)^(2t)."""
    with np.errstate(all="ignore"):
        left = -np.expm1(2 * T * np.log1p(-np.minimum(x, 1)))
        if np.any(x >= 1):
            left = np.where(x < 1, left, 1 - np.power(1 - x, 2 * T))
        return np.where(T == 0, 0.0, np.where(x == 0, T, left / (x * (2 - x))))


def mean_of_iterates(x: np.ndarray, T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The share of the start in the mean of the iterates 1 to T, and the variance that unit noise per step gives it.

    Noise s steps before the end enters the mean with (1 - r^s)/((1 - r) T), r = 1 - x. Where x T < 1/100 the sum of its
    squares would cancel; it is left out there, so that the result is a lower bound.
    """
    with np.errstate(all="ignore"):
        one, two = power(x, T), power(x, 2 * T)
        fallen = np.where(x < 1, -np.expm1(T * np.log1p(-np.minimum(x, 1))), 1 - one)
        mean = np.where(x > 0, (1 - x) * fallen / (x * T), 1.0)
        total = T - 2 * (1 - x) * fallen / x + (1 - x) ** 2 * (1 - two) / (x * (2 - x))
        return mean, np.where(x * T >= 1e-2, total / (x * T) ** 2, 0.0)


_DOUBLINGS = 36


@dataclass(frozen=True, kw_only=True)
class Mixture:
    """One model that follows sum_j weight_j g_j, G groups of agents in R^d with diagonal Hessians.

    h, m, v (n, G, d); weight (n, G) of each group together, share (n, G) the sum of its squared weights; start (n, d);
    eta (n,). All-for-one is this for every agent. All-for-all with equal rows lambda keeps all N models equal: they
    follow the mean of all gradients with the step eta N |lambda|^2.
    """

    h: np.ndarray
    m: np.ndarray
    v: np.ndarray
    weight: np.ndarray
    share: np.ndarray
    start: np.ndarray
    eta: np.ndarray

    @property
    def pull(self) -> np.ndarray:
        """The curvature of the mixture, (n, d)."""
        return np.einsum("ng,ngd->nd", self.weight, self.h)

    @property
    def centre(self) -> np.ndarray:
        """The minimiser of the mixture, (n, d)."""
        return np.einsum("ng,ngd,ngd->nd", self.weight, self.h, self.m) / self.pull

    def limit(self) -> np.ndarray:
        """f_j - f_j* at the centre, (n, G)."""
        return (self.h * (self.centre[:, None] - self.m) ** 2).sum(-1) / 2

    def excesses(self, T: np.ndarray) -> np.ndarray:
        """E f_j(x) - f_j* after T (n,) steps, for every group, (n, G)."""
        x, T = self.eta[:, None] * self.pull, T[:, None]
        mean = self.centre + power(x, T) * (self.start - self.centre)
        variance = self.eta[:, None] ** 2 * np.einsum("ng,ngd->nd", self.share, self.v) * geometric(x, T)
        return (self.h * ((mean[:, None] - self.m) ** 2 + variance[:, None])).sum(-1) / 2

    def first(self, T: np.ndarray) -> np.ndarray:
        """The excess loss of agent 0 after T (n,) steps, (n,)."""
        return self.excesses(T)[:, 0]

    def average(self, T: np.ndarray) -> np.ndarray:
        """The mean excess loss of all agents after T (n,) steps, weighted by `weight`, (n,)."""
        return (self.weight * self.excesses(T)).sum(-1)

    def strong(self) -> np.ndarray:
        """|grad f_0 - grad f_j| for one common Hessian, (n, G)."""
        if (self.h != self.h[:, :1]).any():
            raise ValueError("no finite strong dissimilarity: Hessians differ")
        return np.linalg.norm(self.h * (self.m - self.m[:, :1]), axis=-1)

    def weak(self) -> np.ndarray:
        """|grad f_j(x_0*)|, (n, G)."""
        return np.linalg.norm(self.h * (self.m - self.m[:, :1]), axis=-1)


@dataclass(frozen=True, kw_only=True)
class Filtered:
    """All-for-all in dimension one: x+ = x - eta W g(x), W = Lambda Lambda^T.

    h, m, v (n, N); Lambda (n, N, N); start (n,) common; eta (n,). In y = h^(1/2) (x - m) a step is multiplication by
    1 - eta S with the symmetric S = h^(1/2) W h^(1/2), and the losses are |y|^2/2.
    """

    h: np.ndarray
    m: np.ndarray
    v: np.ndarray
    Lambda: np.ndarray
    start: np.ndarray
    eta: np.ndarray

    @cached_property
    def modes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Contraction, amplitude at the start and noise per step of every mode, (n, N) each."""
        root = np.sqrt(self.h)
        W = self.Lambda @ self.Lambda.swapaxes(1, 2)
        values, vectors = np.linalg.eigh(root[:, :, None] * W * root[:, None])
        values = np.where(values > 1e-13 * values[:, -1:], values, 0.0)
        amplitude = np.einsum("nik,ni->nk", vectors, root * (self.start[:, None] - self.m))
        spread = np.einsum("nik,ni,nij->nkj", vectors, root, W)
        noise = np.where(values > 0, np.einsum("nkj,nj->nk", spread**2, self.v), 0.0)
        return self.eta[:, None] * values, amplitude, self.eta[:, None] ** 2 * noise

    def average(self, T: np.ndarray) -> np.ndarray:
        """E F^T, (n,)."""
        x, amplitude, noise = self.modes
        T = T[:, None]
        return (power(x, 2 * T) * amplitude**2 + noise * geometric(x, T)).mean(-1) / 2

    def averaged(self, T: np.ndarray) -> np.ndarray:
        """E F at the mean of the iterates 1 to T >= 1, (n,)."""
        x, amplitude, noise = self.modes
        mean, squares = mean_of_iterates(x, T[:, None])
        return (mean**2 * amplitude**2 + noise * squares).mean(-1) / 2


# Features a ~ N(0, H) with H = diag(h), labels a^T m_j + noise of variance tau_j^2: at u = x - m_j the gradient has the
# covariance (u^T H u) H + H u u^T H + tau_j^2 H. Its diagonal needs the diagonal of E u u^T alone, so that the
# coordinates' means and second moments are a closed system.


def growing_excess(
    h: np.ndarray,
    m: np.ndarray,
    weight: np.ndarray,
    share: np.ndarray,
    tau2: np.ndarray,
    start: np.ndarray,
    eta: np.ndarray,
    T: np.ndarray,
) -> np.ndarray:
    """E f_0 - f_0* after T steps, m_0 = 0: h, start (n, 2), m (n, G, 2), weight, share, tau2 (n, G), eta, T (n,)."""
    x = eta[:, None] * h
    push = x * np.einsum("ng,ngd->nd", weight, m)

    def after(state: np.ndarray) -> np.ndarray:
        """One step of (E x, E x^2, 1), (..., n, 5)."""
        mean, second, one = state[..., :2], state[..., 2:4], state[..., 4:]
        u2 = second[..., None, :] - 2 * m * mean[..., None, :] + m**2 * one[..., None]  # E (x - m_j)^2, (..., n, G, 2)
        loss = (h[:, None] * u2).sum(-1, keepdims=True)
        covariance = h[:, None] * (loss + h[:, None] * u2 + tau2[..., None] * one[..., None])
        noise = np.einsum("ng,...ngd->...nd", share, covariance)
        moved = (1 - x) ** 2 * second + 2 * (1 - x) * push * mean + push**2 * one + eta[:, None] ** 2 * noise
        return np.concatenate(((1 - x) * mean + push * one, moved, one), -1)

    state = np.concatenate((start, start**2, np.ones_like(start[:, :1])), -1)
    return (h * repeated(matrices_of(after, state), state, T)[:, 2:4]).sum(-1) / 2


def last_missed(excess: Callable[[np.ndarray], np.ndarray], eps: np.ndarray) -> np.ndarray:
    """The largest T with excess(T) > eps, (n,); 0 where there is none.

    Found between two powers of two and by bisection, so that excess(T) > eps holds in any case.
    """
    low = np.zeros_like(eps)
    for exponent in range(_DOUBLINGS):
        T = np.full_like(eps, 2.0**exponent)
        low = np.where(excess(T) > eps, T, low)
    high = np.maximum(2 * low, 1)
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        missed = excess(middle) > eps
        low, high = np.where(missed, middle, low), np.where(missed, high, middle)
    return low
