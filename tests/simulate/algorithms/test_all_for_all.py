"""All-for-all, its estimated weights, and All-for-one with fixed weights: rules, thresholds, clusters found."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from paths import D, N, built, parts, randomness

from suffice.simulate import AllForAll, EstimatedAllForAll, FixedWeights, Quadratics, Stream, run


@pytest.mark.parametrize("connected", [True, False], ids=["components", "threshold"])
def test_estimated_paths_are_those_with_the_weights_of_a_plain_transcription(connected):
    """Those of All-for-all with weights from the clients' gradients at the mean of the starts, each of six samples."""
    A, xi, sigma2, start = parts()
    samples, threshold, links, problem = 6, 2.6, [], built()

    def weights(seed):
        z = randomness(seed).normal(iteration=1, stream=Stream.SIMILARITY, clients=N, features=samples * D)[0].numpy()
        noise = np.sqrt(sigma2 / D)[:, None] * z.reshape(N, samples, D).mean(1)
        g = np.array([2 * A[i] @ (start.mean(0) + xi[i]) for i in range(N)]) + noise
        linked = np.linalg.norm(g[:, None] - g[None], axis=-1) <= threshold
        links.append(linked.sum() - N)
        if connected:
            for _ in range(N):
                linked = linked.astype(int) @ linked > 0
        return linked / linked.sum(1, keepdims=True)

    rule = EstimatedAllForAll(samples=samples, threshold=threshold, connected=connected)
    for seed in range(70, 73):
        setting = {"iterations": 13, "eta": 0.1, "seeds": range(seed, seed + 1), "root": 3}
        known = AllForAll(Lambda=torch.from_numpy(weights(seed)))
        np.testing.assert_allclose(*(run(problem, each, **setting).excess for each in (rule, known)), rtol=1e-10)
    assert 0 < sum(links) < len(links) * N * (N - 1)


B = np.array([[0.0, 1, 3, np.inf], [1, 0, 2, 3], [3, 2, 0, 1], [np.inf, 3, 1, 0]])


def test_thresholds_keep_dissimilarities_up_to_the_root_of_mu_epsilon():
    rule = FixedWeights.threshold(B, mu=0.5, epsilon=[2.0, 8.0, 2.0, 1.0])  # thresholds 1, 2, 1, 0.7
    third = 1 / 3
    expected = [[0.5, 0.5, 0, 0], [third, third, third, 0], [0, 0, 0.5, 0.5], [0, 0, 0, 1]]
    np.testing.assert_allclose(rule.alpha, expected, rtol=1e-15)
    assert (rule.oracle_calls(built(), None), rule.vectors_sent(built(), None)) == (8, 8)


def test_oracle_clusters_average_inside_each_cluster():
    half = np.array(
        [[0.5, 0, 0.5, 0, 0], [0, 1, 0, 0, 0], [0.5, 0, 0.5, 0, 0], [0, 0, 0, 0.5, 0.5], [0, 0, 0, 0.5, 0.5]]
    )
    labels = ["a", "b", "a", "c", "c"]
    np.testing.assert_array_equal(FixedWeights.clusters(labels).alpha, half)
    oracle = AllForAll.clusters(labels)
    np.testing.assert_array_equal(oracle.W, half)
    assert (oracle.oracle_calls(built(), None), oracle.vectors_sent(built(), None)) == (N, 4)


def test_connected_components_make_a_projection_of_a_chain():
    chain = np.abs(np.subtract.outer(np.arange(4), np.arange(4))).astype(float)
    whole = AllForAll.threshold(chain, mu=1.0, epsilon=1.0)
    np.testing.assert_allclose(whole.W, np.full((4, 4), 0.25), rtol=1e-14)


def test_clusters_are_found_from_samples_and_paid_for_once():
    """Means of 40 samples of deviation 1 against centres 2 apart: the chance of one wrong pair is below 1e-6."""
    labels, d = np.array([0, 0, 1, 1, 2, 2]), 2
    centres = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])[labels]
    problem = Quadratics.of(np.tile(np.eye(d) / 2, (6, 1, 1)), -centres, sigma2=1.0)
    rule = EstimatedAllForAll(samples=40, threshold=1.0)
    trace = run(problem, rule, iterations=3, eta=0.5, seeds=20, weights=list(range(20)))
    oracle = run(problem, AllForAll.clusters(labels.tolist()), iterations=3, eta=0.5, seeds=20)
    np.testing.assert_allclose(
        trace.weights[:, 1:], np.tile((labels[:, None] == labels) / 2, (20, 3, 1, 1)), atol=1e-15
    )
    np.testing.assert_allclose(trace.excess, oracle.excess, rtol=1e-12)
    np.testing.assert_array_equal(trace.oracle_calls, [0, 6 + 240, 12 + 240, 18 + 240])
    np.testing.assert_array_equal(trace.vectors_sent, [0, 60, 90, 120])
