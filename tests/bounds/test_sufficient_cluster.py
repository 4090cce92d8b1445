"""Definitions 1 and 2: weights, sufficient variance and cluster, the best threshold, entry precisions."""

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

CRITERIA = [
    sf.Binary(threshold=0.2),
    sf.Binary(threshold=0.6),
    sf.Continuous(),
    sf.Sharp(),
    sf.Custom(function=lambda x: np.asarray(x) ** 2),
]
bound, definition = bound_of("adaptive"), definition_of("adaptive")
ROUNDING = 1 + 1e-12  # sums of at most ten positive terms


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


@pytest.mark.parametrize("criterion", CRITERIA, ids=lambda c: c.kind + str(getattr(c, "threshold", "")))
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
