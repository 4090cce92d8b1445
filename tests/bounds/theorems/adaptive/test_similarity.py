"""Weights, variances, step ratios and the estimator of the adaptive paper: identities, attainment, counterexamples."""

from __future__ import annotations

import numpy as np
import pytest
from records import bound_of, definition_of  # tests/helpers

from suffice.bounds import (
    Binary,
    Continuous,
    Custom,
    GradientDissimilarity,
    Sharp,
    best_threshold,
    collaboration_weights,
    sufficient_variance,
    tight_variance,
)
from suffice.bounds.running_step_ratio import running_step_ratio

bound, definition = bound_of("adaptive"), definition_of("adaptive")

ROUNDING = 1 + 1e-12  # sums of at most ten positive terms, and outward rounding of 4.5e-13
CRITERIA = [
    Binary(threshold=0.2),
    Binary(threshold=0.6),
    Continuous(),
    Sharp(),
    Custom(function=lambda x: np.asarray(x) ** 2),
]
each = pytest.mark.parametrize("criterion", CRITERIA, ids=lambda c: c.kind + str(getattr(c, "threshold", "")))


def clients(rng, peers):
    """Similarities (own first, 1) and variances."""
    return np.append(1.0, rng.uniform(0, 1, peers) ** 2), np.exp(rng.uniform(-3, 3, peers + 1))


@each
def test_definition_1_total_weight_and_noise_are_those_of_its_weights(criterion):
    rng = np.random.default_rng(1)
    for _ in range(50):
        r, sigma2 = clients(rng, rng.integers(0, 7))
        alpha = collaboration_weights(criterion, similarity=r, sigma2=sigma2)
        phi = criterion.phi(r)
        np.testing.assert_allclose((alpha * r).sum(), 1, rtol=1e-14)
        total = definition("definition-1-total")(values=phi, similarity=r, sigma2=sigma2)
        noise = definition("definition-1-noise")(values=phi, similarity=r, sigma2=sigma2)
        np.testing.assert_allclose([total, noise], [alpha.sum(), (alpha**2 * sigma2).sum()], rtol=1e-13)
        assert total * ROUNDING >= 1
        effective = sufficient_variance(criterion, similarity=r, sigma2=sigma2)
        assert noise <= effective * ROUNDING
        peak = float(criterion.phi(np.ones(1))[0])
        assert effective <= bound("definition-1-effective-local", sigma2=sigma2[0], peak=peak)
        assert noise <= bound("definition-1-variance-local", sigma2=sigma2[0], peak=peak)


@each
def test_remark_1_batch_sizes_give_the_weights_of_definition_1(criterion):
    rng = np.random.default_rng(2)
    r, batch = np.append(1.0, rng.uniform(0, 1, 5)), rng.integers(1, 50, 6)
    alpha = collaboration_weights(criterion, similarity=r, sigma2=2.7 / batch)
    for k in range(6):
        ratio = definition("remark-1-ratio")(values=criterion.psi(r), batch=batch, peer_batch=batch[k])
        np.testing.assert_allclose(criterion.phi(r)[k] * ratio, alpha[k], rtol=1e-13)


def test_weights_above_the_printed_1_and_never_above_the_corrected_bound():
    r, sigma2 = np.array([1, 0.5]), np.array([1.0, 1e-4])
    alpha = collaboration_weights(Binary(threshold=0.5), similarity=r, sigma2=sigma2)[1]
    assert bound("definition-1-weights", "printed", similarity=0.5) < 1.0001 < alpha
    got = bound("definition-1-weights", similarity=0.5, variance_ratio=1e-4)
    np.testing.assert_allclose(got, alpha, rtol=1e-12)  # attained: two clients, binary
    rng = np.random.default_rng(3)
    for criterion in CRITERIA:
        for _ in range(100):
            r, sigma2 = clients(rng, 4)
            alpha = collaboration_weights(criterion, similarity=r, sigma2=sigma2)
            limit = bound("definition-1-weights", similarity=r[1:], variance_ratio=sigma2[1:] / sigma2[0])
            assert (alpha[1:] <= limit).all()
            assert alpha[0] <= ROUNDING


