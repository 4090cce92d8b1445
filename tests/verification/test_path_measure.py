"""Confidence bounds from paths: rarely beyond the truth whatever the distribution, and close to it with many paths."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from suffice.bounds import InputError
from suffice.verification.confidence_interval import mean_bound, quantile_bound
from suffice.verification.sampled_check import _check_quiet


@pytest.mark.parametrize(("name", "mean"), [("rare", 1.0), ("pareto", 2.0), ("exponential", 1.0)])
def test_the_bound_of_a_mean_is_rarely_above_it(name, mean):
    """Heavy tails too, where a normal approximation would fail: at 10 % in at most 10 % of 200 samples, and 3 s.e."""
    rng = np.random.default_rng(1)
    draw = {
        "rare": lambda: 50.0 * (rng.random(200) < 0.02),
        "pareto": lambda: rng.pareto(2.0, 200) * 2.0,
        "exponential": lambda: rng.exponential(1.0, 200),
    }[name]
    beyond = np.mean([mean_bound(draw(), 0.1) > mean for _ in range(200)])
    assert beyond <= 0.1 + 3 * (0.09 / 200) ** 0.5


def test_the_bound_of_a_mean_comes_close_to_it():
    rng = np.random.default_rng(2)
    few, many = (mean_bound(rng.exponential(1.0, n), 1e-9) for n in (1000, 100_000))
    assert 0.7 < few < many < 1
    assert many > 0.96
    assert mean_bound(np.zeros(50), 1e-9) == 0


@pytest.mark.parametrize("delta", [0.05, 0.5])
def test_the_bound_of_a_quantile_is_the_binomial_one(delta):
    n, alpha = 2000, 1e-3
    draws = np.arange(1.0, n + 1)
    k = quantile_bound(np.random.default_rng(0).permutation(draws), delta, alpha)
    assert binom.cdf(k - 1, n, 1 - delta) <= alpha < binom.cdf(k, n, 1 - delta)
    mirrored = quantile_bound(draws, delta, alpha, upper=False)
    assert mirrored == n + 1 - k
    assert quantile_bound(draws[:5], 0.5, 1e-2) == 0  # P(all five are above the median) = 1/32


def test_paths_that_draw_nothing_may_differ_by_rounding_alone():
    """Logistic losses did: vectors and their remainders are computed by other instructions."""
    _check_quiet(np.array([1.0, 1.0 + 2.0**-52, 1.0]), "mine")
    _check_quiet(np.array([1e-30, 3e-30, 5e-30]), "mine")  # as far as the disturbed path: nothing but rounding is left
    with pytest.raises(InputError, match="two paths differ on a problem without noise"):
        _check_quiet(np.array([1.0, 1.001, 1.0 + 1e-12]), "mine")
