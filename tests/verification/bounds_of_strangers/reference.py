"""The truth by routes of their own: second moments of diagonal quadratics, with NumPy alone; paths of other rules.

Coordinates of diagonal quadratics do not meet. In one of them the clients have curvatures h (N,) and minimisers m (N,),
and an iteration of a linear algorithm takes its state z to A z + b + G n, n (N,) independent noises of sigma2/d each.
An algorithm is written here as `maps(h, m, eta, t)`: a list of (probability, A, b, G), from the paper's own formula.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import plain_algorithms
from plain_algorithms import At

from suffice.simulate import Quadratics
from suffice.simulate.problems import Kink, LogisticPiece

from ..check_property.truth import of_path

PATHS = 20_000
Maps = Callable[..., list[tuple[float, np.ndarray, np.ndarray, np.ndarray]]]


def expected_excess(case: Any, instance: dict[str, Any]) -> float:
    """E[e_T] of client 0: one number from `case.maps`, `case.state` and the instance's numbers."""
    h, m, start = (np.array(instance[name], dtype=float) for name in ("h", "m", "start"))
    (N, d), known = h.shape, {}
    m, start = m - m[0], start - m[0]  # nothing cancels near the optimum of client 0
    blocks = [np.full((d, N), start[:, None]) if block == "x" else np.zeros((d, N)) for block in case.state]
    z = np.concatenate((*blocks, np.ones((d, 1))), axis=1)
    S = z[:, :, None] * z[:, None, :]
    for t in range(1, instance["T"] + 1):
        key = case.phase(t)
        if key not in known:
            coins = zip(*(case.maps(h[:, a], m[:, a], instance["eta"], t) for a in range(d)))
            known[key] = [_stacked(outcome, instance["sigma2"] / d) for outcome in coins]
        S = np.sum([p * (A @ S @ A.transpose(0, 2, 1) + Q) for p, A, Q in known[key]], axis=0)
    return float((h[0] / 2 * S[:, 0, 0]).sum())


def _stacked(outcome: Any, variance: float) -> tuple[float, np.ndarray, np.ndarray]:
    """Homogeneous maps of all coordinates, state and 1 beside it."""
    d, k = len(outcome), len(outcome[0][1])
    A, Q = np.zeros((2, d, k + 1, k + 1))
    for a, (_, linear, shift, noise) in enumerate(outcome):
        A[a, :k, :k], A[a, :k, k], A[a, k, k] = linear, shift, 1
        Q[a, :k, :k] = variance * noise @ noise.T
    return outcome[0][0], A, Q


def sgd(h, m, eta, t):
    """x_i - eta (h_i (x_i - m_i) + n_i)"""
    return [(1.0, np.diag(1 - eta * h), eta * h * m, -eta * np.eye(len(h)))]


def with_steps(size):
    """SGD whose step in iteration t is eta times size(t)."""
    return lambda h, m, eta, t: sgd(h, m, eta * size(t), t)


def averaged(h, m, eta, t):
    """State (mean of x_0..x_{t-1}, x_t)."""
    ((_, A, b, G),) = sgd(h, m, eta, t)
    none, one = np.zeros_like(A), np.eye(len(h))
    return [(1.0, np.block([[(1 - 1 / t) * one, one / t], [none, A]]), np.append(0 * b, b), np.vstack([none, G]))]


def batches(B):
    def maps(h, m, eta, t):
        ((_, A, b, G),) = sgd(h, m, eta, t)
        return [(1.0, A, b, G / np.sqrt(B))]

    return maps


def local_sgd(H):
    def maps(h, m, eta, t):
        ((_, A, b, G),) = sgd(h, m, eta, t)
        P = np.full_like(A, 1 / len(h)) if t % H == 0 else np.eye(len(h))
        return [(1.0, P @ A, P @ b, P @ G)]

    return maps