@pytest.mark.parametrize("peak", [0.05, 0.1, 0.3, 0.49, 0.5, 0.8, 1.0])
def test_largest_variance_is_attained_by_binary_weights_and_by_no_criterion_exceeded(peak):
    limit = bound("largest-variance-binary", sigma2=3.0, threshold=peak)
    assert limit <= 3 / peak * ROUNDING
    mass = max((1 - 2 * peak) / peak, 0) / 3.0
    r = np.array([1.0, peak]) if mass else np.ones(1)
    sigma2 = np.array([3.0, 1 / mass]) if mass else np.full(1, 3.0)
    alpha = collaboration_weights(Binary(threshold=peak), similarity=r, sigma2=sigma2)
    np.testing.assert_allclose((alpha**2 * sigma2).sum(), limit, rtol=1e-12)
    rng = np.random.default_rng(4)
    for _ in range(300):  # any nondecreasing phi(r) <= min(r, peak)
        r = np.append(np.sort(rng.uniform(0, 1, 4)), 1.0)
        phi = np.append(np.minimum(np.maximum.accumulate(r[:-1] * rng.choice([1, 0.5], 4)), peak), peak)
        phi = np.minimum(phi, r)
        a = np.append(np.exp(rng.uniform(-3, 3, 4)), 1 / 3)
        assert (a * phi**2).sum() / (a * phi * r).sum() ** 2 <= limit * ROUNDING
    if peak == 0.1:
        np.testing.assert_allclose(limit / 3, 2.78, rtol=0, atol=5e-3)  # 1 / (4 * .1 * .9)


def test_largest_variance_of_continuous_weights_is_the_local_one():
    rng = np.random.default_rng(5)
    for _ in range(100):
        r, sigma2 = clients(rng, 3)
        limit = bound("largest-variance-continuous", sigma2=sigma2[0])
        assert sufficient_variance(Continuous(), similarity=r, sigma2=sigma2) <= limit
    np.testing.assert_allclose(limit, sufficient_variance(Continuous(), similarity=r[:1], sigma2=sigma2[:1]), 1e-12)


def test_sharp_step_ratio_is_never_above_the_realised_one_and_attained():
    rng = np.random.default_rng(6)
    for share in (0.9, 0.5, 0.1, 0.01, 1e-3):
        q = bound("remark-3-sharp", share=share)
        a = np.array([share, 1 - share])
        p = 2 / (3 + np.sqrt(1 + 8 / share))
        for r in (p * (2 - p), *rng.uniform(0, 1, 200)):
            phi = Sharp().phi(np.array([1, r]))
            ratio = (a * phi * [1, r]).sum() / (a * phi).sum()
            assert ratio >= q
            if r == p * (2 - p):
                np.testing.assert_allclose(ratio, q, rtol=1e-12)
    printed = bound("remark-3-sharp", share=np.array([0.5, 0.1, 0.01]))
    np.testing.assert_allclose(printed, [0.8866, 0.5833, 0.2433], rtol=0, atol=5e-5)


@each
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
        # grid of 1/400: r errs by 1/800 at a minimum; the custom criterion has cells of 1/4096
        np.testing.assert_allclose(q, ratio, rtol=0, atol=5e-3 if criterion.kind == "custom" else 1e-4)
        share = 1 / sigma2[0] / (1 / sigma2).sum()
        everywhere = float(criterion.step_ratio(share))
        assert q >= everywhere * (1 - 1e-12)
        gains.append(q / everywhere)
        for _ in range(20):
            higher = rho + (1 - rho) * rng.uniform(0, 1, len(rho)) ** 2 * rng.integers(0, 2, len(rho))
            alpha = collaboration_weights(criterion, similarity=higher, sigma2=sigma2)
            assert 1 / alpha.sum() >= q * (1 - 1e-12)
    assert max(gains) > 1.3


