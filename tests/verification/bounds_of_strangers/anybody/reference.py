"""The truth by a second route: the transcriptions of `check_property.rules`, and more of them, on many paths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from suffice.simulate import Quadratics
from suffice.simulate.problems import Kink, LogisticPiece

from ...check_property import rules
from ...check_property.truth import At, of_path

PATHS = 20_000


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
    return rules.of_models(lambda at, x: (x - at.eta * direction(at.own(x), at.coin),))


def _one_of_two(g: np.ndarray, kept: np.ndarray) -> np.ndarray:
    return 2 * g * np.concatenate([kept == 0, kept == 1], -1)


def _largest(g: np.ndarray, _: Any) -> np.ndarray:
    return np.where(np.arange(g.shape[-1]) == np.abs(g).argmax(-1)[..., None], g, 0)


RULES: dict[str, Callable[..., Any]] = rules.RULES | {
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
        elif case.participants < 3 and t % rules.PERIOD == 1:
            at = replace(at, coin=coins.random(shape[:2]).argsort(-1).argsort(-1)[..., None] < case.participants)
        state = rule(at, *state)
        models.append(state[0])
    return of_path(at, models, case.quantity, 0)


def truth(case: Any, setting: Any, *, seed: int = 0) -> tuple[float, float]:
    """What is bounded, and six standard errors of it: of the mean, or of the quantile by its order statistics."""
    values = paths(case, setting, seed=seed)
    n = len(values)
    if case.delta is not None and n > 1:
        level, away = 1 - case.delta, 6 * (case.delta * (1 - case.delta) / n) ** 0.5
        low, middle, high = np.quantile(values, [level - away, level, min(level + away, 1.0)])
        return float(middle), float(max(middle - low, high - middle))
    return float(values.mean()), float(6 * values.std() / n**0.5)
