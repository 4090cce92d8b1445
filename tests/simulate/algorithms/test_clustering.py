"""Federated clustering: its weights and its radii."""

from __future__ import annotations

import numpy as np
import torch
from paths import built, randomness

from suffice.simulate import FederatedClustering, FixedRadius, QuantileRadius


def test_weights_are_convex_and_give_the_step():
    problem, rule = built(), FederatedClustering(rounds=3)
    theta = problem.start[None]
    draw = rule.draw(problem, randomness(4), 1)
    weights = rule.collaboration(problem, {"models": theta}, draw)
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(-1), 1, rtol=1e-14)
    moved = rule.step(problem, {"models": theta}, draw, torch.tensor(0.1, dtype=torch.float64))["models"]
    np.testing.assert_allclose(moved, theta - 0.1 * problem.stochastic_gradient(theta, weights, draw.noise), rtol=1e-14)


def test_radii_of_given_distances():
    distances = torch.tensor([[[0.0, 3.0, 1.0, 10.0, 11.0], [7.0, 7.0, 7.0, 7.0, 7.0]]], dtype=torch.float64)
    np.testing.assert_array_equal(FixedRadius(tau=2.0)(distances), [[2, 2]])
    for fraction, expected in [(0.2, 0), (0.21, 1), (0.4, 1), (0.6, 3), (0.8, 10), (1.0, 11), (1e-9, 0)]:
        np.testing.assert_array_equal(QuantileRadius(fraction=fraction)(distances), [[expected, 7]])
    fifty = torch.arange(50.0)[None, None]
    assert 0.14 * 50 > 7  # as rounded; the seventh nearest is meant
    assert float(QuantileRadius(fraction=0.14)(fifty)) == 6
