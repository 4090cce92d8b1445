"""Fixed weights: thresholds, components, the spectrum of W."""

from __future__ import annotations

import numpy as np

from suffice.bounds.spectral_gap import spectrum
from suffice.bounds.threshold_weights import component_weights, components, threshold_weights


def test_threshold_weights_are_equal_on_the_near_agents():
    b = np.array([[0, 0.5, 0.7, np.inf], [0.5, 0, 0.5, 0.2]])
    weights = threshold_weights(b=b, threshold=np.array([0.5, 0.1]))
    np.testing.assert_array_equal(weights, [[0.5, 0.5, 0, 0], [0, 1, 0, 0]])


def test_components_of_random_graphs_are_what_a_search_finds():
    rng = np.random.default_rng(1)
    for size in (1, 2, 5, 17, 40):
        graphs = rng.random((20, size, size)) < 0.7 / size
        for graph, labels in zip(graphs, components(graphs)):
            for start in range(size):
                seen, queue = {start}, [start]
                while queue:
                    at = queue.pop()
                    new = set(np.flatnonzero(graph[at] | graph[:, at])) - seen
                    seen |= new
                    queue += new
                assert set(np.flatnonzero(labels == labels[start])) == seen


def test_component_weights_are_a_projection_and_may_join_distant_agents():
    places = np.arange(10.0)
    b = abs(np.subtract.outer(places, places))
    joined = component_weights(b=b, threshold=1.0)
    np.testing.assert_array_equal(joined, np.full((10, 10), 0.1))
    b[5:, :5] = b[:5, 5:] = 100
    two = component_weights(b=np.stack([b, b]), threshold=np.array([1.0, 1000.0]))
    np.testing.assert_allclose(two[0] @ two[0], two[0], atol=1e-15)
    np.testing.assert_array_equal(two[0, 0], [0.2] * 5 + [0] * 5)
    np.testing.assert_array_equal(two[1], np.full((10, 10), 0.1))


def test_the_spectrum_is_that_of_w_and_knows_its_rank():
    rng = np.random.default_rng(6)
    weights = rng.dirichlet(np.ones(6), (5, 6))
    weights[0] = 1 / 6
    weights[1, 3] = weights[1, 2]
    found = spectrum(weights)
    np.testing.assert_array_equal(found.rank, [1, 5, 6, 6, 6])
    for row in range(5):
        eigenvalues = np.linalg.eigvalsh(weights[row] @ weights[row].T)[::-1]
        np.testing.assert_allclose(found.smax[row], eigenvalues[0], rtol=1e-13)
        # eigvalsh errs by about 1e-16 of the largest eigenvalue
        np.testing.assert_allclose(found.smin[row], eigenvalues[found.rank[row] - 1], rtol=1e-9)


def test_a_small_singular_value_is_not_taken_for_zero():
    small = 2.0**-20  # Lambda has the singular values 1 and 2 small: W is of rank 2, badly conditioned
    found = spectrum(np.array([[0.5 + small, 0.5 - small], [0.5 - small, 0.5 + small]]))
    assert found.rank == 2
    np.testing.assert_allclose([found.smin, found.smax], [4 * small**2, 1], rtol=1e-9)
