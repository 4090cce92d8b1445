"""Federated clustering: its weights and who counts."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from paths import built, randomness

from suffice.simulate import FederatedClustering, Quadratics


def test_weights_are_convex_and_give_the_step():
    problem, rule = built(), FederatedClustering(rounds=3)
    theta = problem.start[None]
    draw = rule.draw(problem, randomness(4), 1)
    weights = rule.collaboration(problem, {"models": theta}, draw)
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(-1), 1, rtol=1e-14)
    moved = rule.step(problem, {"models": theta}, draw, torch.tensor(0.1, dtype=torch.float64))["models"]
    np.testing.assert_allclose(moved, theta - 0.1 * problem.stochastic_gradient(theta, weights, draw.noise), rtol=1e-14)


@pytest.mark.parametrize(("fraction", "near"), [(1e-9, 1), (0.2, 1), (0.21, 2), (0.4, 2), (0.8, 4), (1.0, 5)])
def test_the_nearest_gradients_count_in_one_round(fraction, near):
    problem, rule = built(5), FederatedClustering(fraction=fraction, rounds=1)
    theta = problem.start[None]
    draw = rule.draw(problem, randomness(1), 1)
    assert ((rule.collaboration(problem, {"models": theta}, draw) > 0).sum(-1) == near).all()


def test_a_share_that_rounding_lifts_above_a_whole_number_is_that_number():
    assert 0.14 * 50 > 7  # as rounded; the seventh nearest is meant
    xi = np.arange(50.0)[:, None] ** 2
    problem, rule = (
        Quadratics.of(np.full((50, 1, 1), 0.5), xi, sigma2=0.0),
        FederatedClustering(fraction=0.14, rounds=1),
    )
    draw = rule.draw(problem, randomness(1), 1)
    assert ((rule.collaboration(problem, {"models": problem.start[None]}, draw) > 0).sum(-1) == 7).all()
