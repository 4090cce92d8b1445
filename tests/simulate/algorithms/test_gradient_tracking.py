"""Gradient tracking: the printed recursion, and Metropolis weights."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from paths import N, assert_follows

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
