"""The compiled kernel on rows, logistic losses and quadratics, beside the torch reference, plain NumPy and JAX."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from suffice.bounds import Continuous
from suffice.simulate import AllForOne, LeastSquares, Local, Logistic, Problem, Quadratics, run

from .timing import alternate, one_core, row

ETA = 0.01
EXACT = AllForOne(criterion=Continuous(), sigma2=1.0)


@cache
def problem_of(kind: str, n: int, d: int, rows: int = 100, batch: int = 8) -> Problem:
    rng = np.random.default_rng(0)
    best = rng.normal(size=(2, d))[np.arange(n) % 2] / np.sqrt(d)
    if kind == "quadratics":
        root = rng.normal(size=(n, d, d))
        return Quadratics.of(np.eye(d) / 3 + root @ root.transpose(0, 2, 1) / d, -best, sigma2=1.0)
    X = [rng.normal(size=(rows, d)) for _ in range(n)]
    y = [x @ b + 0.5 * rng.normal(size=rows) for x, b in zip(X, best)]
    if kind == "least squares":
        return LeastSquares.of(X, y, batch=batch)
    return Logistic.of(X, [np.where(z > 0, 1.0, -1.0) for z in y], regularisation=0.1, batch=batch)


def ours(problem: Problem, rule: Any, seeds: int, iterations: int, kernel: Any = "c") -> Callable[[], Any]:
    return lambda: run(problem, rule, iterations=iterations, eta=ETA, seeds=seeds, grid=[iterations], kernel=kernel)


def plain(kind: str, problem: Any, iterations: int) -> Callable[[], Any]:
    """One seed of `EXACT` in NumPy, with a loop over models: what a user would write."""
    rng, n, best = np.random.default_rng(1), problem.clients, problem.optimum.numpy()
    A = None if kind == "logistic" else problem.A.numpy()
    tables: Any = None if kind == "quadratics" else [np.stack(part) for part in zip(*problem.data.blocks())]
    noise = math.sqrt(1 / problem.features)

    def slope(X: np.ndarray, y: np.ndarray, theta: np.ndarray) -> np.ndarray:
        return 2 * (X @ theta - y) if kind == "least squares" else -y / (1 + np.exp(y * (X @ theta)))

    def mean(table: Any, theta: np.ndarray) -> np.ndarray:
        X, y = table
        return np.einsum("kj,kjd->kd", slope(X, y, theta), X) / X.shape[1]

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
                new[i] = model - ETA * (r / (r * r).sum()) @ sampled
            theta = new

    return call


def jax_scan(kind: str, problem: Any, exact: bool, seeds: int, iterations: int) -> Callable[[], Any] | None:
    """The same in JAX: jit, scan over iterations, vmap over seeds, no loop over clients. None where it is absent."""
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
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
        return jnp.einsum("ikj,kjd->ikd", slope(jnp.einsum("kjd,id->ikj", X, theta), y), X) / X.shape[1]

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
                return theta - ETA * (2 * jnp.einsum("kde,ke->kd", A, theta - best) + z), None
            return theta - ETA * (jnp.einsum("ik,ikd->id", weight, g) + weight @ z), None
        X, y = tables
        index = jax.random.randint(key, (n, problem.batch), 0, y.shape[1])
        x, y = jnp.take_along_axis(X, index[..., None], 1), jnp.take_along_axis(y, index, 1)
        if not exact:
            own = slope(jnp.einsum("kjd,kd->kj", x, theta), y)
            return theta - ETA * (jnp.einsum("kj,kjd->kd", own, x) / problem.batch + problem.ridge * theta), None
        slopes = weight[..., None] * slope(jnp.einsum("kjd,id->ikj", x, theta), y) / problem.batch
        mass = weight.sum(1, keepdims=True) * problem.ridge
        return theta - ETA * (slopes.reshape(n, -1) @ x.reshape(-1, d) + mass * theta), None

    def path(key: Any) -> Any:
        return jax.lax.scan(step, jnp.asarray(problem.start.numpy()), jax.random.split(key, iterations))[0]

    compiled, keys = jax.jit(jax.vmap(path)), jax.random.split(jax.random.PRNGKey(0), seeds)
    return lambda: compiled(keys).block_until_ready()


def table(quick: bool) -> list[dict[str, Any]]:
    """Processor time per seed-iteration on one core, in turn; and how it grows in T, S, N and d."""
    one_core()
    found, rounds = [], 3 if quick else 9
    for kind, n, d in (("least squares", 20, 10), ("logistic", 4, 14), ("quadratics", 20, 10)):
        problem = problem_of(kind, n, d)
        for rule in (EXACT, Local()):
            for seeds in (1, 32) if quick else (1, 32, 1024):
                T, short = max(20, 3200 // max(seeds, 8)), 20
                peers: dict[str, tuple[Callable[[], Any], int]] = {
                    "torch reference": (ours(problem, rule, seeds, short, "reference"), short * seeds)
                }
                if rule is EXACT:
                    peers["NumPy, loop over models"] = (plain(kind, problem, short), short)
                length = max(5, T // 8)
                if scan := jax_scan(kind, problem, rule is EXACT, seeds, length):
                    peers["JAX"] = (scan, length * seeds)
                own, *others = alternate(
                    ours(problem, rule, seeds, T), *(call for call, _ in peers.values()),
                    rounds=rounds, clock=time.process_time,
                )  # fmt: skip
                name = f"{kind}, {'exact' if rule is EXACT else rule.name}"
                for (peer, (_, units)), other in zip(peers.items(), others):
                    found.append(row(name, (n, d, seeds), own / seeds / T, peer, other / units))
    return found + exponents(rounds)


def exponents(rounds: int) -> list[dict[str, Any]]:
    """From a factor 4 of each, least squares on rows with exact similarities."""
    base, found = {"n": 16, "d": 8, "seeds": 32, "iterations": 60}, []
    for name in base:
        calls = []
        for factor in (1, 4):
            shape = base | {name: factor * base[name]}
            problem = problem_of("least squares", shape["n"], shape["d"])
            calls.append(ours(problem, EXACT, shape["seeds"], shape["iterations"]))
        one, four = alternate(*calls, rounds=rounds, clock=time.process_time)
        found.append({"name": f"rows, exact: exponent in {name}", "value": math.log(four / one, 4)})
    return found
