"""Definitions 1 and 2: weights, variances, clusters, thresholds, entry precisions, batches, step ratios, limits."""

from __future__ import annotations

import numpy as np
import pytest
from records import bound_of, definition_of  # tests/helpers

import suffice as sf
from suffice.bounds import (
    best_threshold,
    collaboration_weights,
    entry_precisions,
    sufficient_cluster,
    sufficient_variance,
    tight_variance,
)
from suffice.bounds.step_size_condition import binary_running, continuous_running, sharp_running

CRITERIA = [
    sf.Binary(threshold=0.2),
    sf.Binary(threshold=0.6),
    sf.Continuous(),
    sf.Sharp(),
    sf.Custom(function=lambda x: np.asarray(x) ** 2),
]
IDS = [criterion.kind + str(getattr(criterion, "threshold", "")) for criterion in CRITERIA]
each = pytest.mark.parametrize("criterion", CRITERIA, ids=IDS)
each_named = pytest.mark.parametrize("criterion", CRITERIA[:-1], ids=IDS[:-1])
bound, definition = bound_of("adaptive"), definition_of("adaptive")
ROUNDING = 1 + 1e-12  # sums of at most ten positive terms, and outward rounding of 4.5e-13


def clients(rng, size):
    """Similarities (own first, 1) and variances."""
    return np.append(1.0, rng.uniform(0, 1, size - 1)), np.exp(rng.uniform(-2, 2, size))


def realised_variance(phi, r, sigma2):
    """V = sum_k alpha_k^2 sigma_k^2, by Definition 1 in plain loops."""
    weights = [phi(x) / s for x, s in zip(r, sigma2)]
    total = sum(w * x for w, x in zip(weights, r))
    return sum((w / total) ** 2 * s for w, s in zip(weights, sigma2))


def binary(threshold):
    return lambda x: threshold if x >= threshold else 0.0


@each
def test_identities_of_definition_1(criterion):
    rng = np.random.default_rng(4)
    for _ in range(100):
        r, sigma2 = clients(rng, rng.integers(1, 8))
        alpha = collaboration_weights(criterion, similarity=r, sigma2=sigma2)
        phi = criterion.phi(r)
        np.testing.assert_allclose((alpha * r).sum(), 1, rtol=1e-14)
        np.testing.assert_allclose(alpha.sum(), (phi / sigma2).sum() / (phi * r / sigma2).sum(), rtol=1e-13)
        V = (alpha**2 * sigma2).sum()
        np.testing.assert_allclose(V, realised_variance(criterion.phi, r, sigma2), rtol=1e-13)
        definition_2 = sufficient_variance(criterion, similarity=r, sigma2=sigma2)
        np.testing.assert_allclose(1 / definition_2, sum(p * x / s for p, x, s in zip(phi, r, sigma2)), rtol=1e-13)
        total, noise = (
            definition(f"definition-1-{key}")(values=phi, similarity=r, sigma2=sigma2) for key in ("total", "noise")
        )
        np.testing.assert_allclose([total, noise], [alpha.sum(), V], rtol=1e-13)
        assert total * ROUNDING >= 1
        peak = float(criterion.phi(np.ones(1))[0])
        assert definition_2 <= bound("definition-1-effective-local", sigma2=sigma2[0], peak=peak)
        assert noise <= bound("definition-1-variance-local", sigma2=sigma2[0], peak=peak)
        assert definition_2 * ROUNDING >= V
        assert tight_variance(criterion, similarity=r, sigma2=sigma2) * ROUNDING >= V
        assert tight_variance(criterion, similarity=r, sigma2=sigma2) <= definition_2 * ROUNDING


@pytest.mark.parametrize("threshold", [0.05, 0.2, 0.4, 0.5, 0.8, 1.0])
def test_tight_variance_is_never_below_the_variance_of_any_greater_similarity(threshold):
    rng = np.random.default_rng(9)
    for _ in range(60):
        rho, sigma2 = clients(rng, 5)
        tight = tight_variance(sf.Binary(threshold=threshold), similarity=rho, sigma2=sigma2)
        for _ in range(40):
            raised = rho + (1 - rho) * rng.uniform(0, 1, 5) ** 3
            raised = np.where(
                rng.random(5) < 0.5, np.maximum(rho, np.where(raised < threshold, threshold, raised)), rho
            )
            assert (raised >= rho).all()
            assert realised_variance(binary(threshold), raised, sigma2) <= tight * ROUNDING


