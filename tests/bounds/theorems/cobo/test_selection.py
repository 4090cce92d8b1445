"""CoBo's client selection near the clusters' centres: margins, updates and invariant balls against Algorithm 1."""

from __future__ import annotations

import numpy as np


def run(centre_of, a, centres, start, *, eta, rho, gamma, steps):
    """Algorithm 1 with exact gradients and every pair sampled: weights, and the largest distance to the centres."""
    n = len(a)
    x, w = start.copy(), np.ones((n, n))
    m = centres[centre_of]
    weights, distances = [], []
    for _ in range(steps):
        z = (x[:, None] + x[None]) / 2
        own, peer = a[:, None, None] * (z - m[:, None]), a[None, :, None] * (z - m[None])
        w = np.clip(w + gamma * (own * peer).sum(-1), 0, 1)
        x = x - eta * (a[:, None] * (x - m) + rho * (w.sum(1)[:, None] * x - w @ x))
        weights.append(w)
        distances.append(np.linalg.norm(x - m, axis=1).max())
    return np.array(weights), np.array(distances)


def test_far_from_the_centres_different_clusters_stay_linked():
    centre_of, a = np.array([0, 1]), np.ones(2)
    weights, _ = run(
        centre_of, a, np.array([[0.0], [1.0]]), np.full((2, 1), 99.0), eta=0.01, rho=1.0, gamma=0.01, steps=10
    )
    assert (weights == 1).all()  # Algorithm 1 starts at 1, and the inner product is positive here


def test_a_positive_cross_weight_may_pull_a_model_out_of_its_ball():
    centre_of, a, centres = np.array([0, 1]), np.ones(2), np.array([[0.0], [10.0]])
    _, distance = run(centre_of, a, centres, centres, eta=0.5, rho=1.0, gamma=0.024 / 25, steps=1)
    np.testing.assert_allclose(distance, 4.88, rtol=1e-12)  # w = 1 - 0.024; beyond r = 0 and near D/2