def sampled(K):
    """FedAvg with K of N clients in every round of one step: everybody receives the mean of those."""

    def maps(h, m, eta, t):
        ((_, A, b, G),) = sgd(h, m, eta, t)
        sets = list(combinations(range(len(h)), K))
        rows = [np.tile(np.isin(np.arange(len(h)), chosen) / K, (len(h), 1)) for chosen in sets]
        return [(1 / len(sets), P @ A, P @ b, P @ G) for P in rows]

    return maps


def weighted(alpha):
    """x_i - eta sum_k alpha_ik (h_k (x_i - m_k) + n_k)"""
    W = np.array(alpha, dtype=float)
    return lambda h, m, eta, t: [(1.0, np.diag(1 - eta * W @ h), eta * W @ (h * m), -eta * W)]


def pair(rho):
    """x_i - eta (h_i (x_i - m_i) + n_i + rho (x_i - x_k)), two clients"""

    def maps(h, m, eta, t):
        ((_, A, b, G),) = sgd(h, m, eta, t)
        return [(1.0, A - eta * rho * np.array([[1.0, -1.0], [-1.0, 1.0]]), b, G)]

    return maps


def heavy_ball(q):
    """State (x, x before)."""

    def maps(h, m, eta, t):
        ((_, A, b, G),) = sgd(h, m, eta, t)
        one, none = np.eye(len(h)), np.zeros_like(A)
        return [(1.0, np.block([[A + q * one, -q * one], [one, none]]), np.append(b, 0 * b), np.vstack([G, none]))]

    return maps


def nesterov(q):
    """The gradient at y = x + q (x - x before)."""

    def maps(h, m, eta, t):
        ((_, A, b, G),) = sgd(h, m, eta, t)
        one, none = np.eye(len(h)), np.zeros_like(A)
        return [(1.0, np.block([[(1 + q) * A, -q * A], [one, none]]), np.append(b, 0 * b), np.vstack([G, none]))]

    return maps


def scaffnew(p):
    """State (x, control c): x' = x - eta (g - c); with probability p, x = mean x' and c += (p / eta) (mean x' - x')."""

    def maps(h, m, eta, t):
        ((_, A, b, G),) = sgd(h, m, eta, t)
        one, P = np.eye(len(h)), np.full_like(A, 1 / len(h))
        alone = np.hstack([A, eta * one]), b, G  # x' from (x, c)
        off = (p / eta) * (P - one)
        keep = np.hstack([0 * A, one])
        sides = [(1 - p, one, 0 * off), (p, P, off)]
        return [
            (odds, np.vstack([C @ alone[0], D @ alone[0] + keep]), np.append(C @ b, D @ b), np.vstack([C @ G, D @ G]))
            for odds, C, D in sides
            if odds > 0
        ]

    return maps


# --- paths: the transcriptions of `plain_algorithms`, and more of them


@dataclass(frozen=True, kw_only=True, eq=False)
class Curves(At):
    """Losses of one variable that are no quadratics, from their numbers alone."""

    scale: np.ndarray
    profile: Any

    def slope(self, x):
        u, p = x - self.m, self.profile
        if isinstance(p, Kink):
            return self.scale * (p.outer * u + (p.inner - p.outer) * np.clip(u, -p.width, p.width))
        if isinstance(p, LogisticPiece):
            return self.scale * (2 * np.tanh(u / 2) + p.ridge * u)
        return self.scale * (2 * u + p.amplitude * np.sin(2 * u))

    def slopes(self, x):
        return self.slope(x if x.ndim == 4 else x[:, :, None])

    def losses(self, x):
        return (self.scale[:, None] * self.value(x[:, None] - self.m[:, None])).sum(-1)

    def excess(self, x):
        return (self.scale * self.value(x - self.m)).sum(-1)

    def value(self, u: np.ndarray) -> np.ndarray:
        p = self.profile
        if isinstance(p, Kink):
            near = np.minimum(np.abs(u), p.width)
            value = p.inner * near**2 / 2 + p.inner * p.width * (np.abs(u) - near)
            return value + p.outer * (np.abs(u) - near) ** 2 / 2
        if isinstance(p, LogisticPiece):
            return 4 * (np.logaddexp(u / 2, -u / 2) - np.log(2)) + p.ridge * u**2 / 2
        return u**2 + p.amplitude * np.sin(u) ** 2