@pytest.mark.parametrize("threshold", [0.05, 0.2, 0.4, 0.5, 0.8, 1.0])
def test_tight_variance_is_attained(threshold):
    rng = np.random.default_rng(10)
    joined = 0
    for _ in range(100):
        rho, sigma2 = clients(rng, 4)
        member = rho >= threshold
        S, P = (member / sigma2).sum(), (member * rho / sigma2).sum()
        mass = max((P - 2 * threshold * S) / threshold, 0)  # what maximises (S + x) / (P + lambda x)^2
        joined += mass > 0
        # one more peer of that mass, guaranteed nothing (rho = 0), turns out to be exactly lambda-similar
        rho, sigma2 = np.append(rho, 0.0), np.append(sigma2, 1 / mass if mass else 1.0)
        attained = rho.copy()
        attained[-1] = threshold if mass else 0
        tight = tight_variance(sf.Binary(threshold=threshold), similarity=rho, sigma2=sigma2)
        np.testing.assert_allclose(realised_variance(binary(threshold), attained, sigma2), tight, rtol=1e-12)
    assert (joined > 0) == (threshold < 0.5)


def test_best_threshold_beats_a_fine_grid_and_is_a_similarity():
    rng = np.random.default_rng(12)
    for size in range(1, 9):
        r, sigma2 = clients(rng, size)
        best = float(best_threshold(similarity=r, sigma2=sigma2))
        assert best in r
        psi = {x: x * sum(y / s for y, s in zip(r, sigma2) if y >= x) for x in [*np.linspace(1e-3, 1, 2000), *r]}
        np.testing.assert_allclose(psi[best], max(psi.values()), rtol=1e-14)
        got = sufficient_variance(sf.Binary(threshold=best), similarity=r, sigma2=sigma2)
        np.testing.assert_allclose(got, 1 / max(psi.values()), rtol=1e-13)


def test_best_threshold_takes_the_larger_of_two_equals_and_works_by_rows():
    # 0.5 (1 + 0.5 + 0.5) = 1 * 1: both thresholds reach the same sum
    rows = np.array([[1, 0.5, 0.5], [1, 0.6, 0.6], [1, 0.4, 0.4]])
    np.testing.assert_array_equal(best_threshold(similarity=rows, sigma2=np.ones(3)), [1, 0.6, 1])


@pytest.mark.parametrize("threshold", [0.0, 0.25, 0.6])
def test_entry_precisions_are_where_the_cluster_changes(threshold):
    rng = np.random.default_rng(14)
    off = 1 - np.eye(4)
    b2, c, mu = rng.uniform(0.1, 3, (4, 4)) * off, rng.uniform(0, 0.5, (4, 4)) * off, np.array([0.1, 0.5, 1, 2])
    affine = sf.GradientDissimilarity(b2=b2, c=c)
    entry = entry_precisions(affine, mu=mu, threshold=threshold)
    criterion = sf.Binary(threshold=threshold) if threshold else sf.Continuous()
    for i in range(4):
        assert entry[i, i] == 0
        for k in set(range(4)) - {i}:
            room = 1 - c[i, k] - threshold
            if room <= 0:
                assert np.isinf(entry[i, k])
                continue
            np.testing.assert_allclose(entry[i, k], b2[i, k] / (2 * mu[i] * room), rtol=1e-13)
            for precision, inside in ((entry[i, k] * (1 - 1e-9), False), (entry[i, k] * (1 + 1e-9), True)):
                rho = affine.similarity(2 * mu * precision)[i]
                assert sufficient_cluster(criterion, similarity=rho)[k] == inside
                assert sufficient_cluster(criterion, similarity=rho)[i]


def running_step_ratio(criterion, **given):
    if criterion.kind == "binary":
        return binary_running(threshold=criterion.threshold, **given)
    return (continuous_running if criterion.kind == "continuous" else sharp_running)(**given)


