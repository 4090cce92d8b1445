"""Many recursions at once against one at a time, and derivatives against differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from first_steps import first_below

from suffice.planning.exact.arrivals import arrivals
from suffice.simulate.moments.batched import MomentMaps
from suffice.simulate.moments.gradient_moments import moments_of_rows
from suffice.simulate.moments.recursion import ExactRecursion

CLIENTS = np.array([0, 2, 3])


@pytest.fixture(scope="module")
def moments():
    rng = np.random.default_rng(4)
    X = [rng.normal(size=(n, 3)) * [1, 2, 0.5] for n in (9, 14, 20, 30)]
    y = [x @ rng.normal(size=3) + rng.normal(size=len(x)) for x in X]
    return moments_of_rows(list(zip(X, y)), start=np.full((4, 3), 2.0), batch=2)


@pytest.fixture(scope="module")
def rates():
    return 0.02 * np.random.default_rng(5).uniform(size=(3, 2, 4)) * [1, 1, 0, 1]


def maps_of(moments):
    return MomentMaps.of([ExactRecursion(moments=moments, client=i) for i in CLIENTS.tolist()])


@pytest.mark.parametrize("shared", [False, True])
def test_maps_and_limits_are_those_of_single_recursions(moments, rates, shared):
    maps = MomentMaps.sharing(moments, CLIENTS) if shared else maps_of(moments)
    M, limits = maps.matrices(rates), maps.limits(rates, 400)
    M1, M2 = maps.expansion(rates)
    for g, i in enumerate(CLIENTS.tolist()):
        one = ExactRecursion(moments=moments, client=i)
        np.testing.assert_allclose(maps.start[g], one.start, rtol=1e-12)
        for k in range(2):
            exact = one.matrix(rates[g, k])
            np.testing.assert_allclose(M[g, k], exact, rtol=1e-10, atol=1e-13)
            np.testing.assert_allclose(limits[g, k], one.limit(rates[g, k]), rtol=1e-6)
            twice = np.eye(len(exact)) + 2 * M1[g, k] + 4 * M2[g, k]
            np.testing.assert_allclose(twice, one.matrix(2 * rates[g, k]), rtol=1e-10, atol=1e-13)
    np.testing.assert_array_equal(maps[np.array([1])].matrices(rates[1:2])[0], M[1])


@pytest.mark.parametrize("shared", [False, True])
def test_derivatives_are_those_of_the_curve(moments, rates, shared):
    maps = MomentMaps.sharing(moments, CLIENTS) if shared else maps_of(moments)
    goals, h = np.array([1, 5, 12]), 1e-6
    value, gradient = maps.trial(rates, 12).derivatives(goals)
    for g, i in enumerate(CLIENTS.tolist()):
        curve = ExactRecursion(moments=moments, client=i).curve(rates[g, 0], int(goals[g]))
        np.testing.assert_allclose(value[g, 0], np.log(curve[-1]), rtol=1e-12)
    for k in range(4):
        ends = [maps.trial(rates + sign * h * np.eye(4)[k], 12).derivatives(goals)[0] for sign in (1, -1)]
        # central differences: h^2 times the third derivative, and rounding 1e-16 / h
        np.testing.assert_allclose(gradient[..., k], (ends[0] - ends[1]) / (2 * h), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("shared", [False, True])
def test_single_precision_searches_alike_and_is_refused_where_it_would_not_do(moments, rates, shared):
    maps = MomentMaps.sharing(moments, CLIENTS) if shared else maps_of(moments)
    light, goals = maps.in_single_precision(), np.array([1, 5, 12])
    whole, half = maps.trial(rates, 12), light.trial(rates, 12)
    assert (half.step.dtype, half.Z.dtype, half.derivatives(goals)[1].dtype) == (np.float32,) * 3
    np.testing.assert_allclose(half.excess, whole.excess, rtol=2e-6)  # 12 steps of some roundings of 6e-8
    assert not np.array_equal(half.excess, whole.excess)
    gradient = whole.derivatives(goals)[1]
    np.testing.assert_allclose(half.derivatives(goals)[1], gradient, atol=1e-5 * np.abs(gradient).max())
    far = replace(maps, start=maps.start * np.r_[1, np.full(3, 1e20), np.full(6, 1e40)])  # beyond the largest float32
    assert far.in_single_precision() is far


def test_beyond_the_limit_nothing_is_stable(moments, rates):
    maps = maps_of(moments)
    limit = maps.limits(rates, 400)[..., None]
    everything = np.repeat(np.arange(3), 2), np.tile(np.arange(2), 3)
    assert maps.trial(0.99 * limit * rates, 1).stable(*everything).all()
    assert not maps.trial(1.01 * limit * rates, 1).stable(*everything).any()


@pytest.mark.parametrize("in_turn", [False, True])
@pytest.mark.parametrize("horizon", [7, 3000])
def test_arrivals_are_the_first_steps_of_single_recursions(moments, rates, horizon, in_turn, monkeypatch):
    """The first of a client ends its race; small lengths take so long that powers of M are used."""
    if in_turn:
        monkeypatch.setattr("suffice.planning.exact.arrivals.DENSE", 1)
    shares, maps = np.array([0.003, 0.01, 0.02]), maps_of(moments)
    recursions = [ExactRecursion(moments=moments, client=i) for i in CLIENTS.tolist()]
    epsilon = np.array([0.6 * one.excess for one in recursions])
    times, ahead = arrivals(maps, rates, shares, epsilon, np.arange(3), [horizon] * 3)
    for g, one in enumerate(recursions):
        singles = np.array([[first_below(one.curve(s * v, horizon), epsilon[g]) for s in shares] for v in rates[g]])
        soonest = np.ceil(singles.min())
        expected = np.where(np.ceil(singles) <= soonest, singles, np.inf)
        np.testing.assert_allclose(times[g], expected, rtol=1e-9)
        if np.isfinite(soonest):
            before = one.curve(shares[0] * rates[g, 0], int(soonest) - 1)[-1]
            np.testing.assert_allclose(ahead[g, 0, 0], before, rtol=1e-9)
    assert np.isfinite(times).any() == (horizon > 7)


def test_one_merged_peer_stands_for_all(moments):
    one, v = ExactRecursion(moments=moments, client=1), np.array([0.01, 0.02, 0.0, 0.015])
    merged = one.merged(v)
    for c in (1.0, 0.3):
        pair = np.array([0.0, c])
        np.testing.assert_allclose(merged.curve(pair, 40), one.curve(c * v, 40), rtol=1e-11)
        np.testing.assert_allclose(merged.limit(pair), one.limit(c * v), rtol=1e-11)
        np.testing.assert_allclose(merged.floor(pair), one.floor(c * v), rtol=1e-10)


def test_limits_and_floors_of_large_maps_are_found_by_iteration(moments, monkeypatch):
    one, v = ExactRecursion(moments=moments, client=1), np.array([0.01, 0.02, 0.0, 0.015])
    dense = one.limit(v), one.floor(v)
    monkeypatch.setattr("suffice.simulate.moments.recursion.DENSE", 1)
    np.testing.assert_allclose([one.limit(v), one.floor(v)], dense, rtol=1e-7)
