"""Theorems 1 to 3 of the sample-optimality paper: the best level, and definitions."""

from __future__ import annotations

import numpy as np
import pytest
from needed_rounds import needed_rounds
from records import bound_of, definition_of  # tests/helpers

from suffice.bounds.bayes_risk import inverse_risk
from suffice.bounds.theorems.sample_optimal.lower_bound import HALF, signal

bound, definition = bound_of("sample-optimal"), definition_of("sample-optimal")


@pytest.mark.parametrize(("N", "gain"), [(10, 1.04), (100, 2.6), (1000, 17), (10000, 163)])
def test_the_best_level_gains_without_limit_over_two_eps(N, gain):
    b = np.append(0, np.full(N - 1, 1.5))
    best = needed_rounds(b=b, mu=1.0, sigma2=1.0, eps=1.0, ball=100.0)
    np.testing.assert_allclose(best / (HALF / signal(b=b, mu=1.0, e0=2.0)), gain, rtol=0.025)


def test_the_best_level_beats_a_fine_grid():
    rng = np.random.default_rng(1)
    for _ in range(40):
        N, mu, eps = int(rng.integers(1, 30)), np.exp(rng.normal()), np.exp(rng.normal())
        b = np.append(0, rng.uniform(0, 3, N - 1)) * (mu * eps) ** 0.5
        ball = (2 * eps / mu * rng.uniform(1.01, 5)) ** 0.5
        levels = eps * np.exp(np.linspace(1e-3, np.log(mu * ball**2 / 2 / eps), 1001))
        values = 2.0 / signal(b=b, mu=mu, e0=levels) * inverse_risk(eps / levels) ** 2
        # the grid of the search is logarithmic with steps of 7 %, refined once
        assert needed_rounds(b=b, mu=mu, sigma2=2.0, eps=eps, ball=ball) >= values.max() * (1 - 1e-3)


def test_definitions_of_vectors_are_the_sums_they_say():
    rng = np.random.default_rng(10)
    weights, b, s2 = rng.dirichlet(np.ones(5)), rng.exponential(size=5), rng.exponential(size=5)
    np.testing.assert_allclose(definition("theorem-2-lambda2")(weights=weights), sum(w**2 for w in weights), rtol=1e-14)
    np.testing.assert_allclose(definition("theorem-2-bias")(weights=weights, b=b), sum(weights * b), rtol=1e-14)
    np.testing.assert_allclose(definition("theorem-2-bias2")(weights=weights, b=b), sum(weights * b * b), rtol=1e-14)
    mu, growth, e0 = np.array(0.4), np.array(3.0), np.array(1.7)
    noise = sum(w**2 * (s + 6 * x**2 / 0.4) for w, s, x in zip(weights, s2, b))
    got = definition("theorem-2-noise")(weights=weights, sigma2=s2, b=b, mu=mu, growth=growth)
    np.testing.assert_allclose(got, noise, rtol=1e-14)
    got = definition("theorem-1-signal")(b=b, mu=mu, e0=e0)
    np.testing.assert_allclose(got, sum(max((2 * 0.4 * 1.7) ** 0.5 - x, 0) ** 2 for x in b), rtol=1e-14)
    for key, factor in (("theorem-1-count", 4), ("theorem-2-count", 1)):
        assert definition(key)(b=b, mu=mu, eps=np.array(0.9)) == sum(x * x <= factor * 0.36 for x in b)


def test_definitions_of_matrices_are_the_sums_they_say():
    rng = np.random.default_rng(11)
    weights, b = rng.dirichlet(np.ones(4), 4), rng.exponential(size=(4, 4))
    W = np.array([[sum(x * y) for y in weights] for x in weights])
    np.testing.assert_allclose(definition("theorem-3-weight2")(weights=weights), (W**2).sum() / 4, rtol=1e-14)
    np.testing.assert_allclose(definition("theorem-3-lambda2")(weights=weights), np.trace(W) / 4, rtol=1e-14)
    got = definition("theorem-3-misfit")(weights=weights, b=b, mu=np.array(0.4))
    np.testing.assert_allclose(got, sum(weights.ravel() * b.ravel() ** 2) / 0.8 / 4, rtol=1e-14)
    ends = [definition(f"theorem-3-{key}")(weights=weights) for key in ("smin", "smax")]
    np.testing.assert_allclose(ends, np.linalg.eigvalsh(W)[[0, -1]], rtol=1e-9)  # eigvalsh errs by 1e-16 of smax


def test_the_growth_of_the_noise_is_the_largest_one_of_gaussian_features():
    """E n n^T = (u^T H u) H + H u u^T H at the distance u has a trace of at most A u^T H u, with equality somewhere."""
    rng = np.random.default_rng(11)
    root = rng.normal(size=(3, 3))
    H, u = root @ root.T, rng.normal(size=(20_000, 3))
    loss = np.einsum("nd,de,ne->n", u, H, u)
    growth = np.trace(H) + ((u @ H) ** 2).sum(1) / loss
    A = definition("theorem-2-growth")(H=H)
    assert A * (1 - 1e-3) < growth.max() <= A * (1 + 1e-14)
