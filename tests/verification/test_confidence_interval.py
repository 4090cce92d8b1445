"""The anytime test keeps its error probability and has power."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from suffice.verification.confidence_interval import BETS, log_evidence

ALPHA, RUNS = 0.05, 400
LIMIT = int(stats.binom.isf(1e-8, RUNS, ALPHA))


def draws(law: str) -> np.ndarray:
    """RUNS samples of 500 draws of mean 1."""
    rng = np.random.default_rng(40)
    if law == "exponential":
        return rng.exponential(size=(RUNS, 500))
    return (rng.random((RUNS, 500)) < 0.1) / 0.1


@pytest.mark.parametrize("law", ["exponential", "bernoulli"])
def test_false_alarms_stay_below_alpha_where_the_bound_is_attained(law):
    alarms = sum(log_evidence(sample, 1.0) > math.log(1 / ALPHA) for sample in draws(law))
    assert alarms <= LIMIT < 50  # a true rate of at most 5 % exceeds the limit with probability 1e-8


def test_a_bound_ten_percent_too_low_is_refuted_by_2000_exponential_draws():
    samples = np.random.default_rng(41).exponential(size=(200, 2000))
    found = sum(log_evidence(sample, 0.9) > math.log(1 / ALPHA) for sample in samples)
    assert found > 0.8 * 200  # a power of .98 was measured once


def test_evidence_is_the_running_maximum_of_the_averaged_bets():
    sample = np.array([3.0, 0.5, 2.0, 0.0, 0.0, 1.0])
    wealth, best = dict.fromkeys(BETS, 1.0), 0.0
    for y in sample:
        for bet in BETS:
            wealth[bet] *= 1 + bet * (y / 1.5 - 1)
        best = max(best, sum(wealth.values()) / len(BETS))
    np.testing.assert_allclose(log_evidence(sample, 1.5), math.log(best), rtol=1e-12)
    assert min(BETS) > 0
    assert max(BETS) < 1  # a bet of 1 would lose everything on one zero


def test_zeros_never_reject_and_large_bounds_do_not_underflow():
    assert log_evidence(np.zeros(100_000), 1.0) < 0
    assert log_evidence(np.zeros(1), 1e-300) < 0
    assert log_evidence(np.full(100_000, 1.0), 1.0) == 0
    assert log_evidence(np.full(3000, 2.0), 1.0) > 1000  # exp of it would overflow


def test_draws_that_are_not_finite_never_pass_silently():
    assert log_evidence(np.array([1.0, np.inf, 5.0]), 1.0) == np.inf
    assert log_evidence(np.ones(3), 0.0) == np.inf
    assert log_evidence(np.zeros(3), 0.0) == 0
    for draws, bound in ((np.full(5, np.nan), 1.0), (np.ones(5), np.nan)):
        with pytest.raises(ValueError, match="numbers"):
            log_evidence(draws, bound)