@each
def test_remark_1_batch_sizes_give_the_weights_of_definition_1(criterion):
    rng = np.random.default_rng(2)
    r, batch = np.append(1.0, rng.uniform(0, 1, 5)), rng.integers(1, 50, 6)
    alpha = collaboration_weights(criterion, similarity=r, sigma2=2.7 / batch)
    for k in range(6):
        ratio = definition("remark-1-ratio")(values=criterion.psi(r), batch=batch, peer_batch=batch[k])
        np.testing.assert_allclose(criterion.phi(r)[k] * ratio, alpha[k], rtol=1e-13)


@each_named
def test_running_step_ratio_is_the_least_ratio_above_the_known_similarities(criterion):
    rng = np.random.default_rng(7)
    grid = np.unique(np.append(np.linspace(0, 1, 401), getattr(criterion, "threshold", 0)))
    gains = []
    for _ in range(40):
        rho, sigma2 = clients(rng, rng.integers(1, 6))
        q = running_step_ratio(criterion, similarity=rho, sigma2=sigma2)
        # the minimum over r >= rho: client by client, since q is the root of a sum over clients
        phi, least = criterion.phi(grid), []
        for x in rho:
            own = np.append(grid[grid >= x], x)
            products = np.append(phi[grid >= x], criterion.phi(np.full(1, x)))
            at = np.argmin(products * (own - q))
            least.append(own[at])
        r = np.array(least)
        weight = criterion.phi(r)
        ratio = (weight * r / sigma2).sum() / (weight / sigma2).sum()
        assert q <= ratio * ROUNDING
        np.testing.assert_allclose(q, ratio, rtol=0, atol=1e-4)  # grid of 1/400: r errs by 1/800 at a minimum
        share = 1 / sigma2[0] / (1 / sigma2).sum()
        everywhere = float(criterion.step_ratio(share))
        assert q >= everywhere * (1 - 1e-12)
        gains.append(q / everywhere)
        for _ in range(20):
            higher = rho + (1 - rho) * rng.uniform(0, 1, len(rho)) ** 2 * rng.integers(0, 2, len(rho))
            alpha = collaboration_weights(criterion, similarity=higher, sigma2=sigma2)
            assert 1 / alpha.sum() >= q * (1 - 1e-12)
    assert max(gains) > 1.3


@each_named
def test_running_step_ratio_without_knowledge_is_the_step_ratio_and_1_for_a_client_alone(criterion):
    sigma2 = np.array([2.0, 0.5, 1.0])
    q = running_step_ratio(criterion, similarity=np.array([1.0, 0, 0]), sigma2=sigma2)
    np.testing.assert_allclose(q, criterion.step_ratio(0.5 / 3.5), rtol=1e-13)
    alone = running_step_ratio(criterion, similarity=np.ones(1), sigma2=sigma2[:1])
    np.testing.assert_allclose(alone, 1, rtol=1e-13)
    rows = np.array([[1, 0.3, 0.7], [1, 0.2, 0.0]])
    together = running_step_ratio(criterion, similarity=rows, sigma2=sigma2)
    apart = [running_step_ratio(criterion, similarity=row, sigma2=sigma2) for row in rows]
    np.testing.assert_allclose(together, apart, rtol=1e-14)


def test_limits_of_the_sufficient_variance_in_the_precision():
    c, b, sigma2 = np.array([0, 0.5, 0.2, 0.3]), np.array([0, 0, 0.7, 2.0]), np.array([1.0, 4, 2, 0.5])
    for criterion in (sf.Continuous(), sf.Sharp(), sf.Binary(threshold=0.75)):
        values = criterion.psi(1 - c)
        for eps, limit in (
            (1e-9, definition("definition-2-limit-zero")(values=values, b=b, sigma2=sigma2)),
            (1e15, definition("definition-2-limit-infinity")(values=values, left=values, b=b, sigma2=sigma2)),
        ):
            rho = np.maximum(1 - b**2 / (2 * 0.5 * eps) - c, 0)
            at = sufficient_variance(criterion, similarity=rho, sigma2=sigma2)
            np.testing.assert_allclose(at, limit, rtol=1e-13)
