"""Theorem 3 of the adaptive paper: the best steps."""

from __future__ import annotations

import numpy as np
import pytest
from records import bound_of  # tests/helpers

bound = bound_of("adaptive")


def test_the_best_steps_of_theorem_3_are_the_closed_forms():
    rng = np.random.default_rng(9)
    for _ in range(100):
        values = {"beta": np.exp(rng.normal()), "q": rng.uniform(0.05, 1), "e0": np.exp(rng.normal())}
        values |= {"s2": np.exp(2 * rng.normal()), "T": int(rng.integers(1, 200)), "G": np.exp(rng.normal())}
        limit = values["q"] / values["beta"]
        etas = limit * np.geomspace(1e-4, 1, 300)
        assert bound("theorem-3", **values) <= bound("theorem-3-any-step", eta=etas, **values).min() * (1 + 1e-11)
        plain = 2 * values["e0"] / (limit * values["T"])
        printed = bound("theorem-3", "printed", **values)
        assert bound("theorem-3", **values) <= (plain + printed) * (1 + 1e-11)
        best = bound("theorem-3-best-step", **values)
        if values["G"] / (2 * values["beta"] * values["s2"]) <= limit:
            assert best == pytest.approx(8 * values["beta"] * values["s2"] * values["e0"] / values["G"] ** 2, rel=1e-10)
        else:
            assert best <= 4 * values["e0"] / (limit * values["G"]) * (1 + 1e-11)
