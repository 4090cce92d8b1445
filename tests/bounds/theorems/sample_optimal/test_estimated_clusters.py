"""Section 6 of the sample-optimality paper: dissimilarities of linear models, clusters estimated from samples."""

from __future__ import annotations

import numpy as np
import pytest
from records import bound_of  # tests/helpers

from suffice.bounds import find

bound = bound_of("sample-optimal")

KEY = "sample-optimal/"
ROUNDING = 1 + 1e-9


def test_the_dissimilarity_of_linear_models_in_one_dimension():
    # a = 1, b = 0.1 and -0.1: gradients x - 0.1 and x + 0.1 at |x_i*| = 0.1
    xi = [np.outer(z, z) for z in ([1, 0.1], [1, -0.1])]
    frobenius = np.linalg.norm(xi[0] - xi[1])
    printed = bound("linear-dissimilarity", "printed", ball=0.1, scale=1.0, moment=frobenius)
    np.testing.assert_allclose(printed, 0.0283, rtol=0, atol=5e-5)
    corrected = bound("linear-dissimilarity", ball=0.1, scale=1.0, moment=np.linalg.norm(xi[0] - xi[1], 2))
    assert printed < 0.2 <= corrected < 0.202


def test_the_dissimilarity_of_linear_models_holds_in_any_unit_and_is_attained():
    rng = np.random.default_rng(7)
    ratios = []
    for _ in range(500):
        d, scale = int(rng.integers(1, 4)), np.exp(rng.normal())
        moments = rng.normal(size=(2, d + 2, d + 1))
        moments = moments.swapaxes(1, 2) @ moments  # E z z^T of two agents, z = (a, b)
        minimisers = [np.linalg.solve(M[:d, :d], M[:d, d]) for M in moments]
        exact = np.linalg.norm(moments[1][:d, :d] @ minimisers[0] - moments[1][:d, d])
        unit = np.append(np.full(d, scale), 1)
        moment = np.linalg.norm((moments[0] - moments[1]) * np.outer(unit, unit), 2)
        ball = max(np.linalg.norm(x) for x in minimisers)
        ratios.append(exact / bound("linear-dissimilarity", ball=ball, scale=scale, moment=moment))
    assert 0.8 < max(ratios) <= ROUNDING
    # a reflection that takes (x, -1) to the first axis, added to large moments with minimiser x
    x = 0.7
    v = np.array([x, -1]) / np.hypot(x, 1)
    axis = v - [1, 0]
    reflection = np.eye(2) - 2 * np.outer(axis, axis) / (axis @ axis)
    own = 1e6 * np.array([[1, x], [x, 1 + x**2]])
    other = own + reflection
    minimiser = other[0, 1] / other[0, 0]
    exact = abs(other[0, 0] * x - other[0, 1])
    np.testing.assert_allclose(
        exact / bound("linear-dissimilarity", ball=max(x, minimiser), scale=1.0, moment=1.0), 1, rtol=1e-5
    )


def clustered(rng, size, clusters, dim):
    """Means of xi in dim dimensions, one per agent: clusters at the corners of a simplex."""
    return np.repeat(np.eye(clusters, dim) * 3, size, axis=0)


def test_the_samples_find_the_clusters():
    rng = np.random.default_rng(8)
    size, clusters, dim, failure = 3, 3, 4, 0.05
    truth = clustered(rng, size, clusters, dim)
    root = np.diag([1.0, 0.7, 0.3, 0.1])
    gap = 3 * 2**0.5
    values = {"N": 9, "proxy_trace": np.trace(root @ root), "nu2": 1.0, "moment_gap": gap}
    S = int(np.ceil(bound("theorem-5-samples", failure=failure, **values)))
    same = np.equal.outer(np.arange(9) // size, np.arange(9) // size)

    def failures(S, runs=4000):
        estimated = truth + rng.normal(size=(runs, 9, dim)) @ root / S**0.5
        distances = np.linalg.norm(estimated[:, :, None] - estimated[:, None], axis=-1)
        return ((distances <= gap / 2) != same).any((1, 2)).mean()

    assert failures(S) <= failure
    assert failures(max(S // 20, 1)) > failure  # the statement asks for a few times too many, not for twenty


def test_one_pair_in_a_hundred_misjudged_puts_a_third_of_the_weight_on_strangers():
    # 400 agents, each its own cluster at equal distances: the printed bias lacks this factor M - 1
    rng = np.random.default_rng(10)
    estimated = np.eye(400) + rng.normal(size=(400, 3)) @ rng.normal(size=(3, 400)) / 25
    squares = (estimated**2).sum(1)
    b2 = squares[:, None] + squares - 2 * estimated @ estimated.T
    pairs = b2[np.triu_indices(400, 1)]
    linked = b2 <= np.quantile(pairs, 0.01)
    linked |= np.eye(400, dtype=bool)
    weights = linked / linked.sum(1, keepdims=True)
    assert (1 - np.diagonal(weights)).mean() > 1 / 3


def test_theorem_4_covers_samples_and_rounds_that_are_both_rounded_up():
    model = {"N": 4, "proxy_trace": 1.0, "nu2": 1.0, "moment_gap": 6.0}
    problem = {"mu": 1.0, "beta": 1.0, "eps": 0.5, "e0": 1.0, "sigma2": 1e-9, "size": 2}
    apart = bound("theorem-5-samples", failure=0.5, **model), bound("corollary-2", **problem)
    assert sum(apart) < 3.93 < 5 == sum(np.ceil(apart)) <= bound("theorem-4", b_max=0.5, **problem, **model)


def test_theorem_4_adds_the_samples_for_the_clusters_and_the_rounds():
    problem = {"mu": 0.5, "beta": 1.0, "eps": 0.01, "e0": 2.0, "sigma2": 3.0, "size": 10}
    model = {"N": 50, "proxy_trace": 4.0, "nu2": 1.0, "moment_gap": 0.5}
    failure = min(1 / 10, 0.5 * 0.01 / (2 * 0.3**2))
    apart = bound("theorem-5-samples", failure=failure, **model) + bound("corollary-2", **problem)
    np.testing.assert_allclose(bound("theorem-4", b_max=0.3, **problem, **model), apart + 2, rtol=1e-11)
    # at that failure probability and step Theorem 5 gives the precision
    eta = min(1, 0.5 * 0.01 * 10 / (2 * 3))
    T = int(np.ceil(bound("corollary-2", **problem)))
    values = {name: problem[name] for name in ("mu", "beta", "e0", "sigma2", "size")}
    assert 0.005 < bound("theorem-5", eta=eta, failure=failure, b_max=0.3, T=T, **values) <= 0.01 * ROUNDING


@pytest.mark.parametrize("key", ["theorem-1", "theorem-2-rounds-threshold", "theorem-4", "theorem-5", "corollary-2"])
def test_what_hides_constants_cannot_be_evaluated(key):
    theorem = find(KEY + key, "printed")
    assert theorem.bound is None
    assert theorem.order_only
    assert theorem.fault
