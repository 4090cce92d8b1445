"""Batch sizes, running step ratios and limits of variances of the adaptive paper."""

from __future__ import annotations

import numpy as np
import pytest
from records import definition_of  # tests/helpers

import suffice as sf
from suffice.bounds import collaboration_weights, sufficient_variance
from suffice.bounds.step_size_condition import binary_running, continuous_running, sharp_running

definition = definition_of("adaptive")

ROUNDING = 1 + 1e-12  # sums of at most ten positive terms, and outward rounding of 4.5e-13
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


def running_step_ratio(criterion, **given):
    if criterion.kind == "binary":
        return binary_running(threshold=criterion.threshold, **given)
    return (continuous_running if criterion.kind == "continuous" else sharp_running)(**given)


def clients(rng, peers):
    """Similarities (own first, 1) and variances."""
    return np.append(1.0, rng.uniform(0, 1, peers) ** 2), np.exp(rng.uniform(-3, 3, peers + 1))


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
        rho, sigma2 = clients(rng, rng.integers(0, 5))
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
