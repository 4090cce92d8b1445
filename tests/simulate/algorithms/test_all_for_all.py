"""All-for-all and All-for-one with fixed weights: rules and thresholds."""

from __future__ import annotations

import numpy as np
from paths import N, built

from suffice.simulate import AllForAll, FixedWeights

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
