"""A client that stands still or stops: the instances where hitting times are attained, noise included.

R_i = (beta/2) theta^2 from theta_0 = s, one peer R_k = (1 - sqrt(1 - r)) R_i that carries all the weight (the bound
sigma_i^2 of client i's own variance is as large as one likes, and not met). The noise takes theta to s, 0 or -s:
    E[theta'] = M s, M = 1 - eta beta m,   E[theta'^2] = S s^2,   P(s) = (S + M)/2, P(-s) = (S - M)/2, P(0) = 1 - S.
With the precision at e_0 every step stops with probability 1 - S, so tau is geometric. The drift of the theorems is
1 - S where (1 - eta beta m)^2 = 1 - eta beta: at eta = r/beta, and nearly so for small r.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

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


@dataclass(frozen=True, kw_only=True)
class Renewal:
    """A batch of instances (n,); `ratio` is eta over its limit r/beta, `drop` the chance to stop over its largest.

    `best` takes the variance for which eta = min(q/beta, mu eps/(beta s2)): any small one at the limit, e_0/eta below.
    """

    beta: np.ndarray
    r: np.ndarray
    ratio: np.ndarray
    drop: np.ndarray
    e0: np.ndarray
    T: np.ndarray
    delta: np.ndarray
    best: bool = False

    @classmethod
    def of(cls, values: Values, *, best: bool = False) -> Self:
        return cls(**{name: values[name] for name in DOMAINS}, best=best)

    @property
    def eta(self) -> np.ndarray:
        return self.ratio * self.r / self.beta

    @property
    def _mean(self) -> np.ndarray:
        """M: the weight is 1/r and the peer's gradient (1 - sqrt(1 - r)) of the client's."""
        return 1 - self.eta * self.beta * (1 - np.sqrt(1 - self.r)) / self.r

    @property
    def V(self) -> np.ndarray:
        """Variance of the aggregated gradient: eta^2 V = (S - M^2) s^2 with beta s^2 = 2 e_0."""
        wanted = 1 - self.drop * (1 - self._mean) - self._mean**2
        free = wanted * 2 * self.e0 / (self.beta * self.eta**2)
        if not self.best:
            return free
        return np.where(self.ratio == 1, np.minimum(free, self.e0 / self.eta), self.e0 / self.eta)

    @property
    def stay(self) -> np.ndarray:
        """S."""
        return self._mean**2 + self.eta**2 * self.V * self.beta / (2 * self.e0)

    def possible(self) -> np.ndarray:
        """Mark the instances whose probabilities and variance are nonnegative, and on which the client stops."""
        return (self.V >= 0) & (self.stay >= self._mean) & (self.stay < 1)

    def arguments(self) -> dict[str, np.ndarray]:
        """The arguments of the theorems."""
        return {
            "eta": self.eta, "mu": self.beta, "beta": self.beta, "q": self.r, "e0": self.e0, "eps": self.e0,
            "s2": np.maximum(self.V, 0), "T": self.T, "delta": self.delta, "G": 2 * self.beta * self.e0,
        }  # fmt: skip

    def time(self) -> np.ndarray:
        """E[tau], the mean of a geometric law."""
        with np.errstate(all="ignore"):
            return np.where(self.possible(), 1 / (1 - self.stay), 1.0)

    def still_running(self) -> np.ndarray:
        """P(tau > T)."""
        return np.where(self.possible(), np.abs(self.stay), 0) ** self.T

    def last_running(self) -> np.ndarray:
        """The last t with P(tau > t) > delta."""
        stay = np.where(self.possible(), np.abs(self.stay), 0.5)
        with np.errstate(all="ignore"):
            return np.where(stay == 0, 0.0, np.ceil(np.log(self.delta) / np.log(stay)) - 1)


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


_TOGETHER = 512
"""Steps that are looked at together."""


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
    least = values["delta"] if longest else np.full_like(beta, -1.0)
    alive, last, t, going = np.ones_like(beta), np.zeros_like(beta), 0, np.arange(len(beta))
    while len(going):
        steps = np.arange(t + 1, t + 1 + _TOGETHER)[:, None]
        x = (C * beta / mu)[going] / (steps + gamma[going])
        M, v = 1 - x * pull[going], x**2 * noise[going]
        stay = np.where(v >= M * (1 - M), np.minimum(M**2 + v, 1), v / (v + (1 - M) ** 2))
        course = alive[going] * np.cumprod(np.where(steps <= until[going], stay, 1), axis=0)
        above = (course > least[going]) & (steps <= until[going])
        alive[going], last[going], t = course[-1], last[going] + above.sum(0), t + _TOGETHER
        going = going[above[-1]]
    told = values | {"gamma": gamma, "mu": mu, "q": r, "s2": s2, "eps": e0}
    return last if longest else alive, told


def sharp_fading() -> Values:
    """Steps of small eta mu and as much noise as the start allows, from certainty to rare paths."""
    rows = [
        (beta, low, 0.003, 1.0, e0, C, 0.0, T, delta)
        for beta, e0 in ((1.0, 1.0), (3.0, 0.2))
        for low in (1.0, 1.1)
        for C in (1.01, 1.5, 2.0, 3.0)
        for T, delta in ((1.0, 0.99), (50.0, 0.9), (200.0, 0.6), (400.0, 0.1))
    ]
    return columns(FADING, rows)


def sharp() -> Values:
    """At the limit of the step and below it, with little noise and with as much as the theorems allow."""
    rows = [
        (beta, r, ratio, drop, e0, T, delta)
        for beta, e0 in ((1.0, 1.0), (3.0, 0.2))
        for r, ratio in ((1.0, 1.0), (0.5, 1.0), (0.1, 1.0), (0.01, 1.0), (0.002, 0.5), (0.001, 0.7), (0.0005, 0.9))
        for drop in (1.0, 0.7, 0.3, 0.21)
        for T, delta in ((1.0, 0.5), (10.0, 0.01))
    ]
    return columns(DOMAINS, rows)