@each
def test_running_step_ratio_without_knowledge_is_the_step_ratio_and_1_for_a_client_alone(criterion):
    sigma2 = np.array([2.0, 0.5, 1.0])
    q = running_step_ratio(criterion, similarity=np.array([1.0, 0, 0]), sigma2=sigma2)
    tolerance = 5e-3 if criterion.kind == "custom" else 1e-13
    np.testing.assert_allclose(q, criterion.step_ratio(0.5 / 3.5), rtol=0, atol=tolerance)
    alone = running_step_ratio(criterion, similarity=np.ones(1), sigma2=sigma2[:1])
    np.testing.assert_allclose(alone, 1, rtol=1e-13)
    rows = np.array([[1, 0.3, 0.7], [1, 0.2, 0.0]])
    together = running_step_ratio(criterion, similarity=rows, sigma2=sigma2)
    apart = [running_step_ratio(criterion, similarity=row, sigma2=sigma2) for row in rows]
    np.testing.assert_allclose(together, apart, rtol=1e-14)


@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.5, 0.9])
def test_scalar_form_of_the_tight_binary_variance(threshold):
    rng = np.random.default_rng(8)
    gains = []
    for _ in range(50):
        rho, sigma2 = clients(rng, 5)
        member = rho >= threshold
        mass, similar = (member / sigma2).sum(), (member * rho / sigma2).sum()
        tight = bound("definition-2-binary", threshold=threshold, mass=mass, similar_mass=similar)
        expected = tight_variance(Binary(threshold=threshold), similarity=rho, sigma2=sigma2)
        np.testing.assert_allclose(tight, expected, rtol=1e-12)
        printed = bound("definition-2-binary", "printed", threshold=threshold, similar_mass=similar)
        np.testing.assert_allclose(
            printed, sufficient_variance(Binary(threshold=threshold), similarity=rho, sigma2=sigma2), rtol=1e-12
        )
        assert tight <= printed <= tight / threshold * ROUNDING
        gains.append(printed / tight)
    assert max(gains) > 1.05


def test_continuous_weights_have_at_most_the_variance_of_binary_ones():
    rng = np.random.default_rng(9)
    for _ in range(200):
        r, sigma2 = clients(rng, 6)
        threshold = rng.uniform(0.01, 1)
        member = r >= threshold
        mass, similar = (member / sigma2).sum(), (member * r / sigma2).sum()
        continuous = sufficient_variance(Continuous(), similarity=r, sigma2=sigma2)
        assert continuous <= bound("continuous-dominates", mass=mass, similar_mass=similar)
    equal = sufficient_variance(Continuous(), similarity=np.ones(3), sigma2=np.array([1.0, 2, 4]))
    np.testing.assert_allclose(equal, bound("continuous-dominates", mass=1.75, similar_mass=1.75), rtol=1e-12)


def gap(r, sigma2):
    """Definition 2's value of binary weights at the best threshold over that of continuous weights."""
    best = Binary(threshold=best_threshold(similarity=r, sigma2=sigma2))
    binary = sufficient_variance(best, similarity=r, sigma2=sigma2)
    return binary / sufficient_variance(Continuous(), similarity=r, sigma2=sigma2)


def balanced(peers, mass):
    """Similarities at which every threshold is as good: r (R + mass r) = 1, R the sum so far."""
    r, R = [1.0], 1.0
    for _ in range(peers):
        r.append((-R + np.sqrt(R**2 + 4 * mass)) / (2 * mass))
        R += mass * r[-1]
    return np.array(r), np.append(1.0, np.full(peers, 1 / mass))


@pytest.mark.parametrize(("clients_", "expected"), [(2, 1.382), (20, 2.635), (50, 3.107)])
def test_price_of_the_best_threshold_with_equal_variances(clients_, expected):
    worst = gap(*balanced(clients_ - 1, 1.0))
    np.testing.assert_allclose(worst, expected, rtol=0, atol=5e-4)
    limit = bound("best-threshold-gap", share=1 / clients_)
    np.testing.assert_allclose(limit, 1 + np.log(2 * clients_ - 1) / 2, rtol=1e-12)
    assert worst <= limit <= 1.13 * worst
    harmonic = sum(1 / k for k in range(1, clients_ + 1))
    assert (limit < harmonic) == (clients_ > 2)  # another valid factor, larger from three clients on


