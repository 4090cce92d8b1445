"""Theorem 2 and Corollary 1 of the adaptive paper: offsets, best factors and steps, special cases."""

from __future__ import annotations

import numpy as np
import pytest
from records import bound_of  # tests/helpers

from suffice.bounds import (
    ConditionError,
)
from suffice.bounds.theorems.adaptive import recursion
from suffice.verification.instances.quadrature_1d import counterexample

bound = bound_of("adaptive")


# --- Theorem 2: the stopped process of one client in dimension 1, by a transfer operator ----------------------------


def test_the_unconditional_reading_needs_the_probability():
    line, values = counterexample()
    too_small = bound("theorem-2-constant-unconditional", V_max=1.0, below=0.1, **values)
    assert line.two_steps(values["eps"])["e2"] > too_small


def test_the_printed_horizon_step_is_negative_above_the_floor_and_refused_when_corrected():
    values = {"mu": 0.1, "beta": 1.0, "q": 1.0, "e0": 0.01, "s2": 1.0, "T": 1}
    assert bound("theorem-2-horizon", "printed", enforce=False, **values) == pytest.approx(-376, abs=1)
    with pytest.raises(ConditionError, match="floor"):
        bound("theorem-2-horizon", **values)


def test_the_least_offset_is_admissible_and_nothing_less():
    rng = np.random.default_rng(5)
    for _ in range(200):
        mu, q, C = rng.uniform(1e-3, 1), rng.uniform(0.05, 1), rng.uniform(1.0001, 4)
        values = {"mu": mu, "beta": rng.uniform(mu, 3), "q": q, "C": C, "e0": 1.0, "s2": 1.0, "T": 3}
        gamma = bound("theorem-2-offset", **values)
        bound("theorem-2-decreasing", gamma=gamma, **values)
        with pytest.raises(ConditionError, match="first step"):
            bound("theorem-2-decreasing", gamma=(gamma + 1) * (1 - 1e-9) - 1, **values)


def test_the_best_factor_has_the_least_level_and_the_value_of_the_row():
    rng = np.random.default_rng(6)
    for _ in range(200):
        mu = rng.uniform(0.01, 1)
        values = {"mu": mu, "beta": rng.uniform(mu, 3), "q": rng.uniform(0.05, 1)}
        values |= {"e0": np.exp(rng.normal()), "s2": np.exp(2 * rng.normal()), "T": int(rng.integers(1, 100))}
        chi = 2 * mu * values["e0"] / (values["q"] * values["s2"])
        C = 2 if chi <= 2 else chi / (chi - 1)

        def row(C, values=values):
            return bound("theorem-2-decreasing", C=C, gamma=bound("theorem-2-offset", C=C, **values), **values)

        def nu(C, values=values):
            return row(C) * (C * values["beta"] / (values["mu"] * values["q"]) + values["T"])

        assert bound("theorem-2-decreasing-best", **values) == pytest.approx(row(C), rel=1e-10)
        assert nu(C) <= nu(np.linspace(1.001, 6, 400)).min() * (1 + 1e-11)


def test_the_best_decreasing_row_takes_no_noise():
    values = {"mu": 0.5, "beta": 1.0, "q": 0.5, "e0": 2.0, "s2": 0.0, "T": 12}
    # C = 1, eta_t = 1/(mu (t + gamma)) with gamma = 3: the bound e_0 4/(4 + T) beside the recursion's e_0 3/(3 + T)
    assert bound("theorem-2-decreasing-best", **values) == pytest.approx(2.0 * 4 / 16)
    levels = recursion(eta=1 / (0.5 * (np.arange(1, 13) + 3)), mu=0.5, beta=1.0, e0=2.0, s2=0.0)
    assert levels[-1] == pytest.approx(2.0 * 3 / 15)


# --- Corollary 1 ---------------------------------------------------------------------------------------------------


def test_the_start_at_the_precision_with_certainty_needs_no_iterations():
    values = {"eta": 0.1, "mu": 1.0, "beta": 1.0, "q": 1.0, "s2": 0.1, "eps": 1.0, "e0": 1.0}
    assert bound("corollary-1-confidence", delta=1.0, **values) < 1e-12


def test_the_best_step_is_best_and_simpler_to_bound():
    rng = np.random.default_rng(8)
    for _ in range(100):
        values = {"mu": 0.3, "beta": rng.uniform(0.3, 2), "q": rng.uniform(0.1, 1), "s2": np.exp(2 * rng.normal())}
        values |= {"eps": 0.1, "e0": 0.1 * np.exp(rng.uniform(0, 5))}
        best = bound("corollary-1-best-step", **values)
        slowest = max(values["beta"] / (values["q"] * 0.3), values["beta"] * values["s2"] / (0.3**2 * 0.1))
        assert best <= 2 * slowest * (1 + np.log(values["e0"] / 0.1)) * (1 + 1e-11)
        limit = min(values["q"] / values["beta"], 1.8 * 0.3 * 0.1 / (values["beta"] * values["s2"]))
        others = bound("corollary-1-expected-time", eta=limit * np.linspace(0.05, 1, 60), **values)
        assert best <= others.min() * (1 + 1e-11)
