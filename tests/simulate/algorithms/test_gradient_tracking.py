"""Gradient tracking: the printed recursion, what is conserved, where it converges."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from paths import SEEDS, N, assert_follows, built, costs, parts, simulated

from suffice.bounds import InputError
from suffice.simulate import Quadratics, Randomness
from suffice.simulate.algorithms import GradientTracking

LINE = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 3)]


def tracking(W: np.ndarray):
    def path(seed, g, start):
        x, t = start.copy(), 0
        y, last = np.zeros_like(x), np.zeros_like(x)
        yield x
        while True:
            t += 1
            now = np.array([g(i, x[i], t) for i in range(N)])
            y = np.array([sum(W[i, k] * (y[k] + now[k] - last[k]) for k in range(N)) for i in range(N)])
            x, last = np.array([sum(W[i, k] * (x[k] - 0.1 * y[k]) for k in range(N)) for i in range(N)]), now
            yield x

    return path


@pytest.mark.parametrize("rule", [GradientTracking.ring(N), GradientTracking.graph(N, LINE)], ids=["ring", "line"])
def test_paths_are_those_of_a_plain_transcription(rule):
    assert_follows(rule, tracking(rule.W.numpy()))


def test_metropolis_weights_are_symmetric_and_only_between_neighbours():
    W = GradientTracking.graph(N, LINE).W
    torch.testing.assert_close(W, W.T)
    torch.testing.assert_close(W.sum(1), torch.ones(N, dtype=torch.float64))
    edges = {(min(i, k), max(i, k)) for i, k in W.triu(1).nonzero().tolist()}
    assert edges == {(min(edge), max(edge)) for edge in LINE}
    assert W[0, 1] == 1 / 3  # degrees 2 and 2


def test_without_noise_everybody_reaches_the_optimum_of_the_mean_loss():
    A, xi, _, start = parts()
    quiet = Quadratics.of(A, xi, sigma2=0.0, start=start)
    solved = -np.linalg.solve(A.sum(0), np.einsum("kab,kb->a", A, xi))
    end = simulated(GradientTracking.ring(N), quiet, 400, 0.05)[-1, 0]
    np.testing.assert_allclose(end, np.tile(solved, (N, 1)), rtol=1e-10)


def test_the_trackers_mean_is_the_gradients_under_noise():
    rule, problem = GradientTracking.ring(N), built()
    source = Randomness(seeds=torch.tensor(SEEDS), root=3)
    state = rule.init(problem, problem.start.expand(len(SEEDS), -1, -1))
    for t in range(1, 20):
        state = rule.step(problem, state, rule.draw(problem, source, t), torch.tensor(0.1, dtype=torch.float64))
        torch.testing.assert_close(state["tracker"].mean(1), state["gradient"].mean(1), rtol=1e-11, atol=1e-12)


def test_costs_and_bad_input():
    assert costs(GradientTracking.ring(N), 1) == (N, 2 * 2 * N)
    with pytest.raises(InputError, match=r"^W = .*let every row and every column sum to 1"):
        GradientTracking(W=torch.full((N, N), 0.5, dtype=torch.float64)).init(built(), built().start[None])
    with pytest.raises(InputError, match=r"^edges = \(0, 9\)"):
        GradientTracking.graph(N, [(0, 9)])
