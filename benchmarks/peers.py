"""What others would write: loops and whole arrays in NumPy, and JAX with jit, vmap over seeds and scan over time.

Peers draw from their own generators. Each function returns a call that runs `seeds` seeds for `iterations` steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .problems import NOISE, THRESHOLD, Case


def jax_modules(x64: bool) -> Any:
    """jax and jax.numpy, or None where they are not installed."""
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", x64)
    return jax, jnp


def jax_scan(case: Case, seeds: int, iterations: int) -> Callable[[], Any] | None:
    if (modules := jax_modules(case.dtype == torch.float64)) is None:
        return None
    jax, jnp = modules
    step, start = (_stream_step if case.kind == "stream" else _general_step)(case, jax, jnp)

    def path(key: Any) -> Any:
        return jax.lax.scan(step, start, jax.random.split(key, iterations))[0]

    compiled, keys = jax.jit(jax.vmap(path)), jax.random.split(jax.random.PRNGKey(0), seeds)
    return lambda: compiled(keys).block_until_ready()


def stream_in_loops(case: Case, iterations: int) -> Callable[[], Any]:
    """One seed with loops over models and clients."""
    n, d, eta, rng = case.n, case.d, case.eta, np.random.default_rng(1)
    root, best = case.problem.root.numpy(), case.problem.optimum.numpy()

    def run() -> None:
        theta = np.zeros((n, d))
        for _ in range(iterations):
            samples = []
            for _ in range(2):
                x = np.stack([root[k] @ rng.normal(size=d) for k in range(n)])
                samples.append((x, (x * best).sum(1) + NOISE * rng.normal(size=n)))
            (x, y), (xa, ya) = samples
            new = theta.copy()
            for i in range(n):
                own = 2 * (xa[i] @ theta[i] - ya[i]) * xa[i]
                total, scale = np.zeros(d), 0.0
                for k in range(n):
                    g = 2 * (xa[k] @ theta[i] - ya[k]) * xa[k]
                    r = 1.0 if k == i else max(1 - ((g - own) ** 2).sum() / (own**2).sum(), 0)
                    if r >= THRESHOLD:
                        total += 2 * (x[k] @ theta[i] - y[k]) * x[k]
                        scale += r
                new[i] = theta[i] - eta * total / scale
            theta = new

    return run


def stream_vectorised(case: Case, seeds: int, iterations: int) -> Callable[[], Any]:
    n, d, eta, rng = case.n, case.d, case.eta, np.random.default_rng(1)
    root, best = case.problem.root.numpy(), case.problem.optimum.numpy()

    def sample() -> tuple[np.ndarray, np.ndarray]:
        x = np.matmul(root, rng.standard_normal((seeds, n, d, 1)))[..., 0]
        return x, (x * best).sum(-1) + NOISE * rng.standard_normal((seeds, n))

    def run() -> None:
        theta = np.zeros((seeds, n, d))
        for _ in range(iterations):
            (x, y), (xa, ya) = sample(), sample()
            e = theta @ xa.transpose(0, 2, 1) - ya[:, None]
            own = np.diagonal(e, axis1=1, axis2=2)[..., None]
            gram = xa @ xa.transpose(0, 2, 1)
            square = np.diagonal(gram, axis1=1, axis2=2)[:, None]
            norm = own**2 * square.transpose(0, 2, 1)
            r = np.clip(e * (2 * own * gram - e * square) / norm, 0, 1)
            r[:, np.arange(n), np.arange(n)] = 1
            weight = (r >= THRESHOLD) / ((r >= THRESHOLD) * r).sum(-1, keepdims=True)
            theta = theta - 2 * eta * (weight * (theta @ x.transpose(0, 2, 1) - y[:, None])) @ x

    return run


def _stream_step(case: Case, jax: Any, jnp: Any) -> tuple[Any, Any]:
    n, d, eta, problem = case.n, case.d, case.eta, case.problem
    root, best = (jnp.asarray(t.numpy()) for t in (problem.root, problem.optimum))
    real = root.dtype

    def sample(key: Any) -> Any:
        z = jax.random.normal(key, (n, d + 1), dtype=real)
        x = jnp.einsum("kde,ke->kd", root, z[:, :d])
        return x, (x * best).sum(1) + NOISE * z[:, d]

    def step(theta: Any, key: Any) -> Any:
        one, two = jax.random.split(key)
        (x, y), (xa, ya) = sample(one), sample(two)
        e = theta @ xa.T - ya
        own = jnp.diagonal(e)[:, None]
        gram = xa @ xa.T
        square = jnp.diagonal(gram)[None]
        r = jnp.clip(e * (2 * own * gram - e * square) / (own**2 * square.T), 0, 1)
        r = jnp.where(jnp.eye(n, dtype=bool), 1, r)
        weight = (r >= THRESHOLD) / ((r >= THRESHOLD) * r).sum(1, keepdims=True)
        return theta - 2 * eta * (weight * (theta @ x.T - y)) @ x, None

    return step, jnp.zeros((n, d), dtype=real)


def loops_over_models(case: Case, iterations: int) -> Callable[[], Any]:
    """One seed with exact similarities."""
    kind, problem, eta = case.kind, case.problem, case.eta
    rng, n, best = np.random.default_rng(1), problem.clients, problem.optimum.numpy()
    A = None if kind == "logistic" else problem.A.numpy()
    tables: Any = None if kind == "quadratics" else [np.stack(part) for part in zip(*problem.data.blocks())]
    noise = math.sqrt(1 / problem.features)

    def slope(X: np.ndarray, y: np.ndarray, theta: np.ndarray) -> np.ndarray:
        return 2 * (X @ theta - y) if kind == "least squares" else -y / (1 + np.exp(y * (X @ theta)))

    def mean(table: Any, theta: np.ndarray) -> np.ndarray:
        X, y = table
        return np.einsum("kj,kjd->kd", slope(X, y, theta), X) / X.shape[1] + problem.ridge * theta

    def call() -> None:
        theta = np.zeros_like(best)
        for _ in range(iterations):
            drawn: Any = None
            if tables is not None:
                index = rng.integers(0, tables[1].shape[1], (n, problem.batch))
                drawn = [np.take_along_axis(tables[0], index[..., None], 1), np.take_along_axis(tables[1], index, 1)]
            z, new = noise * rng.standard_normal(best.shape), theta.copy()
            for i, model in enumerate(theta):
                whole = mean(tables, model) if A is None else 2 * np.einsum("kde,ke->kd", A, model - best)
                r = np.maximum(1 - ((whole - whole[i]) ** 2).sum(1) / (whole[i] ** 2).sum(), 0)
                sampled = whole + z if drawn is None else mean(drawn, model)
                new[i] = model - eta * (r / (r * r).sum()) @ sampled
            theta = new

    return call


def _general_step(case: Case, jax: Any, jnp: Any) -> tuple[Any, Any]:
    kind, problem, exact, eta = case.kind, case.problem, case.exact, case.eta
    best, (n, d) = jnp.asarray(problem.optimum.numpy()), problem.optimum.shape
    A = None if kind == "logistic" else jnp.asarray(problem.A.numpy())
    tables: Any = None
    if kind != "quadratics":
        tables = [jnp.asarray(np.stack(part)) for part in zip(*problem.data.blocks())]

    def slope(prediction: Any, y: Any) -> Any:
        return 2 * (prediction - y) if kind == "least squares" else -y / (1 + jnp.exp(y * prediction))

    def pairs(theta: Any) -> Any:
        """Client k's gradient at model i, (n, n, d)."""
        if A is not None:
            return 2 * jnp.einsum("kde,ike->ikd", A, theta[:, None] - best)
        X, y = tables
        return (
            jnp.einsum("ikj,kjd->ikd", slope(jnp.einsum("kjd,id->ikj", X, theta), y), X) / X.shape[1]
            + problem.ridge * theta[:, None]
        )

    def step(theta: Any, key: Any) -> Any:
        g: Any = None
        weight: Any = None
        if exact:
            g = pairs(theta)
            own = jnp.diagonal(g).T
            r = jnp.maximum(1 - ((g - own[:, None]) ** 2).sum(-1) / (own**2).sum(-1)[:, None], 0)
            weight = r / (r * r).sum(1, keepdims=True)
        if tables is None:
            z = jax.random.normal(key, (n, d)) / math.sqrt(d)
            if not exact:
                return theta - eta * (2 * jnp.einsum("kde,ke->kd", A, theta - best) + z), None
            return theta - eta * (jnp.einsum("ik,ikd->id", weight, g) + weight @ z), None
        X, y = tables
        index = jax.random.randint(key, (n, problem.batch), 0, y.shape[1], dtype=jnp.int32)
        x, y = jnp.take_along_axis(X, index[..., None], 1), jnp.take_along_axis(y, index, 1)
        if not exact:
            own = slope(jnp.einsum("kjd,kd->kj", x, theta), y)
            return theta - eta * (jnp.einsum("kj,kjd->kd", own, x) / problem.batch + problem.ridge * theta), None
        slopes = weight[..., None] * slope(jnp.einsum("kjd,id->ikj", x, theta), y) / problem.batch
        mass = weight.sum(1, keepdims=True) * problem.ridge
        return theta - eta * (slopes.reshape(n, -1) @ x.reshape(-1, d) + mass * theta), None

    return step, jnp.asarray(problem.start.numpy())
