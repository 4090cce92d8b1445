"""The truth by routes of their own: second moments of diagonal quadratics, with NumPy alone; paths of other rules.

Both follow the transcriptions of `plain_algorithms` and those below. Coordinates of diagonal quadratics do not meet:
each is followed for itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import plain_algorithms
from plain_algorithms import At, mean, of_models

from suffice.simulate import Quadratics
from suffice.simulate.problems import Kink, LogisticPiece

from ..check_property.truth import of_path

PATHS = 20_000
Rule = Callable[..., Any]


def expected_excess(case: Any, instance: dict[str, Any]) -> float:
    """E[e_T] of client 0: `case.rule` takes its state z of k numbers a coordinate to A z + b + G n, n (N,) independent
    noises of sigma2/d each, which is found at unit vectors, for each outcome of `case.coins`."""
    h, m, start = (np.array(instance[name], dtype=float) for name in ("h", "m", "start"))
    (N, d), known = h.shape, {}
    # nothing cancels near the optimum of client 0
    at = At(H=h[:, :, None] * np.eye(d), m=m - m[0], start=np.tile(start - m[0], (N, 1)), eta=instance["eta"])
    z = np.concatenate((*(each[0] for each in case.rule(at, at.start[None])), np.ones((1, d)))).T
    S = z[:, :, None] * z[:, None, :]
    for t in range(1, instance["T"] + 1):
        key = case.phase(t)
        if key not in known:
            tossed = [(p, replace(at, t=t, coin=coin)) for p, coin in case.coins(N)]
            known[key] = [(p, *_maps(case.rule, now, z.shape[1] - 1, instance["sigma2"] / d)) for p, now in tossed]
        S = np.sum([p * (A @ S @ A.transpose(0, 2, 1) + Q) for p, A, Q in known[key]], axis=0)
    return float((h[0] / 2 * S[:, 0, 0]).sum())


def _maps(rule: Rule, at: At, k: int, variance: float) -> tuple[np.ndarray, np.ndarray]:
    """A with b beside it, and the covariance of G n, (d, k + 1, k + 1) each."""
    N, d = at.m.shape
    units, noise = np.zeros((1 + k + N, k, d)), np.zeros((1 + k + N, N, d))
    units[1 : k + 1], noise[k + 1 :] = np.eye(k)[:, :, None], np.eye(N)[:, :, None]
    after = np.concatenate(rule(replace(at, noise=noise), *np.split(units, k // N, axis=1)), axis=1)
    columns = (after[1:] - after[0]).transpose(2, 1, 0)
    A, Q = np.zeros((2, d, k + 1, k + 1))
    A[:, :k, :k], A[:, :k, k], A[:, k, k] = columns[..., :k], after[0].T, 1
    Q[:, :k, :k] = variance * columns[..., k:] @ columns[..., k:].transpose(0, 2, 1)
    return A, Q


sgd = plain_algorithms.RULES["local"]


def with_steps(size: Callable[[int], float]) -> Rule:
    """SGD whose step in iteration t is eta times size(t)."""
    return of_models(lambda at, x: sgd(replace(at, eta=at.eta * size(at.t)), x))


def batches(B: int) -> Rule:
    return of_models(lambda at, x: sgd(replace(at, noise=at.noise / B**0.5), x))


def averaged(at, mean_model, x=None):
    """State (mean of x_0..x_{t-1}, x_t)."""
    return (mean_model,) * 2 if x is None else (mean_model + (x - mean_model) / at.t, *sgd(at, x))


@of_models
def sampled(at, x):
    """FedAvg with some clients in every round of one step: everybody receives their mean."""
    return (mean(*sgd(at, x), at.coin),)


def some(K: int) -> Callable[[int], list[tuple[float, np.ndarray]]]:
    """The sets of K clients."""

    def coins(N):
        sets = [np.isin(np.arange(N), chosen) for chosen in combinations(range(N), K)]
        return [(1 / len(sets), each[None, :, None]) for each in sets]

    return coins


def sometimes(p: float) -> Callable[[int], list[tuple[float, np.ndarray]]]:
    return lambda N: [(q, np.full((1, 1, 1), side)) for q, side in ((p, True), (1 - p, False)) if q]


def weighted(alpha: Any) -> Rule:
    """x_i - eta sum_k alpha_ik (h_k (x_i - m_k) + n_k)"""
    return of_models(lambda at, x: (x - at.eta * np.einsum("ik,sikd->sid", np.array(alpha), at.peers(x)),))


def pair(rho: float) -> Rule:
    """x_i - eta (h_i (x_i - m_i) + n_i + rho (x_i - x_k)), two clients"""
    return of_models(lambda at, x: (x - at.eta * (at.own(x) + rho * (x - x[:, ::-1])),))


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
