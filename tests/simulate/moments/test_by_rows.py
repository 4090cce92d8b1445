"""Passes over rows against second moments."""

from __future__ import annotations

import numpy as np
import pytest
from first_steps import first_below

from suffice.simulate.moments.by_rows import GradientRows, RowRecursion
from suffice.simulate.moments.gradient_moments import moments_of_rows
from suffice.simulate.moments.gram_model import GramModel
from suffice.simulate.moments.recursion import ExactRecursion

START = np.full((4, 3), 2.0)


def blocks():
    rng = np.random.default_rng(4)
    X = [rng.normal(size=(n, 3)) * [1, 2, 0.5] for n in (9, 14, 20, 30)]
    return [(x, x @ rng.normal(size=3) + rng.normal(size=len(x))) for x in X]


@pytest.mark.parametrize("options", [{}, {"ridge": 0.1, "batch": 3}])
def test_curves_times_and_limits_are_those_of_second_moments(options):
    rows, moments = (make(blocks(), start=START, **options) for make in (GradientRows.of, moments_of_rows))
    seen, v = moments.in_basis(rows.basis), np.array([0.02, 0.01, 0.0, 0.03])
    np.testing.assert_allclose(rows.excess, moments.excess, rtol=1e-10)
    for i in range(3):
        exact = ExactRecursion(moments=seen, client=i)
        epsilon = 0.8 * exact.excess
        one = RowRecursion(rows, i, v, unit=epsilon)
        for c in (1.0, 0.4):
            curve = rows.curve(i, v, epsilon, np.array([0.0, c]), 30)
            np.testing.assert_allclose(epsilon * curve, exact.curve(c * v, 30), rtol=1e-9)
        np.testing.assert_allclose(one.limit(), exact.limit(v), rtol=1e-3)
        np.testing.assert_allclose(one.first(1.0, 200)[0], first_below(exact.curve(v, 200), epsilon), rtol=1e-9)


def test_the_model_of_rows_is_that_of_second_moments():
    rows = GradientRows.of(blocks(), start=START, batch=2)
    moments = moments_of_rows(blocks(), start=START, batch=2).in_basis(rows.basis)
    for one, other in zip(rows.models(), GramModel.of(moments)):
        for name in ("gaps", "start", "growth", "level"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-8, atol=1e-11)


def test_a_rate_beyond_the_limit_leaves():
    rows = GradientRows.of(blocks(), start=START)
    one = RowRecursion(rows, 0, np.ones(4), unit=1e-9)
    beyond = 3 * one.limit()
    assert one.first(beyond, 500)[0] == np.inf
    assert rows.curve(0, np.ones(4), 1e-9, np.array([0.0, beyond]), 500)[-1] == np.inf
