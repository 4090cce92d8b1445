"""Following an algorithm's path beside a plain transcription of its rule: loops over seeds and clients, NumPy only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
import torch

from suffice.simulate import Algorithm, Draw, Quadratics, Randomness, Stream

N, D = 6, 3
SEEDS = (70, 71, 72)
CLUSTERS = (0, 1, 0, 1, 0, 0)
SIZES = torch.tensor([3.0, 1.0, 4.0, 1.5, 9.0, 2.0])
"""Rows of each client, say."""
Oracle = Callable[[int, np.ndarray, int], np.ndarray]
"""Client k's stochastic gradient at a point in iteration t, the same noise at every point."""


def parts(clients: int = N) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A, xi, total variances and starts: all anisotropic and personal."""
    rng = np.random.default_rng(50)
    root = rng.normal(size=(clients, D, D))
    A = np.eye(D) + 0.1 * (root + root.transpose(0, 2, 1))
    return A, rng.normal(size=(clients, D)), rng.uniform(0.2, 2, clients), 2 + rng.normal(size=(clients, D))


def built(clients: int = N) -> Quadratics:
    A, xi, sigma2, start = parts(clients)
    return Quadratics.of(A, xi, sigma2=sigma2, start=start)


def equal_clients(clients: int = N) -> Quadratics:
    """One loss and one start, with noise of different sizes."""
    A, xi, sigma2, start = parts(clients)
    return Quadratics.of(A[:1].repeat(clients, 0), xi[:1].repeat(clients, 0), sigma2=sigma2, start=start[0])


def randomness(seed: int) -> Randomness:
    return Randomness(seeds=torch.tensor([seed]), root=3)


@cache
def normals(seed: int, t: int) -> np.ndarray:
    return randomness(seed).normal(iteration=t, stream=Stream.NOISE, clients=N, features=D)[0].numpy()


def oracle(seed: int) -> Oracle:
    A, xi, sigma2, _ = parts()
    return lambda k, theta, t: 2 * A[k] @ (theta + xi[k]) + np.sqrt(sigma2[k] / D) * normals(seed, t)[k]


def simulated(algorithm: Algorithm, problem: Quadratics, iterations: int, eta) -> np.ndarray:
    """Models after 0..T iterations, (T + 1, S, N, d), on the three seeds together."""
    many = Randomness(seeds=torch.tensor(SEEDS), root=3)
    state = algorithm.init(problem, problem.start.expand(len(SEEDS), -1, -1))
    models, step_size = [state["models"]], torch.as_tensor(eta, dtype=problem.dtype)
    for t in range(1, iterations + 1):
        before = {name: value.clone() for name, value in state.items()}
        after = algorithm.step(problem, state, algorithm.draw(problem, many, t), step_size)
        for name, value in before.items():
            assert torch.equal(state[name], value), f"step changed {name} in place"
        assert list(after) == list(state)
        state = after
        models.append(state["models"])
    return torch.stack(models).numpy()


def assert_follows(
    algorithm: Algorithm,
    rule: Callable[[int, Oracle, np.ndarray], Iterator[np.ndarray]],
    *,
    iterations: int = 13,
    eta=0.1,
) -> np.ndarray:
    """Compare with rule(seed, oracle, starts), which yields the models (N, d) after 0, 1, ... iterations."""
    got = simulated(algorithm, built(), iterations, eta)
    for place, seed in enumerate(SEEDS):
        for t, expected in zip(range(iterations + 1), rule(seed, oracle(seed), parts()[3])):
            # models are of order one and contract: a thousand roundings stay below 1e-12
            np.testing.assert_allclose(got[t, place], expected, rtol=1e-10, atol=1e-11, err_msg=f"seed {seed}, t = {t}")
    return got


def assert_same_path(one: Algorithm, other: Algorithm, problem: Quadratics, *, iterations: int = 13, eta=0.1) -> None:
    np.testing.assert_allclose(
        simulated(one, problem, iterations, eta), simulated(other, problem, iterations, eta), rtol=1e-11, atol=1e-12
    )


def affine_error(algorithm: Algorithm, *, iteration: int) -> float:
    """|f(2.5 y - 1.5 z) - (2.5 f(y) - 1.5 f(z))| of the step f at a fixed draw and random states, relative."""
    problem = built()
    many = Randomness(seeds=torch.tensor(SEEDS), root=3)
    draw = algorithm.draw(problem, many, iteration)
    template = algorithm.init(problem, problem.start.expand(len(SEEDS), -1, -1))
    generator = torch.Generator().manual_seed(1)
    y, z = (
        {name: torch.randn(value.shape, dtype=value.dtype, generator=generator) for name, value in template.items()}
        for _ in range(2)
    )
    eta = torch.tensor(0.1, dtype=problem.dtype)

    def step(state: dict[str, torch.Tensor], with_draw: Draw = draw) -> torch.Tensor:
        after = algorithm.step(problem, state, with_draw, eta)
        return torch.cat([value.flatten() for value in after.values()])

    mixed = step({name: 2.5 * y[name] - 1.5 * z[name] for name in y})
    expected = 2.5 * step(y) - 1.5 * step(z)
    return float((mixed - expected).abs().max() / expected.abs().max())


def costs(algorithm: Algorithm, iteration: int, clients: int = N) -> tuple[float, float]:
    problem = built(clients)
    draw = algorithm.draw(problem, randomness(1), iteration)
    calls, vectors = algorithm.oracle_calls(problem, draw), algorithm.vectors_sent(problem, draw)
    return float(calls), float(vectors)
