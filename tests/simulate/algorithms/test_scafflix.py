"""Scaffnew, i-Scaffnew, Scafflix and FLIX: the printed rules, where they converge, their starts."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from suffice.bounds import InputError
from suffice.simulate import Flix, Quadratics, Randomness, Scaffnew, Stream, run

N, D, T, S, P = 4, 3, 12, 4, 0.4
ALPHA = np.array([0.9, 0.3, 1.0, 0.05])
GAMMA = np.array([0.1, 0.25, 0.15, 0.2])


def parts() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(70)
    root = rng.normal(size=(N, D, D))
    A = np.eye(D) + 0.1 * (root + root.transpose(0, 2, 1))
    return A, rng.normal(size=(N, D)), rng.normal(size=(N, D)), rng.normal(size=(N, D))


def built(sigma2: float = 0.5) -> Quadratics:
    A, xi, start, _ = parts()
    return Quadratics.of(A, xi, sigma2=sigma2, start=start)


def flix_solution(alpha: np.ndarray, y: np.ndarray) -> np.ndarray:
    """argmin_x sum_i f_i(alpha_i x + (1 - alpha_i) y_i), where sum_i alpha_i grad f_i vanishes."""
    A, xi, _, _ = parts()
    H = np.einsum("i,ide->de", alpha**2, A)
    return -np.linalg.solve(H, np.einsum("i,ide,ie->d", alpha, A, (1 - alpha)[:, None] * y + xi))


def transcribed(alpha: np.ndarray, y: np.ndarray, h: np.ndarray, seed: int, root: int) -> tuple[np.ndarray, np.ndarray]:
    """Algorithm 1 as printed, in x_i: x_i and h_i after T iterations."""
    A, xi, x, _ = parts()
    n, randomness = N, Randomness(seeds=torch.tensor([seed]), root=root)
    gamma = 1 / np.mean(alpha**2 / GAMMA)
    for t in range(1, T + 1):
        z = randomness.normal(iteration=t, stream=Stream.NOISE, clients=N, features=D)[0].numpy()
        coin = randomness.uniform(iteration=t, stream=Stream.COIN, clients=1, features=1).item() < P
        hat = np.empty_like(x)
        for i in range(n):
            mixed = alpha[i] * x[i] + (1 - alpha[i]) * y[i]
            g = 2 * A[i] @ (mixed + xi[i]) + np.sqrt(0.5 / D) * z[i]
            hat[i] = x[i] - GAMMA[i] / alpha[i] * (g - h[i])
        if coin:
            bar = gamma / n * sum(alpha[j] ** 2 / GAMMA[j] * hat[j] for j in range(n))
            h = np.array([h[i] + P * alpha[i] / GAMMA[i] * (bar - hat[i]) for i in range(n)])
            x = np.tile(bar, (n, 1))
        else:
            x = hat
    return x, h


@pytest.mark.parametrize("personal", [True, False], ids=["scafflix", "i-scaffnew"])
def test_paths_are_those_of_the_printed_rule(personal):
    alpha, y = (ALPHA, parts()[3]) if personal else (np.ones(N), np.zeros((N, D)))
    h = np.random.default_rng(71).normal(size=(N, D))
    problem, source = built(), Randomness(seeds=torch.arange(S), root=9)
    rule = Scaffnew(
        p=P, alpha=torch.from_numpy(alpha), anchors=torch.from_numpy(y), control=torch.from_numpy(h), name="scafflix"
    )
    state, coins = rule.init(problem, problem.start.expand(S, -1, -1)), []
    for t in range(1, T + 1):
        draw = rule.draw(problem, source, t)
        coins.append(draw.extra["coin"])
        np.testing.assert_array_equal(rule.vectors_sent(problem, draw), 2 * N * draw.extra["coin"].numpy())
        assert rule.oracle_calls(problem, draw) == N
        state = rule.step(problem, state, draw, torch.from_numpy(GAMMA))
    assert 0.2 < torch.stack(coins).double().mean() < 0.6
    for seed in range(S):
        x, control = transcribed(alpha, y, h, seed, 9)
        mixed = alpha[:, None] * x + (1 - alpha)[:, None] * y
        np.testing.assert_allclose(state["models"][seed], mixed, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(state["control"][seed], control, rtol=1e-10, atol=1e-11)
        np.testing.assert_allclose(rule.shared(problem, state)[seed], x, rtol=1e-9, atol=1e-11)


def test_flix_paths_are_gradient_descent_on_the_mixed_objective():
    A, xi, start, y = parts()
    problem = built()
    trace_models, eta = [], 0.1
    rule = Flix(alpha=torch.from_numpy(ALPHA), anchors=torch.from_numpy(y))
    state, source = rule.init(problem, problem.start.expand(S, -1, -1)), Randomness(seeds=torch.arange(S), root=2)
    for t in range(1, T + 1):
        state = rule.step(problem, state, rule.draw(problem, source, t), torch.tensor(eta, dtype=torch.float64))
    for seed in range(S):
        x = start.mean(0)
        for t in range(1, T + 1):
            z = (
                Randomness(seeds=torch.tensor([seed]), root=2)
                .normal(iteration=t, stream=Stream.NOISE, clients=N, features=D)[0]
                .numpy()
            )
            mixed = [ALPHA[i] * x + (1 - ALPHA[i]) * y[i] for i in range(N)]
            g = [2 * A[i] @ (mixed[i] + xi[i]) + np.sqrt(0.5 / D) * z[i] for i in range(N)]
            x = x - eta * sum(ALPHA[i] * g[i] for i in range(N)) / N
        trace_models.append([ALPHA[i] * x + (1 - ALPHA[i]) * y[i] for i in range(N)])
    np.testing.assert_allclose(state["models"], trace_models, rtol=1e-10, atol=1e-12)
    draw = rule.draw(problem, source, 1)
    assert (rule.oracle_calls(problem, draw), rule.vectors_sent(problem, draw)) == (N, 2 * N)


def final(problem: Quadratics, rule, eta, iterations: int) -> tuple[np.ndarray, np.ndarray]:
    """The last models (N, d) of one seed, and the first."""
    source = Randomness(seeds=torch.arange(1), root=1)
    state = rule.init(problem, problem.start[None])
    first, eta = state["models"][0].numpy(), torch.as_tensor(eta, dtype=torch.float64)
    for t in range(1, iterations + 1):
        state = rule.step(problem, state, rule.draw(problem, source, t), eta)
    return state["models"][0].numpy(), first


@pytest.mark.parametrize("anchored", [True, False], ids=["optima", "any anchors"])
def test_without_noise_flix_and_scafflix_reach_the_mixed_optimum(anchored):
    problem, alpha = built(0.0), torch.from_numpy(ALPHA)
    y = problem.optimum.numpy() if anchored else parts()[3]
    anchors = None if anchored else torch.from_numpy(y)
    x = flix_solution(ALPHA, y)
    expected = ALPHA[:, None] * x + (1 - ALPHA)[:, None] * y
    rules = [
        (Flix(alpha=alpha, anchors=anchors), 0.3),
        (Scaffnew(p=0.5, alpha=alpha, anchors=anchors), GAMMA),
        (Scaffnew.scafflix(problem, p=0.5, alpha=alpha, eta=torch.from_numpy(GAMMA), anchors=anchors), GAMMA),
    ]
    for rule, eta in rules:
        models, _ = final(problem, rule, eta, 250)
        # contraction 1 - min(gamma mu, p^2) and 1 - eta mean(alpha^2 mu) of squares: 0.85 per iteration
        np.testing.assert_allclose(models, expected, atol=1e-11)


def two_clients() -> Quadratics:
    """f_1 = x^2 / 2, f_2 = (x - 2)^2 / 2; with alpha = (1, 1/2) and their optima as anchors FLIX has x* = 0.4."""
    return Quadratics.of(np.full((2, 1, 1), 0.5), [[0.0], [-2.0]], sigma2=0.0)


def test_starts_after_one_communication():
    """Gradients at x = 0 are (0, -1). Printed: minus their mean, sum alpha h = 1/4, so 1.25 x - 0.5 = 0.25."""
    problem, alpha = two_clients(), torch.tensor([1.0, 0.5], dtype=torch.float64)
    corrected = Scaffnew.scafflix(problem, p=0.5, alpha=alpha, eta=0.5)
    printed = Scaffnew.scafflix(problem, p=0.5, alpha=alpha, eta=0.5, start="printed")
    for rule, expected in ((corrected, 0.4), (printed, 0.6)):
        np.testing.assert_allclose(final(problem, rule, 0.5, 150)[0][0, 0], expected, atol=1e-12)
    with pytest.raises(InputError, match=r"^start = 'print': use corrected or printed"):
        Scaffnew.scafflix(problem, p=0.5, alpha=alpha, eta=0.5, start="print")
    given = Scaffnew.scafflix(problem, p=0.5, alpha=alpha, eta=torch.tensor([0.5, 0.1])).control
    assert given is not None
    np.testing.assert_allclose(alpha.numpy() @ given.numpy(), 0, atol=1e-15)


def test_exact_gradients_on_request():
    clean, noisy = built(0.0), built(2.0)
    for make in (
        lambda population: Flix(alpha=0.5, population=population),
        lambda population: Scaffnew(p=P, population=population),
    ):
        one = run(clean, make(False), iterations=5, eta=0.1, seeds=2).excess
        np.testing.assert_array_equal(run(noisy, make(True), iterations=5, eta=0.1, seeds=2).excess, one)
        assert (run(noisy, make(False), iterations=5, eta=0.1, seeds=2).excess[:, 1:] != one[:, 1:]).all()
