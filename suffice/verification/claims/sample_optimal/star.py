"""Claims on the rate of All-for-all as printed: a star of agents, at the best of all step sizes.

Agent 0 averages over all N, every other agent over itself and agent 0, equally. All losses have curvature h. By
symmetry W = Lambda Lambda^T acts on (agent 0, mean of the leaves) as [[1/N, 1 - 1/N], [1/N, N/4]], and as 1/4 on
what is left of the leaves. F is a sum of terms (1 - eta s)^(2T), so convex in eta: its minimum is found by bisection.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...claim import Claim
from ...evidence import Measured, measured_by
from ...family import Domain, Family, Values
from ...instances.rows import rows

KEY = "sample-optimal/"


@dataclass(frozen=True, kw_only=True)
class Star:
    """N, curvature h, hub and leaf: distances of agent 0 and of the leaves' mean to the means of their minimisers;
    scatter: the leaves' minimisers' summed squared distance to their mean. All (n,)."""

    N: np.ndarray
    h: np.ndarray
    hub: np.ndarray
    leaf: np.ndarray
    scatter: np.ndarray

    def modes(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues of W and squared amplitudes at the start, (n, 3) each."""
        N = self.N
        # symmetric in the coordinates (hub, sqrt(N - 1) leaf)
        a, b, d = 1 / N, np.sqrt(N - 1) / N, N / 4
        root = np.sqrt((a - d) ** 2 / 4 + b**2)
        top = (a + d) / 2 + root
        low = (a * d - b**2) / top
        angle = np.arctan2(top - a, b)
        y = np.sqrt(N - 1) * self.leaf
        amplitude = np.stack((np.cos(angle) * self.hub + np.sin(angle) * y,
                              np.cos(angle) * y - np.sin(angle) * self.hub), -1)  # fmt: skip
        eigenvalues = np.stack((top, low, np.full_like(N, 0.25)), -1)
        return eigenvalues, np.concatenate((amplitude**2, self.scatter[:, None]), -1)

    def least(self, T: np.ndarray) -> np.ndarray:
        """min over eta of F^T, (n,)."""
        s, square = self.modes()
        s, power = s * self.h[:, None], 2 * T[:, None] - 1
        low, high = 1 / s.max(-1), 1 / s.min(-1)
        for _ in range(50):
            eta = (low + high) / 2
            left = 1 - eta[:, None] * s
            with np.errstate(over="ignore"):
                rising = (square * s * np.sign(left) * np.abs(left) ** power).sum(-1) < 0
            low, high = np.where(rising, low, eta), np.where(rising, eta, high)
        left = 1 - ((low + high) / 2)[:, None] * s
        return self.h / (2 * self.N) * (square * left ** (2 * T[:, None])).sum(-1)

    def start(self) -> np.ndarray:
        """F^0, (n,)."""
        return self.h / (2 * self.N) * self.modes()[1].sum(-1)

    def rounds(self, eps: np.ndarray) -> np.ndarray:
        """The least T with min over eta of F^T <= eps, by doubling and bisection, (n,)."""
        low, high = np.zeros_like(eps), np.ones_like(eps)
        while (missed := self.least(high) > eps).any():
            low, high = np.where(missed, high, low), np.where(missed, 2 * high, high)
        while (high - low > 1).any():
            middle = np.floor((low + high) / 2)
            missed = self.least(np.maximum(middle, 1)) > eps
            low, high = np.where(missed, middle, low), np.where(missed, high, middle)
        return high


SHARED: dict[str, Domain] = {
    "N": Domain(low=3, high=200, integer=True),
    "beta": Domain(low=0.01, high=100, log=True),
    "start": Domain(low=0.1, high=1e4, log=True),
}


def one_loss(values: Values) -> Star:
    """Everybody has the same loss beta x^2/2."""
    start = values["start"]
    return Star(N=values["N"], h=values["beta"], hub=start, leaf=start, scatter=np.zeros_like(start))


@measured_by("closed form, best step size", "All-for-all on a star of N agents with one loss, no noise")
def _rate(values: Values) -> Measured:
    star = one_loss(values)
    return star.least(values["T"]), {
        "mu": star.h,
        "beta": star.h,
        "e0": star.start(),
        "bias2": np.zeros_like(star.h),
        "T": values["T"],
    }


def threshold_star(values: Values, eps: float = 1.0) -> Star:
    """Minimisers 0 and 0.99 sqrt(eps/mu) along one axis for each leaf: b_0j^2 < mu eps < b_jk^2. The start is `start`
    times the unit diagonal."""
    N, start = values["N"], values["start"]
    reach = 0.99 * np.sqrt(eps / values["beta"])
    return Star(N=N, h=values["beta"], hub=start, leaf=start - reach / np.sqrt(N - 1), scatter=reach**2 * (N - 2))


@measured_by("closed form, best step size", "All-for-all on a threshold star of N agents, no noise")
def _rounds(values: Values) -> Measured:
    star, eps = threshold_star(values), np.ones_like(values["beta"])
    lambda2 = (1 / values["N"] + (values["N"] - 1) / 2) / values["N"]
    return star.rounds(eps), {
        "mu": star.h,
        "beta": star.h,
        "eps": eps,
        "e0": star.start(),
        "sigma2": 0 * eps,
        "lambda2": lambda2,
    }


def _sharp() -> Values:
    return rows(
        {"N": 100.0, "beta": 1.0, "start": 1.0, "T": 30.0},
        *({"T": T} for T in (10.0, 20.0, 30.0)),
        *({"N": 10.0, "T": T} for T in (10.0, 20.0, 30.0)),
        {"start": 1e3, "T": 28.0},
    )


def claims() -> tuple[Claim, ...]:
    domains = {**SHARED, "T": Domain(low=1, high=60, integer=True)}
    return (
        Claim.on(
            KEY + "theorem-3", Family(name="star", domains=domains, measure=_rate, sharp=_sharp), edition="printed"
        ),
        Claim.on(
            KEY + "corollary-1",
            Family(name="threshold star", domains=SHARED, measure=_rounds, sharp=_threshold_sharp),
            edition="printed",
        ),
    )


def _threshold_sharp() -> Values:
    return rows({"N": 100.0, "beta": 1.0, "start": 2e6**0.5}, *({"N": N} for N in (10.0, 30.0, 100.0)))
