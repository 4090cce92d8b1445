"""Theorems 1 to 3 of the sample-optimality paper: the best level, the best fixed weights, and definitions."""

from __future__ import annotations

import numpy as np
import pytest
from needed_rounds import needed_rounds
from records import bound_of, definition_of  # tests/helpers
from scipy.optimize import minimize

from suffice.bounds.bayes_risk import inverse_risk
from suffice.bounds.theorems.sample_optimal.lower_bound import HALF, signal
from suffice.bounds.threshold_weights import precision_weights

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


def cost(weights, b, c, sigma2):
    return (weights**2 * sigma2).sum(-1) / (c - weights @ b) ** 2


def solved(g, sigma2):
    """z = lambda/(c - B): least sum sigma^2 z^2 with sum (c - b) z = 1, z >= 0."""
    constraint = {"type": "eq", "fun": lambda z: g @ z - 1, "jac": lambda z: g}
    return minimize(
        lambda z: ((sigma2 * z**2).sum(), 2 * sigma2 * z), np.full(len(g), 1 / len(g)), jac=True, method="SLSQP",
        bounds=[(0, None)] * len(g), constraints=constraint, options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip


def test_a_solver_finds_no_better_weights():
    rng = np.random.default_rng(5)
    for _ in range(100):
        n = rng.integers(2, 8)
        b, sigma2 = np.append(0, rng.exponential(size=n - 1)), 10.0 ** rng.uniform(-1, 1, n)
        mu, eps = 10.0 ** rng.uniform(-1, 1, 2)
        c = np.sqrt(2 * mu * eps)
        ours = precision_weights(b=b, mu=mu, eps=eps, sigma2=sigma2)
        found = solved(c - b, sigma2)
        least = cost(ours, b, c, sigma2)
        np.testing.assert_allclose(least, 1 / (np.maximum(c - b, 0) ** 2 / sigma2).sum(), rtol=1e-12)
        np.testing.assert_allclose(least, found.fun, rtol=1e-6)  # what the solver stops at
        others = rng.dirichlet(np.full(n, 0.3), 200)
        others = others[others @ b < c]
        assert (cost(others, b, c, sigma2) >= least * (1 - 1e-12)).all()


def test_they_are_water_filling_at_a_known_level_and_the_two_records_agree():
    rng = np.random.default_rng(6)
    for _ in range(50):
        b, mu, eps = np.append(0, rng.exponential(size=6)), rng.uniform(0.2, 1), rng.uniform(0.1, 3)
        weights = precision_weights(b=b, mu=mu, eps=eps)
        given = {"mu": mu, "beta": 5 * mu, "eps": eps, "distance2": 40.0, "sigma2": 0.7, "lambda2": (weights**2).sum()}
        signal2 = (np.maximum(np.sqrt(2 * mu * eps) - b, 0) ** 2).sum()
        if weights @ b <= 0.9 * np.sqrt(2 * mu * eps):
            one = bound("theorem-2-mixture-rounds", bias=weights @ b, **given)
            np.testing.assert_allclose(one, bound("theorem-2-optimal-rounds", signal2=signal2, **given), rtol=1e-10)
