"""Paths of algorithms on quadratics that several tests share, and what an iteration of them costs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from plain_algorithms import At

from suffice.simulate import Algorithm, Quadratics, Randomness
from suffice.simulate.algorithms.cobo import MIDPOINT, PAIRS

N, D = 6, 3
SEEDS = (70, 71, 72)
CLUSTERS = (0, 1, 0, 1, 0, 0)
SIZES = torch.tensor([3.0, 1.0, 4.0, 1.5, 9.0, 2.0])
"""Rows of each client, say."""


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


def clients(eta: float = 0.1) -> At:
    """What plain transcriptions look at; two and two share a Hessian and almost a minimiser: thresholds join some."""
    rng = np.random.default_rng(50)
    root, pairs = rng.normal(size=(N, D, D)), np.arange(N) // 2
    H = (2 * np.eye(D) + 0.2 * (root + root.transpose(0, 2, 1)))[pairs]
    m = 0.5 * rng.normal(size=(N, D))[pairs] + 0.02 * rng.normal(size=(N, D))
    return At(H=H, m=m, start=1.5 + rng.normal(size=(N, D)), eta=eta)


def problem_of(at: At) -> Quadratics:
    return Quadratics.of(at.H / 2, -at.m, sigma2=0.3, start=at.start)


def assert_follows(algorithm: Algorithm, plain: Any, at: At | None = None, *, iterations: int = 9) -> np.ndarray:
    """The last models, which are those of `plain`, a transcription as in `plain_algorithms`, seed by seed."""
    at = at or clients()
    problem, shape = problem_of(at), (len(SEEDS), *at.start.shape)
    many, eta = Randomness(seeds=torch.tensor(SEEDS), root=3), torch.tensor(at.eta, dtype=torch.float64)
    state, expected = algorithm.init(problem, problem.start.expand(shape)), plain(at, np.broadcast_to(at.start, shape))
    for t in range(1, iterations + 1):
        draw = algorithm.draw(problem, many, t)
        drawn = {key: value.numpy() for key, value in draw.extra.items()}
        shown: dict[str, Any] = {"noise": draw.noise[:, :, 0].numpy()}
        if "coin" in drawn or "participants" in drawn:
            shown["coin"] = drawn["coin"][:, None, None] if "coin" in drawn else 1.0 * drawn["participants"][..., None]
        if PAIRS in drawn:
            shown |= {"pairs": drawn[PAIRS], "second": drawn[MIDPOINT][:, :, 0]}
        state = algorithm.step(problem, state, draw, eta)
        expected = plain(replace(at, t=t, **shown), *expected)
        # models are of order one and contract: a thousand roundings stay below 1e-12
        np.testing.assert_allclose(state["models"], expected[0], rtol=1e-10, atol=1e-11, err_msg=f"t = {t}")
    return state["models"].numpy()


def assert_same_path(one: Algorithm, other: Algorithm, problem: Quadratics, *, iterations: int = 13, eta=0.1) -> None:
    np.testing.assert_allclose(
        simulated(one, problem, iterations, eta), simulated(other, problem, iterations, eta), rtol=1e-11, atol=1e-12
    )


def costs(algorithm: Algorithm, iteration: int, clients: int = N) -> tuple[float, float]:
    problem = built(clients)
    draw = algorithm.draw(problem, randomness(1), iteration)
    calls, vectors = algorithm.oracle_calls(problem, draw), algorithm.vectors_sent(problem, draw)
    return float(calls), float(vectors)
