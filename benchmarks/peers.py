"""All-for-one on streaming least squares, and what others would write for it.

Weights anew in every iteration from one independent sample per client, binary criterion, general H_k.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch

from suffice.bounds import Binary
from suffice.simulate import AllForOne, SampledSimilarity, StreamingLeastSquares

THRESHOLD, NOISE = 0.4, 0.3
ALGORITHM = AllForOne(criterion=Binary(threshold=THRESHOLD), similarity=SampledSimilarity(), sigma2=1.0)


@cache
def stream(n: int, d: int, *, dtype: torch.dtype = torch.float64, batch: int = 1) -> StreamingLeastSquares:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(n, d, d))
    H = 0.3 * np.eye(d) + root @ root.transpose(0, 2, 1) / d
    best = rng.normal(size=(2, d))[np.arange(n) % 2] + 2
    return StreamingLeastSquares.of(H, best, label_noise=NOISE, batch=batch).to(dtype)


def numpy_loops(n: int, d: int, seeds: int, iterations: int) -> Callable[[], Any]:
    problem, rng = stream(n, d), np.random.default_rng(1)
    root, best, eta = problem.root.numpy(), problem.optimum.numpy(), 0.01 / d

    def run() -> None:
        for _ in range(seeds):
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


def numpy_vectorised(n: int, d: int, seeds: int, iterations: int) -> Callable[[], Any]:
    problem, rng = stream(n, d), np.random.default_rng(1)
    root, best, eta = problem.root.numpy(), problem.optimum.numpy(), 0.01 / d

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


def jax_scan(n: int, d: int, seeds: int, iterations: int, dtype: torch.dtype) -> Callable[[], Any] | None:
    """jit, scan over iterations and vmap over seeds; None where JAX is not installed."""
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", dtype == torch.float64)
    real = jnp.float64 if dtype == torch.float64 else jnp.float32
    problem = stream(n, d)
    root, best = (jnp.asarray(t.numpy(), dtype=real) for t in (problem.root, problem.optimum))
    eta = 0.01 / d

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

    def path(key: Any) -> Any:
        return jax.lax.scan(step, jnp.zeros((n, d), dtype=real), jax.random.split(key, iterations))[0]

    compiled = jax.jit(jax.vmap(path))
    keys = jax.random.split(jax.random.PRNGKey(0), seeds)
    return lambda: compiled(keys).block_until_ready()