def world(problem: Any) -> tuple[At, np.ndarray]:
    """A problem from its numbers alone, and the deviation of each number of a stochastic gradient, (N, 1)."""
    start, none = problem.start.numpy(), np.zeros(())
    if isinstance(problem, Quadratics):
        deviation = np.sqrt(problem.sigma2.numpy() / problem.features)[:, None]
        return At(H=2 * problem.A.numpy(), m=-problem.xi.numpy(), start=start), deviation
    made = Curves(H=none, m=problem.optimum.numpy(), start=start, scale=problem.scale.numpy(), profile=problem.profile)
    return made, np.sqrt(problem.noise.covariance.numpy()[:, 0])


def _along(direction: Callable[[np.ndarray, Any], np.ndarray]) -> Callable[..., Any]:
    return plain_algorithms.of_models(lambda at, x: (x - at.eta * direction(at.own(x), at.coin),))


def _one_of_two(g: np.ndarray, kept: np.ndarray) -> np.ndarray:
    return 2 * g * np.concatenate([kept == 0, kept == 1], -1)


def _largest(g: np.ndarray, _: Any) -> np.ndarray:
    return np.where(np.arange(g.shape[-1]) == np.abs(g).argmax(-1)[..., None], g, 0)


RULES: dict[str, Callable[..., Any]] = plain_algorithms.RULES | {
    "clipped": _along(lambda g, _: g / np.maximum(np.linalg.norm(g, axis=-1, keepdims=True), 1)),
    "sign": _along(lambda g, _: np.sign(g)), "largest": _along(_largest), "one of two": _along(_one_of_two),
}  # fmt: skip


def paths(case: Any, setting: Any, *, count: int = PATHS, seed: int = 0) -> np.ndarray:
    """The quantity on `count` paths; on one where nothing is drawn."""
    at, deviation = world(setting.problem)
    noise, second, coins = (np.random.default_rng(each) for each in (seed, [seed, 1], [seed, 2]))
    drawn = deviation.any() or case.rule == "one of two" or case.participants < 3
    rule, shape = partial(RULES[case.rule], **case.options), (count if drawn else 1, *at.start.shape)
    at = replace(at, eta=setting.eta, coin=np.ones((1, at.start.shape[0], 1)))
    state = rule(at, np.broadcast_to(at.start, shape))
    models = [state[0]]
    for t in range(1, setting.iterations + 1):
        at = replace(at, t=t, noise=noise.normal(size=shape) * deviation)
        if case.rule == "cobo":
            at = replace(at, second=second.normal(size=shape) * deviation)
        elif case.rule == "one of two":
            at = replace(at, coin=coins.integers(0, 2, shape[:2])[..., None])
        elif case.participants < 3 and t % plain_algorithms.PERIOD == 1:
            at = replace(at, coin=coins.random(shape[:2]).argsort(-1).argsort(-1)[..., None] < case.participants)
        state = rule(at, *state)
        models.append(state[0])
    return of_path(at, models, case.quantity, 0)


def sampled_truth(case: Any, setting: Any, *, seed: int = 0) -> tuple[float, float]:
    """What is bounded, and six standard errors of it: of the mean, or of the quantile by its order statistics."""
    values = paths(case, setting, seed=seed)
    n = len(values)
    if case.delta is not None and n > 1:
        level, away = 1 - case.delta, 6 * (case.delta * (1 - case.delta) / n) ** 0.5
        low, middle, high = np.quantile(values, [level - away, level, min(level + away, 1.0)])
        return float(middle), float(max(middle - low, high - middle))
    return float(values.mean()), float(6 * values.std() / n**0.5)
