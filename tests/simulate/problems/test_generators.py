"""Generated problems have what they were asked for."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from suffice.simulate import (
    Local,
    Quadratics,
    Randomness,
    StreamingLeastSquares,
    expected_excess,
    generators,
)


def distances(problem: Quadratics) -> np.ndarray:
    at = problem.optimum.numpy()
    return np.linalg.norm(at[:, None] - at[None], axis=-1)


# --- structure


@pytest.mark.parametrize("sizes", [(2, 3, 1), (4,), (1, 1, 1, 1)])
def test_clusters_share_a_centre_and_are_equally_far_apart(sizes):
    problem = generators.clustered(sizes, 3, separation=1.7, sigma2=np.arange(1, sum(sizes) + 1.0), curvature=0.5)
    label = np.repeat(np.arange(len(sizes)), sizes)
    expected = 1.7 * (label[:, None] != label)
    np.testing.assert_allclose(distances(problem), expected, rtol=1e-12, atol=1e-15)
    assert [int(name.split(".")[0]) for name in problem.names] == label.tolist()
    np.testing.assert_allclose(problem.constants().mu, 0.5, rtol=1e-12)
    np.testing.assert_allclose(problem.sigma2, np.arange(1, sum(sizes) + 1.0))


def test_spread_moves_minimisers_about_their_centres_and_seeds_differ():
    one, two = (
        generators.clustered([400], 3, separation=1.0, spread=0.2, seed=seed).optimum.numpy() for seed in (3, 4)
    )
    assert not np.array_equal(one, two)
    assert abs(one.std() / 0.2 - 1) < 6 / np.sqrt(2 * one.size)
    again = generators.clustered([400], 3, separation=1.0, spread=0.2, seed=3).optimum.numpy()
    np.testing.assert_array_equal(one, again)


def test_a_continuum_has_evenly_growing_differences():
    problem = generators.continuum(6, 2, length=2.0, curvature=3.0)
    i = np.arange(6)
    gradient_gap = problem.gradient_gap(torch.randn(1, 6, 2, dtype=torch.float64))[0]  # the same everywhere
    np.testing.assert_allclose(gradient_gap.sqrt(), 3 * np.abs(i[:, None] - i) * 2 / 5, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("features", "condition"), [(2, 50.0), (5, 1e4), (3, 1.0), (1, 1.0)])
def test_condition_numbers_are_as_prescribed(features, condition):
    problem = generators.conditioned(4, features, condition, smoothness=2.5, seed=1)
    constants = problem.constants()
    np.testing.assert_allclose(constants.beta, 2.5, rtol=1e-12)
    np.testing.assert_allclose(constants.mu, 2.5 / condition, rtol=1e-9)
    if features > 1 and condition > 1:
        assert ((problem.A[0] - problem.A[1]).abs() > 1e-3).any()  # rotated differently


# --- the papers' settings


def test_cobo_example_has_isotropic_curvatures_and_clusters():
    """Its dissimilarity and least sum of gradients are then those of bounds/test_collaborativeness."""
    problem = generators.cobo_example(3, 2, 4, distance=1.5, seed=6)
    a = 2 * problem.A[:, 0, 0].numpy()
    assert 0.8 <= a.min() < a.max() <= 1.2
    assert len(set(a)) == 6
    label = np.repeat(np.arange(3), 2)
    np.testing.assert_allclose(distances(problem), 1.5 * (label[:, None] != label), rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(problem.A, a[:, None, None] * np.eye(4) / 2)


def test_the_stated_regression_has_two_clusters_that_share_their_optima_exactly():
    problem = generators.adaptive_regression("stated", 10, seed=2)
    at = problem.optimum.numpy()
    assert at.shape == (20, 10)
    assert len(np.unique(at, axis=0)) == 2
    np.testing.assert_array_equal(at[::2], np.tile(at[0], (10, 1)))
    np.testing.assert_array_equal(at[1::2], np.tile(at[1], (10, 1)))
    assert (problem.batch, problem.pairwise) == (2, False)
    assert not problem.label_noise.any()
    np.testing.assert_array_equal(problem.A, np.tile(np.eye(10), (20, 1, 1)))
    # the first client alone: moments of 20 clients in 10 dimensions are not needed
    start = problem.start[0].numpy()
    first = StreamingLeastSquares.of(problem.A[:1].numpy(), at[:1], batch=problem.batch, start=start)
    one = expected_excess(first, Local(), iterations=2, eta=1 / 8)[:, 0]
    np.testing.assert_allclose(one[1:] / one[:-1], 0.90625, rtol=1e-10)  # (4 beta)^-1 converges with batch 2


@pytest.mark.parametrize("features", [2, 10])
def test_the_published_regression_has_one_centre_a_bias_and_samples_of_pairs(features):
    problems = [generators.adaptive_regression("published", features, seed=seed) for seed in range(40)]
    at = np.stack([problem.optimum.numpy() for problem in problems])
    assert at.shape == (40, 20, features + 1)
    assert not at[..., -1].any()
    within = at[..., :-1] - at[..., :-1].mean(1, keepdims=True)
    deviation = np.sqrt((within**2).sum() / (40 * 19 * features))
    assert abs(deviation / 0.1 - 1) < 6 / np.sqrt(2 * 40 * 19 * features)
    centres = at[..., :-1].mean(1)
    assert np.abs(centres).max() < 5.2
    assert np.abs(centres.mean() / (10 / np.sqrt(12 * centres.size))) < 6
    assert centres.max() > 4
    assert centres.min() < -4
    start = np.stack([problem.start.numpy() for problem in problems])
    np.testing.assert_array_equal(start, start[:, :1].repeat(20, axis=1))
    assert 0.8 < np.abs(start).max() * np.sqrt(features) <= 1
    problem = problems[0]
    assert (problem.batch, problem.pairwise) == (1, True)
    draw = problem.draw(Randomness(seeds=torch.arange(3)), 1)
    assert draw.shape == (3, 20, 1, 20, features + 2)
    assert (draw[..., -2] == 1).all()  # the bias feature
    assert not draw[..., -1].any()  # no label noise
    np.testing.assert_allclose(problem.constants().beta, 2.0, rtol=1e-14)
