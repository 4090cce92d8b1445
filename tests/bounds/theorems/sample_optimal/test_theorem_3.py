"""Theorem 3 and Corollary 1 of the sample-optimality paper: the star, weights without clusters, special cases."""

from __future__ import annotations

import numpy as np
from records import bound_of, definition_of  # tests/helpers

from suffice.bounds.threshold_weights import component_weights, spectrum, threshold_weights

bound, definition = bound_of("sample-optimal"), definition_of("sample-optimal")

ROUNDING = 1 + 1e-9


def star(N):
    """Agent 0 averages everyone, everyone else averages itself and agent 0."""
    weights = np.zeros((N, N))
    weights[0] = 1 / N
    weights[1:, 0] = weights[range(1, N), range(1, N)] = 0.5
    return weights


# --- Theorem 3


def test_the_whole_step_diverges_on_a_star():
    smax = spectrum(star(100)).smax
    np.testing.assert_allclose(smax - 1, 24, rtol=1e-3)  # |1 - eta smax| at eta = 1/L


def test_a_tiny_eigenvalue_makes_the_last_iterates_plan_useless_and_not_the_averaged_one():
    rng = np.random.default_rng(5)
    m = 0.3 * rng.normal(size=10)
    b, eps = abs(np.subtract.outer(m, m)), 0.05
    weights = threshold_weights(b=b, threshold=eps**0.5)
    found = spectrum(weights)
    values = {"beta": 1.0, "smax": found.smax, "eps": eps, "sigma2": 1.0}
    values["peer_excess"] = definition("theorem-3-misfit")(weights=weights, b=b, mu=np.array(1.0))
    weight2, lambda2 = (definition(f"theorem-3-{key}")(weights=weights) for key in ("weight2", "lambda2"))
    last = bound("theorem-3-rounds", mu=1.0, e0=0.5, smin=found.smin, weight2=weight2, **values)
    assert last > 1000 * bound("theorem-3-averaged-rounds", lambda2=lambda2, mean_distance2=1.0, **values)


# --- Corollary 1


def test_corollary_1_as_printed_promises_no_round_for_a_start_just_above_the_precision():
    values = {"mu": 1.0, "beta": 1.0, "eps": 1.0, "e0": 1.05, "sigma2": 0.0, "lambda2": 1.0}
    printed = bound("corollary-1", "printed", **values)
    np.testing.assert_allclose(printed, 0.098, rtol=0, atol=5e-4)
    assert np.floor(printed) == 0  # "at most 0.098 rounds": the error is still F^0 > eps
    assert np.ceil(bound("corollary-1", **values)) == 1


def test_the_rounds_of_all_are_not_at_most_the_mean_of_each_agents_rounds():
    # two agents that share nothing: e_0 = (100, 1) eps, kappa = 1, no noise; the logarithm is concave
    values = {"mu": 1.0, "beta": 1.0, "eps": 1.0, "sigma2": 0.0, "lambda2": 1.0}
    together = bound("corollary-1", "printed", e0=50.5, **values)
    apart = [bound("corollary-1", "printed", e0=e0, **values) for e0 in (100.0, 1.0)]
    np.testing.assert_allclose([together, np.mean(apart)], [7.84, 4.61], rtol=0, atol=6e-3)


def test_a_chain_joined_by_thresholds_is_no_cluster():
    # ten agents with b_ij = |i - j| sqrt(mu eps): one connected component, bias 8.25 eps instead of eps/2
    mu, eps = 0.3, 0.2
    b = abs(np.subtract.outer(np.arange(10.0), np.arange(10.0))) * (mu * eps) ** 0.5
    weights = component_weights(b=b, threshold=(mu * eps) ** 0.5 * ROUNDING)
    bias = definition("theorem-3-misfit")(weights=weights, b=b, mu=np.array(mu))
    np.testing.assert_allclose(bias / eps, 8.25, rtol=1e-12)


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
