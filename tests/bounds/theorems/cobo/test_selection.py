"""CoBo's client selection near the clusters' centres: margins, updates and invariant balls against Algorithm 1."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.bounds import ConditionError, evaluate, find

ROUNDING = 1 + 1e-12  # twenty steps


def bound(key, edition, values, **more):
    return evaluate(find(key, edition), **(values | more))


def ball(rng, centre, radius, shape):
    direction = rng.normal(size=(*shape, len(centre)))
    return centre + radius * direction / np.linalg.norm(direction, axis=-1, keepdims=True)


def test_selection_margin_is_attained_and_never_exceeded_and_negative_exactly_in_the_ball_of_thales():
    rng = np.random.default_rng(11)
    for _ in range(100):
        own, peer = np.exp(rng.normal(size=2))
        m = rng.normal(size=(2, 3))
        D = np.linalg.norm(m[0] - m[1])
        r = rng.uniform(0, 0.5) * D
        at = {"own_curvature": own, "peer_curvature": peer, "separation": D, "radius": r}
        limit = bound("cobo/selection-margin", "corrected", at)
        x, y = ball(rng, m[0], r, (200,)), ball(rng, m[1], r, (200,))
        z = (np.concatenate([x, x]) + np.concatenate([y, x - m[0] + m[1]])) / 2
        inner = own * peer * ((z - m[0]) * (z - m[1])).sum(1)
        assert (inner <= limit + 1e-12 * own * peer * D**2).all()
        np.testing.assert_allclose(inner[200:], limit, atol=1e-12 * own * peer * D**2)
        z = ball(rng, m.mean(0), D / 2 * rng.uniform(0.5, 1.5), (50,))
        inside = np.linalg.norm(z - m.mean(0), axis=1) < D / 2
        np.testing.assert_array_equal(((z - m[0]) * (z - m[1])).sum(1) < 0, inside)


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


def test_near_their_centres_clusters_separate_in_the_predicted_number_of_updates_and_stay():
    rng = np.random.default_rng(12)
    centre_of = np.repeat([0, 1, 2], 3)
    cross = centre_of[:, None] != centre_of[None]
    centres = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    for _ in range(30):
        a = rng.uniform(0.5, 2, 9)
        start = centres[centre_of] + ball(rng, np.zeros(2), 1.0, (9,)) * rng.uniform(0, 1, (9, 1))
        at = {"own_curvature": a.min(), "peer_curvature": a.min(), "separation": 10.0, "radius": 1.0}
        enough = 1 / -bound("cobo/selection-margin", "corrected", at)
        rho = 0.5
        step = 1 / (a.max() + 2 * rho)
        weights, distances = run(centre_of, a, centres, start, eta=step, rho=rho, gamma=enough, steps=20)
        np.testing.assert_allclose(bound("cobo/selection-time", "corrected", at, weight_step=enough), 1, rtol=1e-11)
        assert (weights[:, cross] == 0).all()  # from the first update on, hence before the first step
        assert (weights[:, ~cross] == 1).all()
        radius = bound(
            "cobo/selection-radius",
            "corrected",
            {"eta": step, "mu": a.min(), "beta": a.max(), "rho": rho, "size": 3, "radius": 1.0, "T": np.arange(1, 21)},
        )
        assert (distances <= radius * ROUNDING).all()
    slow, _ = run(centre_of, a, centres, start, eta=0.0, rho=rho, gamma=enough / 7.5, steps=9)  # models held
    assert (slow[7][cross] == 0).all()
    assert (slow[0][cross] > 0).any()


def test_a_cluster_at_one_point_contracts_exactly_and_a_longer_step_leaves_the_ball():
    centre_of, a = np.zeros(3, int), np.ones(3)
    at = {"mu": 1.0, "beta": 1.0, "rho": 2.0, "size": 3, "radius": 1.0, "T": 1}
    together = np.ones((3, 1))
    _, distance = run(centre_of, a, np.zeros((1, 1)), together, eta=0.2, rho=2.0, gamma=1.0, steps=1)
    np.testing.assert_allclose(distance, bound("cobo/selection-radius", "corrected", at, eta=0.2), rtol=1e-11)
    opposite = np.array([[1.0], [-1.0], [-1.0]])
    _, distance = run(centre_of, a, np.zeros((1, 1)), opposite, eta=0.35, rho=2.0, gamma=0.0, steps=1)
    assert distance[0] > 1
    with pytest.raises(ConditionError, match="step size eta"):
        bound("cobo/selection-radius", "corrected", at, eta=0.35)


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
