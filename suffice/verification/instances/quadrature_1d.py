"""One client in dimension 1, integrated exactly over its own noise: the law of the first two steps.

R_k = h_k (theta + xi_k)^2 with additive Gaussian noise. Given theta_{t-1} the step is Gaussian, so
E[e_1] is a closed form and E[e_2] one integral of a piecewise smooth function. This is a route of its own:
plain NumPy (or mpmath), no torch, no runner, no probing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from suffice.bounds import Binary, Criterion, collaboration_weights, tight_variance

from ..evidence import Evidence

_RULE = np.polynomial.legendre.leggauss(24)


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
        with np.errstate(all="ignore"):
            similarity = np.maximum(1 - (gradients - own) ** 2 / own**2, 0)
        similarity = np.where(own == 0, (gradients == 0).astype(float), similarity)
        similarity[:, 0] = 1
        alpha = collaboration_weights(self.criterion, similarity=similarity, sigma2=self.sigma2)
        mean = theta - self.eta * (alpha * gradients).sum(-1)
        return mean, self.eta**2 * (alpha**2 * self.sigma2).sum(-1)

    def expected_step(self, theta: np.ndarray) -> np.ndarray:
        """E[e_t | theta_{t-1} = theta]."""
        mean, variance = self.step(theta)
        return self.excess(mean) + self.h[0] * variance

    def two_steps(self, eps: float) -> dict[str, float]:
        """E[e_1], E[e_2], E[e_2 1{tau >= 2}], P(e_1 < eps), E[e_1 1{e_1 < eps}] by Gauss-Legendre between all kinks."""
        mean, variance = (value[0] for value in self.step(np.array([self.theta0])))
        nodes, weights = self._quadrature(mean, np.sqrt(variance), eps)
        density = weights * np.exp(-((nodes - mean) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)
        first, later = self.excess(nodes), self.expected_step(nodes)
        running, started = first >= eps, self.excess(np.array([self.theta0]))[0] >= eps
        return {
            "mass": float(density.sum()),
            "e1": float(self.excess(np.array([mean]))[0] + self.h[0] * variance),
            "e2": float((density * later).sum()),
            "e2_running": float((density * later * running).sum()) * started,
            "stop_probability": float((density * ~running).sum()),
            "e1_stopped": float((density * first * ~running).sum()),
        }

    def _quadrature(self, mean: float, deviation: float, eps: float) -> tuple[np.ndarray, np.ndarray]:
        """Nodes and weights on mean +- 12 deviations, panels cut wherever the integrand has a kink or a jump."""
        low, high = mean - 12 * deviation, mean + 12 * deviation
        threshold = getattr(self.criterion, "threshold", 0.0)
        cuts = [-self.xi[0] + sign * np.sqrt(eps / self.h[0]) for sign in (-1, 1)]
        # r_k = level where g_k - g_0 = +-sqrt(1 - level) g_0: linear in theta
        for level in (0.0, threshold):
            for sign in (-1, 1):
                slope = self.h - self.h[0] - sign * np.sqrt(1 - level) * self.h[0]
                offset = self.h * self.xi - self.h[0] * self.xi[0] * (1 + sign * np.sqrt(1 - level))
                with np.errstate(all="ignore"):
                    cuts.extend((-offset / slope)[slope != 0])
        edges = np.unique(np.concatenate((np.linspace(low, high, 49), np.clip(cuts, low, high))))
        x, w = _RULE
        half = np.diff(edges) / 2
        nodes = (edges[:-1] + half)[:, None] + half[:, None] * x
        return nodes.ravel(), (half[:, None] * w).ravel()


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
    laws = [instance.two_steps(base["eps"]) for instance in instances]
    given = {name: np.full(len(laws), value) for name, value in base.items()}
    given["e0"] = np.array([float(each.excess(np.array(each.theta0))) for each in instances])
    given["eta"] = np.array([each.eta for each in instances])
    return Evidence(
        engine="quadrature",
        measured=np.array([law["e2"] for law in laws]),
        arguments=given,
        hypothesis=np.array([law["e1"] for law in laws]) >= base["eps"],
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
