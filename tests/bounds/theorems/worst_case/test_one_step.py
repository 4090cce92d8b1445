"""Exact worst cases beside Lemma 1 and Theorem 2: what these lose, and the printed example of the sharp step."""

from __future__ import annotations

import numpy as np
import pytest
from records import bound_of, definition_of  # tests/helpers

from suffice.bounds import evaluate, find

bound, definition = bound_of("worst-case"), definition_of("worst-case")

OUTWARD = 1 + 1e-12  # evaluate moves 4.5e-13


# --- one step ---


def change(eta, beta, alpha, r, gradient, V):
    """The largest E[e_t] - e_{t-1}: the record less |g|^2 / (2 beta)."""
    pull = definition("pull")(weights=alpha, similarity=r)
    got = bound("one-step", eta=eta, beta=beta, weight=alpha.sum(), pull=pull, gradient=gradient, V=V)
    return got - gradient**2 / (2 * beta)


def test_lemma_1_loses_at_most_a_factor_2_of_the_decrease():
    rng = np.random.default_rng(31)
    for _ in range(200):
        alpha, r = rng.uniform(0, 1, 4), rng.uniform(0, 1, 4)
        eta = rng.uniform(0, 1) / alpha.sum()
        lemma = -eta / 2 * (alpha * r).sum()
        exact = change(eta, 1.0, alpha, r, 1.0, 0.0)
        assert 2 * lemma <= exact + 1e-12
        assert exact <= lemma + 1e-12
    last = change(1 / alpha.sum(), 1.0, alpha, r, 1.0, 0.0)  # at eta beta A = 1 the loss is a variance
    share = alpha / alpha.sum()
    variance = (share * (1 - r)).sum() - (share * np.sqrt(1 - r)).sum() ** 2
    np.testing.assert_allclose(-(share * r).sum() / 2 - last, variance / 2, rtol=1e-9)


def test_sharp_step_printed_example():
    # beta = |g| = sigma = 1; r = 1 self, 50 x .9, 1000 x .1: outside the record's condition, the step limit binds
    r = np.concatenate(([1.0], np.full(50, 0.9), np.full(1000, 0.1)))
    phi = 1 - np.sqrt(1 - r)
    x = phi / phi.sum()  # the largest step of weights proportional to phi*
    lengths = np.linspace(0, 1, 401)[1:]
    best = min(change(1.0, 1.0, length * x, r, 1.0, ((length * x) ** 2).sum()) for length in lengths)
    np.testing.assert_allclose(-best, 0.2617, rtol=0, atol=6e-5)


# --- many steps ---


@pytest.mark.parametrize(("kappa", "low", "high"), [(10, 10, 19.99), (100, 100, 199.9)])
def test_the_theorems_plateau_against_the_exact_one_of_curvature_mu(kappa, low, high):
    ratios = []
    for eta in (1.0, 0.3, 1e-3):  # beta = 1; the theorem's floor eta beta s2 / (2 mu), T large
        theorem = evaluate(find("adaptive/theorem-2-constant"), eta=eta, mu=1 / kappa, beta=1.0, q=1.0, e0=0.0, s2=1.0,
                           T=10**7)  # fmt: skip
        exact = bound("noise-floor", eta=eta, mu=1.0, beta=1.0, pull=1.0, e0=0.0, V=1.0, T=10**7)
        np.testing.assert_allclose(theorem / exact, kappa * (2 - eta), rtol=1e-9)
        ratios.append(theorem / exact)
    assert low <= min(ratios) * OUTWARD
    assert max(ratios) <= high * OUTWARD
    np.testing.assert_allclose(ratios[-1], high, rtol=1e-4)


def test_definitions_are_the_sums_they_say():
    r, weights, sigma2 = np.array([1.0, 0.75, 0.0]), np.array([1.0, 2.0, 4.0]), np.array([2.0, 0.5, 1.0])
    assert definition("pull")(weights=weights, similarity=r) == 1 + 2 * 0.5
    assert definition("agreement")(similarity=r, sigma2=sigma2) == 1 / 2 + 0.25 / 0.5
