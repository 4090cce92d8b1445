"""Three clients in dimension 1 under noise of four values: every path counted, nothing sampled.

Client i has a loss of scale h and peers whose gradients are c_k grad R_i + b_k, so that Assumption 3 and its best
constant are plain: r_k >= (1 - (|c_k - 1| + |b_k|/sqrt(G))^2)_+ wherever |grad R_i|^2 >= G. The noise of client k in
outcome j is sigma_k Z_jk with Z^T diag(p) Z = I and p^T Z = 0: unbiased, of variance exactly sigma_k^2, uncorrelated
across clients, otherwise arbitrary. T steps have 4^T paths, so expectations, stopped or not, are finite sums, for
adaptive weights and for losses that are not convex.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.bounds import Binary, Continuous, collaboration_weights

from ..evidence import Measured, measured_by
from ..family import Domain, Family, Values
from ..measurement_cache import cached
from .rows import plain
from .rows import rows as columns_of

CLIENTS = 3
OUTCOMES = 4
LONGEST = 4
"""Steps at most: 256 paths."""

Arguments = dict[str, np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Loss:
    """A loss of one variable with minimum 0 at 0: values, slopes, smoothness and PL constant (0: no PL)."""

    name: str
    value: Callable[[np.ndarray], np.ndarray]
    slope: Callable[[np.ndarray], np.ndarray]
    beta: float
    mu: float


QUADRATIC = Loss(name="theta^2/2", value=lambda x: x**2 / 2, slope=lambda x: x, beta=1, mu=1)
RIPPLED = Loss(
    name="theta^2 + 3 sin^2 theta",
    value=lambda x: x**2 + 3 * np.sin(x) ** 2,
    slope=lambda x: 2 * x + 3 * np.sin(2 * x),
    beta=8,
    mu=0.17553098587973,
)
"""Not convex, and PL (Karimi, Nutini and Schmidt, 2016, with 1/32): mu is attained at `SLOWEST`."""
SLOWEST = 2.2017091764358485
WAVE = Loss(name="1 - cos theta", value=lambda x: 2 * np.sin(x / 2) ** 2, slope=np.sin, beta=1, mu=0)


def domains(**change: Domain) -> dict[str, Domain]:
    """Parameters of an instance; shifts, variances and the precision are relative to the start."""
    return {
        "scale": Domain(low=0.25, high=4, log=True),
        "factor": Domain(low=0, high=2, shape=(CLIENTS - 1,)),
        "shift": Domain(low=-0.5, high=0.5, shape=(CLIENTS - 1,)),
        "sigma2": Domain(low=0.01, high=10, log=True, shape=(CLIENTS,)),
        "binary": Domain(low=0, high=1, integer=True),
        "threshold": Domain(low=0.05, high=0.95),
        "ratio": Domain(low=0.1, high=1),
        "theta0": Domain(low=0.3, high=3, log=True),
        "slack": Domain(low=0.02, high=1, log=True),
        "T": Domain(low=1, high=LONGEST, integer=True),
        "law": Domain(low=-1, high=1, shape=(OUTCOMES, CLIENTS)),
        "chance": Domain(low=0.02, high=1, log=True, shape=(OUTCOMES,)),
        "low": Domain(low=1, high=3),
        "high": Domain(low=1, high=3),
        "C": Domain(low=1.05, high=3),
        "extra": Domain(low=0, high=2),
        "below": Domain(low=0, high=1),
    } | change


TWO_VALUES = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
"""A law under which each client's noise has two values."""


