"""The anytime test keeps its error probability and has power."""

from __future__ import annotations

import importlib
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy import stats

from suffice.bounds import Quantity, find
from suffice.simulate import Randomness, run
from suffice.verification.sampled import BETS, drawn, log_evidence, sampled

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


def test_sampling_clears_the_theorem_and_refutes_three_quarters_of_it():
    theorem = find("adaptive/theorem-2-constant")
    small = {"networks": 4, "seeds": 1024, "iterations": 10, "root": 3, "alpha": 1e-7}
    honest = sampled(theorem, **small)
    assert honest.rejected == ()
    assert honest.paths == 4096
    assert honest.error_probability == 1e-7
    wrong = sampled(replace(theorem, bound=lambda eta, mu, beta, e0, s2, T: theorem.bound(
        eta=eta, mu=mu, beta=beta, e0=e0, s2=s2, T=T) * 0.75), **small)  # fmt: skip
    assert wrong.rejected == (0,)
    np.testing.assert_allclose(wrong.largest_mean_ratio, honest.largest_mean_ratio / 0.75, rtol=1e-10)
    np.testing.assert_allclose(honest.largest_mean_ratio, 1 / (2 - 0.96), rtol=0.15)  # 6 standard errors of chi^2_3


def test_noise_that_the_clients_share_is_refuted(monkeypatch):
    theorem = find("adaptive/theorem-2-constant")
    small = {"networks": 2, "seeds": 1024, "iterations": 5, "root": 3, "alpha": 1e-7}
    honest = Randomness._words

    def shared(self, *, clients, **more):
        words = honest(self, clients=clients, **more)
        return words[:, :1].expand_as(words)

    # the compiled kernel draws by itself
    module = importlib.import_module("suffice.verification.sampled")
    monkeypatch.setattr(module, "run", partial(run, kernel="reference"))
    assert sampled(theorem, **small).rejected == ()
    monkeypatch.setattr(Randomness, "_words", shared)
    assert sampled(theorem, **small).rejected == (0,)


def test_draws_that_are_not_finite_never_pass_silently():
    assert log_evidence(np.array([1.0, np.inf, 5.0]), 1.0) == np.inf
    assert log_evidence(np.ones(3), 0.0) == np.inf
    assert log_evidence(np.zeros(3), 0.0) == 0
    for draws, bound in ((np.full(5, np.nan), 1.0), (np.ones(5), np.nan)):
        with pytest.raises(ValueError, match="numbers"):
            log_evidence(draws, bound)


PATHS = np.array([
    [3.0, 2.0, 0.5, 4.0],  # tau = 2, then lifted by noise
    [3.0, 1.0, 1.0, 1.0],  # equal to eps is still running: tau > 3
    [0.5, 9.0, 9.0, 9.0],  # tau = 0
    [3.0, 2.0, 2.0, 0.25],  # tau = 3 = T: running at T - 1
])  # fmt: skip


@pytest.mark.parametrize(
    ("quantity", "values"),
    [
        (Quantity.EXCESS, [4.0, 1.0, 9.0, 0.25]),
        (Quantity.EXCESS_WHILE_RUNNING, [0.0, 1.0, 0.0, 0.25]),
        (Quantity.STILL_RUNNING, [0.0, 1.0, 0.0, 0.0]),
        (Quantity.STOPPED_EXCESS, [0.5, 1.0, 0.5, 0.25]),
        (Quantity.HITTING_TIME, [2.0, 3.0, 0.0, 3.0]),
    ],
)
def test_quantities_of_four_paths(quantity, values):
    np.testing.assert_array_equal(drawn(PATHS[:, :, None], np.ones(1))[quantity][:, 0], values)
