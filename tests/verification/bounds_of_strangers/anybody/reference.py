"""The truth by a second route: every rule again, in NumPy on arrays (path, client, feature), with NumPy's noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from suffice.simulate import Quadratics
from suffice.simulate.problems import Kink, LogisticPiece

Gradient = Callable[[np.ndarray], np.ndarray]
PATHS = 20_000


class World:
    """Losses and gradients of a problem, from its numbers alone: [..., k, :] of the model [..., k, :]."""

    def __init__(self, problem: Any) -> None:
        self.N, self.d = problem.clients, problem.features
        self.start = problem.start.numpy()
        self.quadratic = isinstance(problem, Quadratics)
        if self.quadratic:
            self.A, self.m = problem.A.numpy(), -problem.xi.numpy()
            self.deviation = np.sqrt(problem.sigma2.numpy() / self.d)[:, None]
            return
        self.m, self.scale, self.profile = problem.optimum.numpy(), problem.scale.numpy(), problem.profile
        self.deviation = np.sqrt(problem.noise.covariance.numpy()[:, 0])

    def gradient(self, x: np.ndarray) -> np.ndarray:
        u = x - self.m
        if self.quadratic:
            return 2 * np.einsum("kde,...ke->...kd", self.A, u)
        p = self.profile
        if isinstance(p, Kink):
            return self.scale * (p.outer * u + (p.inner - p.outer) * np.clip(u, -p.width, p.width))
        if isinstance(p, LogisticPiece):
            return self.scale * (2 * np.tanh(u / 2) + p.ridge * u)
        return self.scale * (2 * u + p.amplitude * np.sin(2 * u))

    def excess(self, x: np.ndarray) -> np.ndarray:
        u = x - self.m
        if self.quadratic:
            return np.einsum("...kd,kde,...ke->...k", u, self.A, u)
        p = self.profile
        if isinstance(p, Kink):
            near = np.minimum(np.abs(u), p.width)
            value = p.inner * near**2 / 2 + p.inner * p.width * (np.abs(u) - near)
            value = value + p.outer * (np.abs(u) - near) ** 2 / 2
        elif isinstance(p, LogisticPiece):
            value = 4 * (np.logaddexp(u / 2, -u / 2) - np.log(2)) + p.ridge * u**2 / 2
        else:
            value = u**2 + p.amplitude * np.sin(u) ** 2
        return (self.scale * value).sum(-1)

    def crossed(self, x: np.ndarray, of: Gradient) -> np.ndarray:
        """of(client k at model i) as [s, i, k, ...]: every model in the place of every client."""
        return of(np.repeat(x[:, :, None], self.N, axis=2))


def _local(w: World, x: np.ndarray, noise: Iterator[np.ndarray], eta: float, **_: Any) -> Iterator[np.ndarray]:
    while True:
        x = x - eta * (w.gradient(x) + next(noise))
        yield x


def _along(direction: Callable[[np.ndarray, np.random.Generator], np.ndarray]) -> Callable[..., Iterator[np.ndarray]]:
    def rule(w, x, noise, eta, rng, **_):
        while True:
            x = x - eta * direction(w.gradient(x) + next(noise), rng)
            yield x

    return rule


def _one_of_two(g: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    kept = rng.integers(0, 2, g.shape[:2])
    return 2 * g * np.stack([kept == 0, kept == 1], -1)


def _largest(g: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.where(np.arange(g.shape[-1]) == np.abs(g).argmax(-1)[..., None], g, 0)


def _fedavg(w, x, noise, eta, rng, participants, **_):
    t = 0
    while True:
        if t % 2 == 0:
            present = rng.random(x.shape[:2]).argsort(-1).argsort(-1)[..., None] < participants
        x = x - eta * present * (w.gradient(x) + next(noise))
        t += 1
        if t % 2 == 0:
            x = (present * x).sum(1, keepdims=True) / participants + 0 * x
        yield x


def _minibatch(w, x, noise, eta, **_):
    while True:
        g = w.gradient(x) + next(noise)
        yield x
        x = x - eta * ((g + w.gradient(x) + next(noise)) / 2).mean(1, keepdims=True)
        yield x


def _scaffold(w, x, noise, eta, **_):
    c = np.zeros_like(x)
    while True:
        y = x
        for last in (False, True):
            y = y - eta * (w.gradient(y) + next(noise) - c + c.mean(1, keepdims=True))
            if last:
                c = c - c.mean(1, keepdims=True) + (x - y) / (2 * eta)
                x = y = y.mean(1, keepdims=True) + 0 * y
            yield y


def _fedamp(w, x, noise, eta, **_):
    while True:
        apart = ((x[:, :, None] - x[:, None]) ** 2).sum(-1)
        xi = 0.5 / (w.N - 1) * np.exp(-apart)  # share 1/2, sigma 1; its diagonal moves nothing
        u = x + np.einsum("sik,sikd->sid", xi, x[:, None] - x[:, :, None])
        x = x - eta * (w.gradient(x) + next(noise) + (x - u))
        yield x


def _exchange(mix: Callable[..., np.ndarray]) -> Callable[..., Iterator[np.ndarray]]:
    def rule(w, x, noise, eta, period, **_):
        began, t = x, 0
        while True:
            x, t = x - eta * (w.gradient(x) + next(noise)), t + 1
            if t % period == 0:
                x = began = mix(w, began, x)
            yield x

    return rule


def _fomo(w: World, began: np.ndarray, x: np.ndarray) -> np.ndarray:
    losses = w.crossed(x, w.excess).swapaxes(1, 2)  # [s, i, k]: client i's of model k
    gain = np.maximum(w.excess(began)[..., None] - losses, 0)
    apart = np.linalg.norm(x[:, None] - began[:, :, None], axis=-1)
    slope = np.divide(gain, apart, out=np.zeros_like(gain), where=apart > 0)
    share = slope / np.maximum(slope.sum(-1, keepdims=True), 1e-300)
    return began + np.einsum("sik,sikd->sid", share, x[:, None] - began[:, :, None])


def _validation(w: World, began: np.ndarray, x: np.ndarray) -> np.ndarray:
    losses = w.crossed(x, w.excess).swapaxes(1, 2)
    share = np.exp(-(losses - losses.min(-1, keepdims=True)))
    return began + np.einsum("sik,skd->sid", share / share.sum(-1, keepdims=True), x - began)


def _simplex(rows: np.ndarray) -> np.ndarray:
    low, high = rows.min(-1, keepdims=True) - 1, rows.max(-1, keepdims=True)
    for _ in range(60):
        middle = (low + high) / 2
        above = np.maximum(rows - middle, 0).sum(-1, keepdims=True) > 1
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.maximum(rows - low, 0)


def _cobo(w, x, noise, eta, fresh, simplex=False, **_):
    weights = np.full((len(x), w.N, w.N), 1 / w.N if simplex else 1.0)
    while True:
        middle, own = (x[:, :, None] + x[:, None]) / 2, next(fresh)[:, None]
        g = w.gradient(middle) + own  # [s, i, k]: client k's at z_ik = z_ki
        moved = weights + 0.1 * (g * g.swapaxes(1, 2)).sum(-1)
        weights = _simplex(moved) if simplex else np.clip(moved, 0, 1)
        pull = np.einsum("sik,sikd->sid", weights, x[:, :, None] - x[:, None])
        x = x - eta * (w.gradient(x) + next(noise) + 0.5 * pull)
        yield x


def _clustering(w, x, noise, eta, **_):
    while True:
        g = w.crossed(x, w.gradient) + next(noise)[:, None]  # [s, i, k]
        v = np.einsum("siid->sid", g)
        for _round in range(3):
            near = np.linalg.norm(g - v[:, :, None], axis=-1, keepdims=True) <= 1
            v = np.where(near, g, v[:, :, None]).mean(2)
        x = x - eta * v
        yield x


RULES: dict[str, Callable[..., Iterator[np.ndarray]]] = {
    "local": _local, "fedavg": _fedavg, "minibatch": _minibatch, "scaffold": _scaffold, "fedamp": _fedamp,
    "fedfomo": _exchange(_fomo), "validation": _exchange(_validation), "cobo": _cobo, "clustering": _clustering,
    "clipped": _along(lambda g, _: g / np.maximum(np.linalg.norm(g, axis=-1, keepdims=True), 1)),
    "sign": _along(lambda g, _: np.sign(g)), "largest": _along(_largest), "one of two": _along(_one_of_two),
}  # fmt: skip


def _values(w: World, quantity: str, x: np.ndarray) -> np.ndarray:
    """On every path."""
    if "consensus" in quantity:
        return ((x[:, :, None] - x[:, None]) ** 2).sum(-1).mean((1, 2))
    if "gradient" in quantity:
        squares = (w.gradient(x) ** 2).sum(-1)
        return squares.mean(-1) if "client" in quantity else squares[:, 0]
    if quantity == "last_distance":
        return ((x - w.m) ** 2).sum(-1)[:, 0]
    return w.excess(x).mean(-1) if quantity == "mean_excess" else w.excess(x)[:, 0]


def paths(case: Any, setting: Any, *, count: int = PATHS, seed: int = 0) -> np.ndarray:
    """The quantity on `count` paths; on one where nothing is drawn."""
    w, rng, other = World(setting.problem), np.random.default_rng(seed), np.random.default_rng([seed, 1])
    drawn = w.deviation.any() or case.rule == "one of two" or case.options.get("participants", 3) < 3
    x = np.repeat(w.start[None], count if drawn else 1, axis=0)

    def noise(source: np.random.Generator) -> Iterator[np.ndarray]:
        while True:
            yield source.normal(size=x.shape) * w.deviation

    rule = RULES[case.rule](w, x, noise(rng), setting.eta, rng=np.random.default_rng([seed, 2]), fresh=noise(other),
                            **case.options)  # fmt: skip
    models = [x] + [np.broadcast_to(next(rule), x.shape) for _ in range(setting.iterations)]
    if case.quantity == "mean_iterate_excess":
        return w.excess(sum(models) / len(models))[:, 0]
    if case.quantity.startswith(("average", "random")):
        return sum(_values(w, case.quantity, each) for each in models[:-1]) / (len(models) - 1)
    return _values(w, case.quantity, models[-1])


def truth(case: Any, setting: Any, *, seed: int = 0) -> tuple[float, float]:
    """What is bounded, and six standard errors of it: of the mean, or of the quantile by its order statistics."""
    values = paths(case, setting, seed=seed)
    n = len(values)
    if case.delta is not None and n > 1:
        level, away = 1 - case.delta, 6 * (case.delta * (1 - case.delta) / n) ** 0.5
        low, middle, high = np.quantile(values, [level - away, level, min(level + away, 1.0)])
        return float(middle), float(max(middle - low, high - middle))
    return float(values.mean()), float(6 * values.std() / n**0.5)
