"""Theorem 2 and Corollary 1 of the adaptive paper: offsets, best factors and steps."""

from __future__ import annotations

import numpy as np
import pytest
from records import bound_of  # tests/helpers

from suffice.bounds import ConditionError

bound = bound_of("adaptive")


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
