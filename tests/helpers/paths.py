"""Following an algorithm's path beside a plain transcription of its rule: loops over seeds and clients, NumPy only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import torch

from suffice.simulate import Algorithm, Quadratics, Randomness, Stream

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


def groups(rule: Any) -> list[list[int]]:
    """The clients of each server."""
    labels = [0] * N if rule.clusters is None else CLUSTERS
    return [[i for i in range(N) if labels[i] == g] for g in range(max(labels) + 1)]


def rounds(rule: Any, pull: float = 0.0):
    """The rule for `assert_follows` of FedAvg, with a pull to the model that the server sent: FedProx."""
    label = [0] * N if rule.clusters is None else CLUSTERS
    sizes = np.ones(N) if rule.sizes is None else rule.sizes.numpy()

    def path(seed, g, start):
        server, x, t = [np.average(start[m], axis=0, weights=sizes[m]) for m in groups(rule)], start.copy(), 0
        present: list[list[int]] = []

        def deploy():
            for w, members in zip(server, groups(rule)):
                x[members] = w

        deploy()
        yield x.copy()
        while True:
            t += 1
            alone = rule.fine_tune_after is not None and t > rule.fine_tune_after
            if (t - 1) % rule.period == 0:  # a round begins
                u = randomness(seed).uniform(iteration=t, stream=Stream.COIN, clients=N, features=1)[0, :, 0]
                present = [sorted(m, key=lambda i: u[i])[: rule.participants] for m in groups(rule)]
            for i in range(N) if alone else [i for drawn in present for i in drawn]:
                away = 0 if alone else x[i] - server[label[i]]
                x[i] = x[i] - 0.1 * (g(i, x[i], t) + pull * away)
            if t % rule.period == 0 and not alone:
                server = [np.average(x[p], axis=0, weights=sizes[p]) for p in present]
                deploy()
            yield x.copy()

    return path


def assert_same_path(one: Algorithm, other: Algorithm, problem: Quadratics, *, iterations: int = 13, eta=0.1) -> None:
    np.testing.assert_allclose(
        simulated(one, problem, iterations, eta), simulated(other, problem, iterations, eta), rtol=1e-11, atol=1e-12
    )


def costs(algorithm: Algorithm, iteration: int, clients: int = N) -> tuple[float, float]:
    problem = built(clients)
    draw = algorithm.draw(problem, randomness(1), iteration)
    calls, vectors = algorithm.oracle_calls(problem, draw), algorithm.vectors_sent(problem, draw)
    return float(calls), float(vectors)
