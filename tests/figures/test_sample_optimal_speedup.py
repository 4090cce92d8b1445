"""Excess of All-for-one and All-for-all between the lower and the upper bounds."""

from __future__ import annotations

import numpy as np
import pytest
from needed_rounds import needed_rounds

from suffice.figures import figure
from suffice.figures.sample_optimal_speedup import BALL, METHODS, SETTINGS, rounds_to


@pytest.fixture(scope="module")
def drawn():
    return figure("sample-optimal-speedup", agents=(10, 50))


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("method", METHODS[:3])
def test_excess_is_below_the_upper_bound_which_is_above_the_lower(drawn, setting, method):
    for n in (10, 50):
        curve = drawn.data[f"{setting} | {n} | {method}"]
        assert (curve["excess"] <= curve["bound"] * (1 + 1e-9)).all()
        if method != "all-for-all":  # the lower bound is about agent 0
            assert (drawn.data[f"{setting} | {n} | lower bound"]["excess"] <= curve["bound"]).all()


def test_lower_bound_agrees_with_the_rounds_that_theorem_1_asks_for(drawn):
    curve = drawn.data["continuum | 50 | lower bound"]
    b = np.linspace(0, 1, 50)
    asked = needed_rounds(b=b, mu=1.0, sigma2=1.0, eps=1e-3, ball=BALL)
    # two grids of levels, and log-interpolation between rounds 9 % apart
    np.testing.assert_allclose(rounds_to(curve, 1e-3), asked, rtol=0.02)


def test_excess_is_the_simulators_second_moment(drawn):
    import torch

    from suffice.simulate import FixedWeights, Quadratics, expected_excess

    curve = drawn.data["clusters | 10 | all-for-one"]
    at = int(np.searchsorted(curve["rounds"], 60))
    T = int(curve["rounds"][at])
    # two agents share agent 0's optimum; its bound is least with both
    eta = min(1, np.log(4.5 / (1 / (4 * T))) / T)
    problem = Quadratics.of(np.full((2, 1, 1), 0.5), np.zeros((2, 1)), sigma2=1.0, start=[-3.0])
    weights = torch.full((2, 2), 0.5, dtype=torch.float64)
    exact = expected_excess(problem, FixedWeights(alpha=weights), iterations=T, eta=eta)[-1, 0]
    np.testing.assert_allclose(curve["excess"][at], exact, rtol=1e-9)


def test_five_times_as_many_agents_need_about_five_times_fewer_rounds_in_clusters(drawn):
    few, many = (rounds_to(drawn.data[f"clusters | {n} | all-for-one"], 1e-3) for n in (10, 50))
    assert 4 < few / many < 5.5
    alone = rounds_to(drawn.data["clusters | 10 | alone"], 1e-3)
    assert 1.7 < alone / few < 2.1