def test_price_of_the_best_threshold_is_attained_in_the_limit_and_never_exceeded():
    r, sigma2 = balanced(50_000, 1e-3)
    limit = bound("best-threshold-gap", share=1 / (1 / sigma2).sum())
    assert limit * (1 - 1e-3) <= gap(r, sigma2) <= limit  # the limit is of infinitely many peers
    rng = np.random.default_rng(10)
    for _ in range(500):
        r, sigma2 = clients(rng, rng.integers(0, 9))
        assert gap(r, sigma2) <= bound("best-threshold-gap", share=1 / sigma2[0] / (1 / sigma2).sum())


def test_limits_of_the_sufficient_variance_in_the_precision():
    c, b, sigma2 = np.array([0, 0.5, 0.2, 0.3]), np.array([0, 0, 0.7, 2.0]), np.array([1.0, 4, 2, 0.5])
    for criterion in (Continuous(), Sharp(), Binary(threshold=0.75)):
        values = criterion.psi(1 - c)
        for eps, limit in (
            (1e-9, definition("definition-2-limit-zero")(values=values, b=b, sigma2=sigma2)),
            (1e15, definition("definition-2-limit-infinity")(values=values, left=values, b=b, sigma2=sigma2)),
        ):
            rho = np.maximum(1 - b**2 / (2 * 0.5 * eps) - c, 0)
            at = sufficient_variance(criterion, similarity=rho, sigma2=sigma2)
            np.testing.assert_allclose(at, limit, rtol=1e-13)


def test_limit_at_zero_as_printed_inverts_the_variances():
    arrays = {"values": np.array([1, 0.25]), "b": np.zeros(2), "sigma2": np.array([1.0, 4.0])}
    # continuous, sigma = (1, 2), c = (0, 1/2), b = 0: 1 / (1 + 1/16) at every precision
    np.testing.assert_allclose(definition("definition-2-limit-zero")(**arrays), 0.9412, rtol=0, atol=5e-5)
    np.testing.assert_allclose(definition("definition-2-limit-zero", "printed")(**arrays), 0.5, rtol=1e-15)
    nobody = definition("definition-2-limit-zero")(values=np.ones(2), b=np.ones(2), sigma2=np.ones(2))
    assert np.isinf(nobody)


def test_limit_at_infinity_as_printed_counts_a_peer_that_never_enters():
    criterion, c, b, sigma2 = Binary(threshold=0.5), np.array([0, 0.5]), np.array([0, 1.0]), np.ones(2)
    values, left = criterion.psi(1 - c), criterion.psi((1 - c) * (1 - 1e-9))
    printed = definition("definition-2-limit-infinity", "printed")(values=values, sigma2=sigma2)
    right = definition("definition-2-limit-infinity")(values=values, left=left, b=b, sigma2=sigma2)
    heterogeneity = GradientDissimilarity(b2=np.array([[0, 1.0], [1, 0]]), c=np.array([[0, 0.5], [0.5, 0]]))
    for level in (1.0, 1e6, 1e12):
        rho = heterogeneity.similarity(np.full(2, level))[0]
        np.testing.assert_allclose(sufficient_variance(criterion, similarity=rho, sigma2=sigma2), right, rtol=1e-14)
    np.testing.assert_allclose([printed, right], [1 / 0.75, 2], rtol=1e-14)


def test_similarity_above_a_gradient_level_needs_no_pl():
    # R_i = 1 - cos(theta), R_k with gradient sin(theta) + .2 cos(3 theta): b = .2, c = 0; PL fails at pi
    theta = np.linspace(0, 2 * np.pi, 2001)
    own, peer = np.sin(theta), np.sin(theta) + 0.2 * np.cos(3 * theta)
    with np.errstate(all="ignore"):
        r = np.maximum(1 - (peer - own) ** 2 / own**2, 0)
    for G in (0.05, 0.3, 0.9):
        inside = own**2 >= G
        guaranteed = bound("lemma-2-gradient", b=0.2, c=0.0, G=G)
        assert inside.any()
        assert (r[inside] >= guaranteed).all()
        assert guaranteed > 0.1
