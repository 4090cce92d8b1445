"""One client in dimension 1, integrated exactly over its own noise: the law of its steps.

R_k = h_k (theta + xi_k)^2 with additive Gaussian noise. Given theta_{t-1} the step is Gaussian, so
E[e_1] is a closed form and E[e_2] one integral of a piecewise smooth function. This is a route of its own:
plain NumPy, no torch, no runner, no probing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, product

import numpy as np

from suffice.bounds import Binary, Criterion, collaboration_weights, tight_variance

from ..evidence import Evidence
from .enumerated_paths import similarities

NODES = 12
"""Gauss-Legendre nodes in each panel."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """Client 0 among N: h (N,), xi (N,), sigma2 (N,), its criterion, step size and start theta0."""

    h: np.ndarray
    xi: np.ndarray
    sigma2: np.ndarray
    criterion: Criterion
    eta: float
    theta0: float

    def excess(self, theta: np.ndarray) -> np.ndarray:
        """e(theta) for client 0."""
        return self.h[0] * (theta + self.xi[0]) ** 2

    def step(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of theta_t given theta_{t-1} = theta."""
        gradients = 2 * self.h * (theta[:, None] + self.xi)
        own = gradients[:, :1]
        similarity = similarities((gradients - own) ** 2, own**2)
        alpha = collaboration_weights(self.criterion, similarity=similarity, sigma2=self.sigma2)
        mean = theta - self.eta * (alpha * gradients).sum(-1)
        return mean, self.eta**2 * (alpha**2 * self.sigma2).sum(-1)

    def expected_step(self, theta: np.ndarray) -> np.ndarray:
        """E[e_t | theta_{t-1} = theta]."""
        mean, variance = self.step(theta)
        return self.excess(mean) + self.h[0] * variance

    def law(self, eps: float, panels: int = 140) -> Iterator[np.ndarray]:
        """Yield E[e_t] and E[e_t 1{tau >= t}] for t = 0, 1, ..., with tau = min{t: e_t < eps}.

        Given theta the next model is Gaussian, so that E[e_(t+1)] is the integral of a closed form against the law of
        theta_t, and so is the next density at every node. The running one drops what has e_t < eps before it moves.
        """
        start = np.array([self.theta0])
        runs = np.array([1.0, float(self.excess(start)[0] >= eps)])
        yield self.excess(start).repeat(2)
        yield self.expected_step(start) * runs
        nodes, weights = self._quadrature(eps, panels)
        onwards, still = self.expected_step(nodes), self.excess(nodes) >= eps
        laws = runs[:, None] * self._densities(start, nodes) * weights
        kernel = None
        while True:
            laws[1] *= still
            yield laws @ onwards
            kernel = self._densities(nodes, nodes) * weights if kernel is None else kernel
            laws = laws @ kernel

    def _densities(self, theta: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        """The densities of theta_t at nodes, given theta_{t-1} = theta, (thetas, nodes)."""
        mean, variance = (value[:, None] for value in self.step(theta))
        return np.exp(-((nodes - mean) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)

    def _quadrature(self, eps: float, panels: int) -> tuple[np.ndarray, np.ndarray]:
        """Gauss-Legendre nodes and weights on 12 deviations around the first step and ten around client 0's minimiser,
        in panels that are cut wherever the integrand has a kink or a jump."""
        h, xi = self.h[0], self.xi[0]
        mean, variance = (value[0] for value in self.step(np.array([self.theta0])))
        # of a client that is alone theta_t has the variance eta^2 sigma^2/(1 - (1 - 2 h eta)^2) in the end
        alone = self.eta * np.sqrt(self.sigma2[0] / (1 - (1 - 2 * h * self.eta) ** 2))
        reach = np.array([(mean, 12 * np.sqrt(variance)), (-xi, 10 * alone)])
        low, high = (reach[:, 0] - reach[:, 1]).min(), reach.sum(1).max()
        cuts = [-xi + sign * np.sqrt(eps / h) for sign in (-1, 1)]
        # r_k = level where g_k - g_0 = +-sqrt(1 - level) g_0: linear in theta
        for level, sign in product((0.0, getattr(self.criterion, "threshold", 0.0)), (-1, 1)):
            bent = (1 + sign * np.sqrt(1 - level)) * h
            with np.errstate(all="ignore"):
                cuts.extend(((bent * xi - self.h * self.xi) / (self.h - bent))[self.h != bent])
        edges = np.unique(np.concatenate((np.linspace(low, high, panels + 1), np.clip(cuts, low, high))))
        x, w = np.polynomial.legendre.leggauss(NODES)
        half = np.diff(edges)[:, None] / 2
        return (edges[:-1, None] + half + half * x).ravel(), (half * w).ravel()


def counterexample() -> tuple[Line, dict[str, float]]:
    """The instance on which the printed Theorem 2 fails by a factor 36, with the theorem's arguments.

    99 peers share a minimiser 0.02 away from client 0's. At the start all similarities are 0.99 and everybody
    collaborates; after one step most paths are below eps, where nobody does.
    """
    eps, theta0, one = 0.004, 0.2, np.ones(100)
    xi = np.where(np.arange(100) == 0, 0.0, -0.02)
    criterion = Binary(threshold=0.9)
    line = Line(h=one / 2, xi=xi, sigma2=one, criterion=criterion, eta=0.9, theta0=theta0)
    rho = np.maximum(1 - xi**2 / (2 * eps), 0)
    s2, tight = 1 / criterion.psi(rho).sum(), tight_variance(criterion, similarity=rho, sigma2=one)
    return line, {
        "eta": line.eta, "mu": 1.0, "beta": 1.0, "q": float(criterion.step_ratio(1 / 100)), "e0": 0.5 * theta0**2,
        "s2": float(s2), "T": 2, "eps": eps, "tight": float(tight),
    }  # fmt: skip


def _on_counterexample(cases: Iterable[tuple[float, float]], label: str = "") -> Evidence:
    """E[e_2] where E[e_1] >= eps, the printed hypothesis, from each theta_0 with each eta."""
    line, base = counterexample()
    instances = [replace(line, theta0=theta0, eta=eta) for theta0, eta in cases]
    e0, e1, e2 = np.array([[e for e, _ in islice(each.law(base["eps"]), 3)] for each in instances]).T
    given = {name: np.full(len(e0), value) for name, value in base.items()} | {"e0": e0}
    given["eta"] = np.array([each.eta for each in instances])
    return Evidence(
        engine="quadrature",
        measured=e2,
        arguments=given,
        hypothesis=e1 >= base["eps"],
        label=f"N = 100, R_i = theta^2/2, 99 peers (theta - 0.02)^2/2, sigma = 1, binary 0.9{label}",
    )


def two_steps() -> Evidence:
    """Theorem 2, row 1, as printed: the counterexample and its neighbours."""
    return _on_counterexample(product((0.2, 0.19, 0.25, 0.5), (0.9, 0.5)))


def two_steps_horizon() -> Evidence:
    """Row 2: the counterexample, started where ln(e_0/K)/(mu T) is within q/beta."""
    line, base = counterexample()
    mu, T, starts = base["mu"], 2, (0.188, 0.18, 0.16)
    ratios = 2 * T * mu**2 * line.excess(np.array(starts)) / (base["beta"] * base["s2"])
    return _on_counterexample(zip(starts, (np.log(ratios) / (mu * T)).tolist()), ", the step for T = 2")
