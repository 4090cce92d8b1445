"""Federated clustering: inner rounds of threshold clustering around each client's gradient, and its radii."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from paths import N, assert_follows, built, randomness

from suffice.simulate import FederatedClustering, FixedRadius, QuantileRadius, TwoMeansRadius


def fixed(distances: np.ndarray) -> float:
    return 3.0


def quantile(distances: np.ndarray) -> float:
    return np.sort(distances)[2]  # the third nearest of 6: a fraction of 0.5


def two_means(distances: np.ndarray) -> float:
    x = np.sort(distances)
    squares = [((x[:j] - x[:j].mean()) ** 2).sum() + ((x[j:] - x[j:].mean()) ** 2).sum() for j in range(1, N)]
    return x[int(np.argmin(squares))]


RULES = {
    "fixed": (FederatedClustering(radius=FixedRadius(tau=3.0), rounds=4), fixed),
    "quantile": (FederatedClustering(radius=QuantileRadius(fraction=0.5), rounds=4), quantile),
    "two means": (FederatedClustering(radius=TwoMeansRadius(), rounds=3), two_means),
    "one round": (FederatedClustering(radius=QuantileRadius(fraction=0.5), rounds=1), quantile),
}


def clustering(rule: FederatedClustering, radius, sizes: list):
    def path(seed, g, theta):
        t = 0
        yield theta
        while True:
            t += 1
            after = np.empty_like(theta)
            for i in range(N):
                gradients = [g(k, theta[i], t) for k in range(N)]
                v = gradients[i]
                for _ in range(rule.rounds):
                    distances = np.array([np.linalg.norm(x - v) for x in gradients])
                    near = distances <= radius(distances)
                    v = np.mean([x if inside else v for x, inside in zip(gradients, near)], axis=0)
                    sizes.append(near.sum())
                after[i] = theta[i] - 0.1 * v
            theta = after
            yield theta

    return path


@pytest.mark.parametrize("name", RULES)
def test_paths_are_those_of_a_plain_transcription(name):
    rule, radius = RULES[name]
    sizes: list[int] = []
    assert_follows(rule, clustering(rule, radius, sizes))
    assert set(sizes) == {3} if radius is quantile else len(set(sizes)) > 2


def test_weights_are_convex_and_give_the_step():
    problem, (rule, _) = built(), RULES["two means"]
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
    np.testing.assert_array_equal(TwoMeansRadius()(distances), [[3, 7]])
    for fraction, expected in [(0.2, 0), (0.21, 1), (0.4, 1), (0.6, 3), (0.8, 10), (1.0, 11), (1e-9, 0)]:
        np.testing.assert_array_equal(QuantileRadius(fraction=fraction)(distances), [[expected, 7]])
    fifty = torch.arange(50.0)[None, None]
    assert 0.14 * 50 > 7  # as rounded; the seventh nearest is meant
    assert float(QuantileRadius(fraction=0.14)(fifty)) == 6
