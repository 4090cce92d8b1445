"""Several rates at once against one at a time, derivatives against differences, and first passages."""

from __future__ import annotations

import numpy as np
import pytest
from first_steps import first_below

from suffice.planning.exact.weights import step_limits
from suffice.simulate.moments.gradient_moments import moments_of_rows
from suffice.simulate.moments.orbits import arrivals
from suffice.simulate.moments.recursion import ExactRecursion


@pytest.fixture(scope="module")
def recursions():
    rng = np.random.default_rng(4)
    X = [rng.normal(size=(n, 3)) * [1, 2, 0.5] for n in (9, 14, 20, 30)]
    y = [x @ rng.normal(size=3) + rng.normal(size=len(x)) for x in X]
    moments = moments_of_rows(list(zip(X, y)), start=np.full((4, 3), 2.0), batch=2)
    return [ExactRecursion(moments=moments, client=i) for i in (0, 2, 3)]


@pytest.fixture(scope="module")
def rates():
    return 0.02 * np.random.default_rng(5).uniform(size=(3, 2, 4)) * [1, 1, 0, 1]


def test_expansions_and_limits_are_those_of_single_rates(recursions, rates):
    for one, V in zip(recursions, rates):
        M1, M2 = one.expansion(V)
        np.testing.assert_allclose(step_limits(M1, M2, 4), [one.limit(v) for v in V], rtol=0.05)
        for k, v in enumerate(V):
            twice = np.eye(len(one.start)) + 2 * M1[k] + 4 * M2[k]
            np.testing.assert_allclose(twice, one.matrix(2 * v), rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("steps", [1, 5, 12, 100, 201])
def test_derivatives_are_differences_of_the_curve(recursions, rates, steps):
    """From sixty steps on they are found by doubling."""
    h = 1e-6
    for one, (v, _) in zip(recursions, rates):
        value, gradient = one.derivatives(v, steps)
        np.testing.assert_allclose(value, one.curve(v, steps)[-1], rtol=1e-11)
        ends = [[one.curve(v + s * h * e, steps)[-1] for s in (1, -1)] for e in np.eye(4)]
        # central differences: h^2 times the third derivative, and rounding 1e-16 / h
        atol = 1e-6 * np.abs(gradient).max()
        np.testing.assert_allclose(gradient, np.diff(ends)[:, 0] / (-2 * h), rtol=1e-5, atol=atol)


def test_beyond_the_limit_nothing_is_stable(recursions, rates):
    for one, V in zip(recursions, rates):
        for v in V:
            assert one.stable(0.99 * one.limit(v) * v)
            assert not one.stable(1.01 * one.limit(v) * v)


@pytest.mark.parametrize("horizon", [7, 3000])
def test_arrivals_are_the_first_steps_of_single_recursions(recursions, rates, horizon):
    """The first ends the race; small lengths take so long that powers of M are used."""
    shares, arrived = np.array([0.003, 0.01, 0.02]), 0
    for one, V in zip(recursions, rates):
        epsilon = 0.6 * one.excess
        times, lowest, when = arrivals(*one.expansion(V), one.start, one.loss / epsilon, shares, horizon)
        singles = np.array([[first_below(one.curve(s * v, horizon), epsilon) for s in shares] for v in V])
        soonest = np.ceil(singles.min())
        np.testing.assert_allclose(times, np.where(np.ceil(singles) <= soonest, singles, np.inf), rtol=1e-9)
        arrived += np.isfinite(soonest)
        curve = one.curve(shares[0] * V[0], int(min(soonest - 1, horizon)))
        np.testing.assert_allclose((lowest[0, 0], when[0, 0]), (curve.min() / epsilon, curve.argmin()), rtol=1e-9)
    assert bool(arrived) == (horizon > 7)


def test_one_merged_peer_stands_for_all(recursions):
    one, v = recursions[1], np.array([0.01, 0.02, 0.0, 0.015])
    merged = one.merged(v)
    for c in (1.0, 0.3):
        pair = np.array([0.0, c])
        np.testing.assert_allclose(merged.curve(pair, 40), one.curve(c * v, 40), rtol=1e-11)
        np.testing.assert_allclose(merged.limit(pair), one.limit(c * v), rtol=1e-11)
        np.testing.assert_allclose(merged.floor(pair), one.floor(c * v), rtol=1e-10)
