"""Gradient tracking: Metropolis weights."""

from __future__ import annotations

import torch
from paths import N

from suffice.simulate.algorithms import GradientTracking

LINE = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 3)]


def test_metropolis_weights_are_symmetric_and_only_between_neighbours():
    W = GradientTracking.graph(N, LINE).W
    torch.testing.assert_close(W, W.T)
    torch.testing.assert_close(W.sum(1), torch.ones(N, dtype=torch.float64))
    edges = {(min(i, k), max(i, k)) for i, k in W.triu(1).nonzero().tolist()}
    assert edges == {(min(edge), max(edge)) for edge in LINE}
    assert W[0, 1] == 1 / 3  # degrees 2 and 2