def uncorrelated(law: np.ndarray, chance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Z (n, 4, 3) and probabilities p (n, 4): Z^T diag(p) Z = I, p^T Z = 0. A law that is so already stays as it is."""
    chance = chance / chance.sum(1, keepdims=True)
    root = np.sqrt(chance)[..., None]
    Q, R = np.linalg.qr(np.concatenate((root, root * law), axis=-1))
    signs = np.where(np.diagonal(R, axis1=1, axis2=2) < 0, -1, 1)[:, None]
    return (Q * signs)[..., 1:] / root, chance


def weights(binary: np.ndarray, threshold: np.ndarray, similarity: np.ndarray, sigma2: np.ndarray) -> np.ndarray:
    """The weights of Definition 1: binary ones where `binary` is 1, else continuous ones."""
    kinds = Binary(threshold=threshold), Continuous()
    one, other = (collaboration_weights(kind, similarity=similarity, sigma2=sigma2) for kind in kinds)
    return np.where(binary == 1, one, other)


def similarities(gap2: np.ndarray, own2: np.ndarray) -> np.ndarray:
    """r_k from |grad R_k - grad R_i|^2 (..., N), client i first, and |grad R_i|^2 (..., 1)."""
    with np.errstate(all="ignore"):
        return np.where(own2 == 0, gap2 == 0, np.maximum(1 - gap2 / own2, 0))


Steps = Callable[[Arguments, Any], np.ndarray]
"""From a theorem's arguments (n,) and t = 1, 2, ... to the size (n,) of step t; for a column of t to (T, n) or (n,)."""


def constant_steps(arguments: Arguments, t: Any) -> np.ndarray:
    """The step eta at every t."""
    return arguments["eta"]


def _at_T(name: str) -> Any:
    """A method that gives a recorded quantity at t = T, (n,)."""
    return lambda paths: np.take_along_axis(paths._log[name], paths.arguments["T"].astype(int)[:, None], 1)[:, 0]


def _summed(name: str, *, mean: bool = False) -> Any:
    """A method that gives the sum, or the mean, of a recorded quantity over t < T, (n,)."""

    def total(paths: Paths) -> np.ndarray:
        return (paths._log[name] * paths._inside()).sum(1) / (paths.arguments["T"] if mean else 1)

    return total


class Paths:
    """A batch of instances (n,); `arguments` are the arguments of the adaptive paper's theorems.

    `weights` replaces Definition 1 by fixed weights (n, 3).
    """

    def __init__(
        self, values: Values, loss: Loss, steps: Steps = constant_steps, weights: np.ndarray | None = None
    ) -> None:
        self.values, self.loss, self.weights = values, loss, weights
        h, theta0 = values["scale"], values["theta0"]
        start = np.abs(h * loss.slope(theta0))
        self.shift = values["shift"] * start[:, None]
        self.sigma2 = values["sigma2"] * start[:, None] ** 2
        e0 = h * loss.value(theta0)
        eps = values["slack"] * e0
        mu, beta = h * loss.mu / values["low"], h * loss.beta * values["high"]
        a = 1 / self.sigma2
        share = a[:, 0] / a.sum(1)
        binary, threshold = values["binary"] == 1, values["threshold"]
        q = np.where(binary, Binary(threshold=threshold).step_ratio(share), Continuous().step_ratio(share))
        G = 2 * mu * eps if loss.mu else values["slack"] * start**2
        worst = (np.abs(values["factor"] - 1) + np.abs(self.shift) / np.sqrt(G)[:, None]) ** 2
        rho = np.concatenate((np.ones((len(h), 1)), np.maximum(1 - worst, 0)), axis=1)
        s2 = np.where(binary, _binary_variance(a, rho, threshold), 1 / (a * rho**2).sum(1))
        spoiled = np.where(threshold < 0.5, 1 / (4 * threshold * (1 - threshold)), 1)
        V_max = self.sigma2[:, 0] * np.where(binary, spoiled, 1)
        self.arguments: Arguments = {
            "eta": values["ratio"] * q / beta, "mu": mu, "beta": beta, "q": q, "e0": e0, "s2": s2, "eps": eps, "G": G,
            "T": np.minimum(values["T"], LONGEST), "V_max": V_max, "C": values["C"], "below": values["below"],
        }  # fmt: skip
        if loss.mu:
            self.arguments["gamma"] = (values["C"] * beta / (mu * q) - 1) * (1 + values["extra"])
        self._walk(steps)

    def _walk(self, steps: Steps) -> None:
        """Record every quantity up to each instance's own T, 0 afterwards: the last steps have most of the paths."""
        loss, T, n = self.loss, self.arguments["T"], len(self.values["scale"])
        Z, chance = uncorrelated(self.values["law"], self.values["chance"])
        jumps = np.sqrt(self.sigma2)[:, None] * Z  # (n, 4, 3)
        theta, probability = self.values["theta0"][:, None], np.ones((n, 1))
        running = running_G = np.ones((n, 1), dtype=bool)
        frozen = np.zeros((n, 1))
        self._log = defaultdict[str, np.ndarray](lambda: np.zeros((n, LONGEST + 1)))
        at = np.arange(n)  # the instances that are left
        for t in range(LONGEST + 1):
            h, eps, G = self.values["scale"][at, None], self.arguments["eps"][at, None], self.arguments["G"][at, None]
            excess, square = h * loss.value(theta), (h * loss.slope(theta)) ** 2
            frozen = np.where(running, excess, frozen)
            above, above_G = running & (excess >= eps), running_G & (square >= G)
            for name, value in (
                ("excess", excess),
                ("while_running", excess * running),
                ("still_running", above),
                ("stopped", frozen),
                ("below", excess < eps),
                ("still_running_G", above_G),
                ("below_G", square < G),
                ("square", square),
                ("square_running", square * above_G),
            ):
                self._log[name][at, t] = (probability * value).sum(1)
            left = T[at] > t
            if not left.any():
                break
            at, theta, probability, square = at[left], theta[left], probability[left], square[left]
            alpha, gradients = self._weights(theta, at)
            self._log["variance"][at, t] = (probability * (alpha**2 * self.sigma2[at, None]).sum(-1)).sum(1)
            with np.errstate(all="ignore"):
                apart = ((gradients - gradients[..., :1]) ** 2 / square[..., None] * alpha).sum(-1)
            self._log["contraction"][at, t] = (alpha.sum(-1) - np.where(square > 0, apart, 0)).min(1)
            move = (alpha * gradients).sum(-1)[..., None] + np.einsum("npk,njk->npj", alpha, jumps[at])
            eta = steps(self.arguments, t + 1)[at, None, None]
            theta = (theta[..., None] - eta * move).reshape(len(at), -1)
            probability = (probability[..., None] * chance[at, None]).reshape(len(at), -1)
            running, running_G, frozen = (np.repeat(x[left], OUTCOMES, axis=1) for x in (above, above_G, frozen))

    def _weights(self, theta: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights of client i and gradients of all clients at theta (m, p) of the instances `at`, both (m, p, 3)."""
        own = (self.values["scale"][at, None] * self.loss.slope(theta))[..., None]
        peers = self.values["factor"][at, None] * own + self.shift[at, None]
        gradients = np.concatenate((own, peers), axis=-1)
        if self.weights is not None:
            return np.broadcast_to(self.weights[at, None], gradients.shape), gradients
        similarity = similarities((gradients - own) ** 2, own**2)
        binary, threshold = (self.values[name][at, None, None] for name in ("binary", "threshold"))
        return weights(binary, threshold, similarity, self.sigma2[at, None]), gradients

    def _inside(self) -> np.ndarray:
        """Whether t < T for t = 0, ..., LONGEST, (n, LONGEST + 1)."""
        return np.arange(LONGEST + 1) < self.arguments["T"][:, None]

    def largest(self, name: str) -> np.ndarray:
        """The largest value of a quantity before T: of the probability of a start below, of E[V_t]."""
        return np.where(self._inside(), self._log[name], -np.inf).max(1)

    def contraction(self) -> np.ndarray:
        """The least sum_k w_k (1 - |grad R_k - grad R_i|^2/|grad R_i|^2) before T on any path."""
        return np.where(self._inside(), self._log["contraction"], np.inf).min(1)

    excess = _at_T("excess")
    """E[e_T]."""
    while_running = _at_T("while_running")
    """E[e_T 1{tau >= T}]."""
    still_running = _at_T("still_running")
    """P(tau > T)."""
    still_running_G = _at_T("still_running_G")
    """P(tau_G > T)."""
    stopped = _at_T("stopped")
    """E[e_min(T, tau)]."""
    time = _summed("still_running")
    """E[min(tau, T)]."""
    time_G = _summed("still_running_G")
    """E[min(tau_G, T)]."""
    mean_square = _summed("square", mean=True)
    """(1/T) sum_{t <= T} E|grad R_i(theta_{t-1})|^2."""
    mean_square_running = _summed("square_running", mean=True)
    """(1/T) sum_{t <= T} E[|grad R_i(theta_{t-1})|^2 1{tau_G >= t}]."""

    def last(self, exceeds: Callable[[Mapping[str, np.ndarray]], np.ndarray]) -> np.ndarray:
        """The last t <= T at which a quantity exceeds its limit; `exceeds` maps the record to (n, LONGEST + 1)."""
        t = np.arange(LONGEST + 1)
        return np.where(exceeds(self._log) & (t <= self.arguments["T"][:, None]), t, 0).max(1).astype(float)


def _binary_variance(a: np.ndarray, rho: np.ndarray, threshold: np.ndarray) -> np.ndarray:
    """The largest variance of binary weights at similarities of at least rho, (n,)."""
    member = rho >= threshold[:, None]
    S, P = (a * member).sum(1), (a * member * rho).sum(1)
    with np.errstate(all="ignore"):
        joined = 1 / (4 * threshold * (P - threshold * S))
    return np.where(2 * threshold * S >= P, S / P**2, joined)


def alone(rows: Sequence[Mapping[str, Any]]) -> Values:
    """Client i at eta = 1/beta, peers out of reach and of no weight, noise +-sigma; `sigma2` is client i's own."""
    one = plain(domains(), factor=3, ratio=1, threshold=0.5, slack=1e-3, C=1.05, law=TWO_VALUES) | {"sigma2": 1.0}
    values = columns_of(one, *rows)
    values["sigma2"] = np.stack((values["sigma2"], *np.full((2, len(rows)), 1e14)), -1)
    return values


def _alone() -> Values:
    return alone([
        {"scale": scale, "T": T, "sigma2": sigma2}
        for scale in (1.0, 3.0)
        for T in range(1, LONGEST + 1)
        for sigma2 in (1.0, 0.01)
    ])  # fmt: skip


def _slow() -> Values:
    """RIPPLED at `SLOWEST`, no noise, one peer of similarity r = 1/20 with all the weight: mu alone counts."""
    values = alone([
        {"scale": scale, "T": T, "slack": slack, "factor": [1 - np.sqrt(0.95), 3.0], "binary": 1.0, "theta0": SLOWEST,
         "threshold": 0.05 * (1 - 1e-9), "C": C}
        for scale in (1.0, 3.0) for T in (1, LONGEST) for slack in (1e-3, 0.995) for C in (1.001, 2.0)
    ])  # fmt: skip
    return values | {"sigma2": np.tile([1e-8, 1e-20, 1e6], (len(values["T"]), 1))}


_walked = cached(Paths)


def family(
    measure: Callable[[Paths], np.ndarray],
    *,
    loss: Loss = QUADRATIC,
    steps: Steps = constant_steps,
    arguments: Callable[[Paths], Arguments] = lambda paths: paths.arguments,
    hypothesis: Callable[[Paths], np.ndarray] | None = None,
    **change: Domain,
) -> Family:
    """Random and searched paths of three clients; `measure` reads the theorem's quantity off the batch."""

    @measured_by("all paths", f"three clients in dimension 1, R_i = {loss.name} up to a factor, adaptive weights")
    def evidence(values: Values) -> Measured:
        paths = _walked(values, loss, steps)
        return measure(paths), arguments(paths), {"hypothesis": True if hypothesis is None else hypothesis(paths)}

    sharp = {QUADRATIC.name: _alone, RIPPLED.name: _slow}.get(loss.name) if set(change) <= set(domains()) else None
    return Family(name=f"paths of {loss.name}", domains=domains(**change), measure=evidence, sharp=sharp)
