"""A client that stands still or stops: the instances where hitting times are attained, noise included.

R_i = (beta/2) theta^2 from theta_0 = s, one peer R_k = (1 - sqrt(1 - r)) R_i that carries all the weight (the bound
sigma_i^2 of client i's own variance is as large as one likes, and not met). The noise takes theta to s, 0 or -s:
    E[theta'] = M s, M = 1 - eta beta m,   E[theta'^2] = S s^2,   P(s) = (S + M)/2, P(-s) = (S - M)/2, P(0) = 1 - S.
With the precision at e_0 every step stops with probability 1 - S, so tau is geometric. The drift of the theorems is
1 - S where (1 - eta beta m)^2 = 1 - eta beta: at eta = r/beta, and nearly so for small r.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from ..family import Domain, Values
from .rows import columns

DOMAINS = {
    "beta": Domain(low=0.25, high=4, log=True),
    "r": Domain(low=0.001, high=1, log=True),
    "ratio": Domain(low=0.3, high=1),
    "drop": Domain(low=0.02, high=1, log=True),
    "e0": Domain(low=0.1, high=10, log=True),
    "T": Domain(low=1, high=40, integer=True),
    "delta": Domain(low=0.01, high=0.99),
}


class Renewal:
    """A batch of instances (n,); `ratio` is eta over its limit r/beta, `drop` the chance to stop over its largest.

    `best` takes the variance for which eta = min(q/beta, mu eps/(beta s2)): any small one at the limit, e_0/eta below.
    `arguments` are those of the theorems; `possible` marks the instances whose probabilities and variance are
    nonnegative, and on which the client stops.
    """

    def __init__(self, values: Values, *, best: bool = False) -> None:
        beta, r, ratio, drop, e0, self.T, self.delta = (values[name] for name in DOMAINS)
        eta = ratio * r / beta
        # M: the weight is 1/r and the peer's gradient (1 - sqrt(1 - r)) of the client's
        M = 1 - eta * beta * (1 - np.sqrt(1 - r)) / r
        # variance of the aggregated gradient: eta^2 V = (S - M^2) s^2 with beta s^2 = 2 e_0
        V = (1 - drop * (1 - M) - M**2) * 2 * e0 / (beta * eta**2)
        if best:
            V = np.where(ratio == 1, np.minimum(V, e0 / eta), e0 / eta)
        S = M**2 + eta**2 * V * beta / (2 * e0)
        self.possible = (V >= 0) & (S >= M) & (S < 1)
        self.stay = np.where(self.possible, S, 0)
        self.arguments = {
            "eta": eta, "mu": beta, "beta": beta, "q": r, "e0": e0, "eps": e0, "s2": np.maximum(V, 0), "T": self.T,
            "delta": self.delta, "G": 2 * beta * e0,
        }  # fmt: skip

    def time(self) -> np.ndarray:
        """E[tau], the mean of a geometric law."""
        return 1 / (1 - self.stay)

    def still_running(self) -> np.ndarray:
        """P(tau > T)."""
        return self.stay**self.T

    def last_running(self) -> np.ndarray:
        """The last t with P(tau > t) > delta."""
        with np.errstate(divide="ignore"):  # who stops at once
            return np.maximum(np.ceil(np.log(self.delta) / np.log(self.stay)) - 1, 0)


FADING = {
    "beta": Domain(low=0.25, high=4, log=True),
    "low": Domain(low=1, high=4),
    "r": Domain(low=0.003, high=1, log=True),
    "fill": Domain(low=0.01, high=1, log=True),
    "e0": Domain(low=0.1, high=10, log=True),
    "C": Domain(low=1.01, high=3),
    "extra": Domain(low=0, high=2),
    "T": Domain(low=1, high=400, integer=True, log=True),
    "delta": Domain(low=0.01, high=0.99),
}


def fading(values: Values, *, longest: bool) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """P(tau > T), or the last t <= max(3000, T) with P(tau > t) > delta, and the arguments, under decreasing steps.

    The theorems are told mu = beta/low; `fill` is the variance over the largest that leaves the start in charge of nu.
    Where it is too small for s, 0 and -s, theta' is s or the one point below s that gives the mean M s and the
    variance v s^2: it is s with probability v/(v + (1 - M)^2).
    """
    beta, r, C, e0, mu = *(values[name] for name in ("beta", "r", "C", "e0")), values["beta"] / values["low"]
    gamma = (1 + values["extra"]) * C * beta / (mu * r) - 1
    s2 = values["fill"] * 2 * mu**2 * (C - 1) * (gamma + 1) * e0 / (C**2 * beta)
    pull, noise = (1 - np.sqrt(1 - r)) / r, s2 / (2 * beta * e0)
    until = np.maximum(values["T"], 3000) if longest else values["T"]
    steps = np.arange(1, int(until.max()) + 1)[:, None]
    x = C * beta / mu / (steps + gamma)
    M, v = 1 - x * pull, x**2 * noise
    stay = np.where(v >= M * (1 - M), np.minimum(M**2 + v, 1), v / (v + (1 - M) ** 2))
    course = np.cumprod(np.where(steps <= until, stay, 1), axis=0)
    told = values | {"gamma": gamma, "mu": mu, "q": r, "s2": s2, "eps": e0}
    return ((course > values["delta"]) & (steps <= until)).sum(0).astype(float) if longest else course[-1], told


def sharp_fading() -> Values:
    """Steps of small eta mu and as much noise as the start allows, from certainty to rare paths."""
    lasts = (1.0, 0.99), (50.0, 0.9), (200.0, 0.6), (400.0, 0.1)
    every = product(((1.0, 1.0), (3.0, 0.2)), (1.0, 1.1), (1.01, 1.5, 2.0, 3.0), lasts)
    rows = ((beta, low, 0.003, 1.0, e0, C, 0.0, T, delta) for (beta, e0), low, C, (T, delta) in every)
    return columns(FADING, rows)


def sharp() -> Values:
    """At the limit of the step and below it, with little noise and with as much as the theorems allow."""
    steps = (1.0, 1.0), (0.5, 1.0), (0.1, 1.0), (0.01, 1.0), (0.002, 0.5), (0.001, 0.7), (0.0005, 0.9)
    every = product(((1.0, 1.0), (3.0, 0.2)), steps, (1.0, 0.7, 0.3, 0.21), ((1.0, 0.5), (10.0, 0.01)))
    rows = ((beta, r, ratio, drop, e0, T, delta) for (beta, e0), (r, ratio), drop, (T, delta) in every)
    return columns(DOMAINS, rows)
