"""Aligned clients: the instances where the stochastic theorems are sharp, with closed-form laws.

R_i = (mu/2) |theta|^2 in R^d, one peer R_k = (1 - sqrt(1 - r)) R_i, isotropic noise, Gaussian given the past, of total
variance sigma_i^2 + M_i |grad R_i|^2 of client i's gradients. The similarity is r at every theta, so that the weights
of Definition 1 never change and
    theta_t = (1 - x m) theta_{t-1} + noise,   m = alpha_i + alpha_k (1 - sqrt(1 - r)),   x = eta mu:
one step takes E[e] to ((1 - x m)^2 + x^2 Q) E[e] + eta^2 mu V/2, Q = alpha_i^2 M_i, and the variance of e_t has a
recursion too. As sigma_k / sigma_i tends to 0 the contraction becomes 1 - eta mu exactly at eta = r/beta; as d grows
e_t concentrates at its mean. Nothing is sampled: probabilities of paths are bounded from below by Chebyshev and a union
over time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Self

import numpy as np

from suffice.bounds import Continuous, tight_variance

from ..family import Values
from .enumerated_paths import Steps, constant_steps
from .recursions import affine_recursion, repeated
from .rows import columns as columns_of

CRITERION = Continuous()


@dataclass(frozen=True, kw_only=True)
class Aligned:
    """A batch of instances (n,), one array per field; `ratio` is eta over the step limit q/beta.

    The curvature is beta / kappa in every direction, and mu = curvature / low: kappa > 1 and low > 1 only mean that
    the theorem is given weaker constants than hold, which is within its hypotheses.

    The peer is R_k = (1 + side sqrt(1 - r)) R_i, so that the models overshoot beyond the step limit at side = 1.

    `below` is what the theorem is given for P(e_{t-1} < eps). At below = 1 the precision is out of reach above every
    path, and peers are more similar there: r <= r_k <= 1 grows with e, so that V_max = V is attained and the sufficient
    variance is `gain` V < V. At below < 1 no path is below: s2 = V, and V_max = V / gain is never met.

    `split` is the kappa of noise that grows with the gradient, which takes the share `fill` of it at the largest step
    that the theorem allows or is given, and `limit` the q that the theorem is given over the true one.

    `steps` makes the steps of the theorem's arguments, with (1 - kappa) mu for mu; `ratio` counts where that uses eta.
    Where steps decrease, C/(mu (t + gamma)), gamma + 1 is (1 + extra) C beta/(mu q).
    """

    steps: Steps

    beta: np.ndarray
    kappa: np.ndarray
    r: np.ndarray
    sigma2_i: np.ndarray
    sigma2_k: np.ndarray
    ratio: np.ndarray
    e0: np.ndarray
    T: np.ndarray
    eps: np.ndarray
    d: np.ndarray
    low: np.ndarray | float = 1.0
    below: np.ndarray | float = 0.0
    gain: np.ndarray | float = 1.0
    side: np.ndarray | float = -1.0
    delta: np.ndarray | float = 1.0
    split: np.ndarray | float = 0.0
    limit: np.ndarray | float = 1.0
    fill: np.ndarray | float = 1.0
    C: np.ndarray | None = None
    extra: np.ndarray | float = 0.0

    @classmethod
    def of(cls, values: Values, steps: Steps = constant_steps) -> Self:
        given = {name: value for name, value in values.items() if name in cls.__dataclass_fields__}
        return cls(steps=steps, **given)

    @cached_property
    def _similarity(self) -> np.ndarray:
        return np.stack((np.ones_like(self.r), self.r), -1)

    @cached_property
    def _sigma2(self) -> np.ndarray:
        return np.stack((self.sigma2_i, self.sigma2_k), -1)

    @property
    def q(self) -> np.ndarray:
        """1 / sum alpha, attained here at every step (never below the criterion's guaranteed ratio), or less."""
        a, r = 1 / self._sigma2, self._similarity
        return self.limit * (a * r * r).sum(-1) / (a * r).sum(-1)

    @property
    def eta(self) -> np.ndarray:
        """The first step."""
        return self._steps[0]

    @property
    def curvature(self) -> np.ndarray:
        return self.beta / self.kappa

    @property
    def mu(self) -> np.ndarray:
        return self.curvature / self.low

    @property
    def rate(self) -> np.ndarray:
        """(1 - split) mu, the part of mu that contracts; the steps of the rows are made from it."""
        return (1 - np.asarray(self.split)) * self.mu

    @cached_property
    def Q(self) -> np.ndarray:
        largest = np.asarray(self._steps[0] * self.beta)  # 0 where the start is below the floor of a horizon's row
        return np.where(largest > 0, self.fill * np.asarray(self.split) / np.where(largest > 0, largest, 1), 0)

    @cached_property
    def V(self) -> np.ndarray:
        """sum_k alpha_k^2 sigma_k^2, the same at every step."""
        return tight_variance(CRITERION, similarity=self._similarity, sigma2=self._sigma2)

    @property
    def s2(self) -> np.ndarray:
        return np.where(np.equal(self.below, 1), self.gain * self.V, self.V)

    @property
    def V_max(self) -> np.ndarray:
        return np.where(np.equal(self.below, 1), self.V, self.V / self.gain)

    def arguments(self) -> dict[str, np.ndarray]:
        """The arguments of the theorems; Q and kappa where a family has noise that grows, C where it has such steps."""
        one = np.ones_like(self.e0)
        grows = {"Q": self.Q * one, "split": self.split * one} if np.ndim(self.split) else {}
        return grows | self._told | {"eta": self.eta, "mu": self.mu}

    @cached_property
    def _told(self) -> dict[str, np.ndarray]:
        """The arguments of the functions that give the steps, with the fixed step as eta."""
        q, rate = self.q, self.rate
        falls = {} if self.C is None else {"C": self.C, "gamma": (1 + self.extra) * self.C * self.beta / (rate * q) - 1}
        return falls | {
            "eta": self.ratio * q / self.beta,
            "mu": rate,
            "beta": self.beta,
            "q": q,
            "e0": self.e0,
            "s2": self.s2,
            "T": self.T,
            "eps": self.eps,
            "G": 2 * self.mu * self.eps,
            "V": self.V,
            "V_max": self.V_max,
            "below": self.below + np.zeros_like(self.e0),
        }

    @cached_property
    def _pull(self) -> tuple[np.ndarray, np.ndarray]:
        """m and sum_k alpha_k^2 sigma_k^2 from the weights themselves."""
        a, r = 1 / self._sigma2, self._similarity
        alpha, side = a * r / (a * r * r).sum(-1, keepdims=True), np.asarray(self.side)[..., None]
        return (alpha * (1 + side * np.sqrt(1 - r))).sum(-1), (alpha**2 * self._sigma2).sum(-1)

    def _step(self, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The factor and the noise of E[e_t] = factor E[e_{t-1}] + noise at a step size (..., n)."""
        (m, V), x = self._pull, eta * self.curvature
        return (1 - x * m) ** 2 + x**2 * self.Q, x * eta * V / 2

    @cached_property
    def _steps(self) -> np.ndarray:
        """The step sizes, (1, n), or (T, n) where they change."""
        return np.atleast_2d(self.steps(self._told, self._times[1:]))

    @property
    def _times(self) -> np.ndarray:
        """0, 1, ... up to the largest T, (T + 1, 1)."""
        return np.arange(int(self.T.max()) + 1)[:, None]

    def _at(self, values: np.ndarray, t: np.ndarray) -> np.ndarray:
        """Row t (n,) of values (T + 1, n)."""
        return np.take_along_axis(values, t.astype(int)[None], 0)[0]

    def excess(self) -> np.ndarray:
        """E[e_T]; also E[e_T 1{tau >= T}] when eps is so small that paths do not reach it."""
        return self._at(self._mean, self.T)

    def mean_square(self) -> np.ndarray:
        """(1/T) sum_{t < T} E|grad R_i(theta_t)|^2 = (2 curvature/T) sum_{t < T} E[e_t]."""
        factor, noise = self._step(self.eta)
        none, one = np.zeros_like(factor), np.ones_like(factor)
        step = np.stack((one, one, none, none, factor, noise, none, none, one), -1).reshape(-1, 3, 3)
        total = repeated(step, np.stack((none, self.e0, one), -1), self.T)[:, 0]  # of the sum, E[e_t] and 1
        return 2 * self.curvature * total / self.T

    @cached_property
    def _mean(self) -> np.ndarray:
        """E[e_t], (T + 1, n)."""
        factor, noise = self._step(self._steps)
        return affine_recursion(factor, np.broadcast_to(noise, (len(self._times) - 1, len(self.e0))), self.e0)

    @cached_property
    def _variance(self) -> np.ndarray:
        """The variance of e_t, (T + 1, n).

        With nu = eta^2 (V + 2 curvature Q e) the total variance of theta_t given e = e_{t-1}, e_t has the variance
        (2 curvature (1 - x m)^2 e nu + curvature^2 nu^2/2)/d given e, and so on.
        """
        steps = self._steps
        factor, noise = self._step(steps)
        grown = (steps * self.curvature) ** 2 * self.Q
        # d/2 times the variance, to which e and its square add at every t
        e, by_e, by_square = self._mean[:-1], 2 * noise * factor, grown * (2 * factor - grown)
        added = noise**2 + (by_e + by_square * e) * e
        return 2 / self.d * affine_recursion(factor**2 + 2 / self.d * by_square, added, np.zeros_like(self.e0))

    @cached_property
    def _below(self) -> np.ndarray:
        """P(e_t < eps), from above: exact without noise, Chebyshev with the exact variance of e_t otherwise."""
        mean, variance = self._mean, self._variance
        with np.errstate(all="ignore"):
            gap = mean - self.eps
            # 0/0 where it is at the precision without noise, which is not below
            return np.fmin(np.fmax(np.where(gap < 0, 1.0, variance / gap**2), 0), 1)

    @cached_property
    def _alive(self) -> np.ndarray:
        """P(tau > t), from below: 1 - sum_{s <= t} P(e_s < eps)."""
        return np.maximum(1 - np.cumsum(self._below, axis=0), 0)

    def running(self) -> np.ndarray:
        """P(tau > T), from below."""
        return self._at(self._alive, self.T)

    def hitting(self) -> np.ndarray:
        """E[tau] = sum_t P(tau > t), from below, summed while t < T."""
        return (self._alive * (self._times < self.T)).sum(0)

    def stopped(self) -> np.ndarray:
        """E[e_min(T, tau)], from below.

        Count only the first t with a mean below eps (or T): there e_min(T, tau) = e_t but for the event that the
        path stopped before or does not stop now, of probability at most `missed`; it takes away at most
        sqrt(E[e_t^2] missed).
        """
        mean, variance = self._mean, self._variance
        t = np.argmax((mean < self.eps) | (self._times >= self.T), axis=0)
        before = self._at(np.cumsum(self._below, axis=0) - self._below, t)
        mean, variance = self._at(mean, t), self._at(variance, t)
        with np.errstate(all="ignore"):
            onwards = np.where((mean < self.eps) & (variance > 0), variance / (self.eps - mean) ** 2, 0)
        missed = np.minimum(before + np.where(t < self.T, onwards, 0), 1)
        return np.maximum(mean - np.sqrt((mean**2 + variance) * missed), 0)

    def last_running(self) -> np.ndarray:
        """The last t <= T with P(tau > t) > delta, from below (0 if none)."""
        return self._last(self._alive > self.delta)

    def last_above(self) -> np.ndarray:
        """The last t <= T with E[e_t 1{tau >= t}] > eps, from below, by Cauchy-Schwarz."""
        mean, variance = self._mean, self._variance
        stopped = np.minimum(np.cumsum(self._below, axis=0) - self._below, 1)
        return self._last(mean - np.sqrt((mean**2 + variance) * stopped) > self.eps)

    def _last(self, holds: np.ndarray) -> np.ndarray:
        return np.where(holds & (self._times <= self.T), self._times, 0).max(0).astype(float)


_TINY = 1e-290


def columns(rows: Iterable[Iterable[float]], *more: str) -> Values:
    """One array per field from one tuple per instance."""
    return columns_of(("beta", "kappa", "r", "sigma2_i", "sigma2_k", "ratio", "e0", "T", "eps", "d", *more), rows)


def sharp_values() -> Values:
    """Hand-picked instances, each where one part of a bound is attained; see the comments."""
    rows: list[tuple[float, ...]] = []
    # columns: beta, kappa, r, sigma2_i, sigma2_k, ratio, e0, T, eps, d
    far = 1e12  # sigma_i^2 / sigma_k^2: client i's own share vanishes
    for T in (1, 2, 5, 20):
        for r in (0.1, 0.5, 0.9):
            rows.append((1.0, 1.0, r, far, 1.0, 1.0, 1e9, T, _TINY, 1))  # contraction, noise negligible
    for T in (1, 5):
        for kappa in (4.0, 50.0):
            rows.append((3.0, kappa, 0.05, far, 1.0, 1.0, 1e9, T, _TINY, 1))  # mu < beta: contraction
    for T in (1, 3, 10):
        rows.append((1.0, 1.0, 1.0, 1.0, far, 1.0, 1.0, T, _TINY, 1))  # alone at eta = 1/beta: the noise floor
        rows.append((4.0, 1.0, 1.0, 9.0, far * 9, 1.0, 0.5, T, _TINY, 1))  # other units
    for r in (0.1, 0.3):
        for T in (5, 40, 200):
            rows.append((1.0, 1.0, r, far, 1.0, 1.0, 1.0, T, _TINY, 1))  # contraction and noise together
    return columns(rows)


def sharp_hitting_values() -> Values:
    """Instances for P(tau > T), E[tau] and the stopped excess: e_T just above eps, high dimension, e_0 = eps."""
    rows: list[tuple[float, ...]] = []
    far, silent, dimension = 1e12, 1e-30, 1e13
    for r in (0.1, 0.5, 0.9):
        for T in (1, 5, 20):
            level = (1 - r) ** T * (1 - 1e-6)  # noiseless, e_T just above eps: P(tau > T) = 1
            rows.append((1.0, 1.0, r, silent * far, silent, 1.0, 1.0, T, level, 1))
            rows.append((1.0, 1.0, r, silent * far, silent, 1.0, 1.0, 20 * T, (1 - r) ** T * (1 + 1e-6), 1))  # reached
    rows.append((1.0, 1.0, 1.0, silent, silent * far, 1.0, 1.0, 1, 1.0, 1))  # e_0 = eps, one step: E[tau] = 1
    rows.append((1.0, 1.0, 0.05, silent * far, silent, 1.0, 1e44, 2200, 1.0, 1))  # ln(e_0 / eps) = 101 beside the 1
    # High dimension, with noise: e_t follows its mean (1 - x) e + x (floor), floor = eta beta s2 / (2 mu).
    for x, floor, beta in ((0.05, 0.89, 1.0), (0.1, 0.8, 1.0), (0.1, 0.85, 0.01)):
        s2 = 2 * floor * beta / x  # eta = x / beta, mu = beta; sigma_k^2 = s2 r^2 because alpha_k = 1/r, r = x
        for start, T in product((1e3, 1e6), (5, 20, 60)):
            level = ((1 - x) ** T * start + floor * (1 - (1 - x) ** T)) * (1 - 1e-4)
            rows.append((beta, 1.0, x, far * s2 * x**2, s2 * x**2, 1.0, start, T, level, dimension))
    rows.append((1.0, 1.0, 1.0, 2.0, 2 * far, 1.0, 1e-9, 1, 1e-9, dimension))  # noise lifts e_1 far above eps
    return columns(rows)
