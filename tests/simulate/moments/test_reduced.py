"""Recursions on subspaces against the full ones: excesses, arrivals and derivatives."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.planning.exact.arrivals import arrivals
from suffice.simulate.moments.batched import MomentMaps
from suffice.simulate.moments.gradient_moments import moments_of_rows
from suffice.simulate.moments.recursion import ExactRecursion
from suffice.simulate.moments.reduced import ReducedMaps

CLIENTS = np.array([0, 2])
LENGTHS = np.array([0.15, 0.6])
SHARES = {0.1: 5e-4, 0.3: 5e-4, 0.6: 5e-4, 0.9: 0.03}
"""Of the limit, with the error of times that is allowed: more beyond the lengths that subspaces are about."""


@pytest.fixture(scope="module")
def maps():
    """Two of three clients with twelve coefficients, seen by three directions of rates each."""
    rng = np.random.default_rng(3)
    shape = np.linspace(0.4, 1.6, 12)
    X = [rng.normal(size=(n, 12)) * shape for n in (60, 80, 100)]
    shared = rng.normal(size=12)
    y = [x @ (shared + 0.1 * rng.normal(size=12)) + rng.normal(size=len(x)) for x in X]
    moments = moments_of_rows(list(zip(X, y)), start=np.zeros((3, 12)), batch=4)
    return MomentMaps.of([ExactRecursion(moments=moments, client=i) for i in CLIENTS.tolist()])


@pytest.fixture(scope="module")
def directions(maps):
    V = np.array([[[0.6, 0.3, 0.1]], [[0.1, 0.3, 0.6]]])
    return V * maps.limits(V, 200)[..., None]


def test_arrivals_on_subspaces_are_those_of_the_full_maps(maps, directions):
    small, known = ReducedMaps.along(maps, directions, LENGTHS)
    assert small.W.shape[-1] < maps.start.shape[-1] / 2
    epsilon, who = 0.1 * np.einsum("gn,gn->g", maps.loss, maps.start), np.arange(2)
    for share, error in SHARES.items():  # one at a time: the first to arrive ends the others
        one = np.array([share])
        full, _ = arrivals(maps, directions, one, epsilon, who, [5000, 5000])
        found, _ = arrivals(small, directions, one, epsilon, who, [5000, 5000], known)
        assert np.isfinite(full).any()
        np.testing.assert_allclose(found, full, rtol=error)


def test_the_first_two_excesses_are_exact(maps, directions):
    small, _ = ReducedMaps.along(maps, directions, LENGTHS)
    V = 0.4 * directions
    full, found = maps.trial(V, 40), small.trial(V, 40)
    np.testing.assert_allclose(found.excess[..., :2], full.excess[..., :2], rtol=1e-10)
    np.testing.assert_allclose(found.excess, full.excess, rtol=1e-3)


def test_derivatives_are_those_of_the_full_maps(maps, directions):
    small, _ = ReducedMaps.along(maps, directions, LENGTHS)
    V, goals = 0.4 * directions, np.array([30, 40])
    (value, slope), (excess, gradient) = (one.trial(V, 40).derivatives(goals) for one in (maps, small))
    np.testing.assert_allclose(excess, value, rtol=0, atol=1e-3)
    np.testing.assert_allclose(gradient, slope, rtol=0, atol=0.01 * np.abs(slope).max())


def test_rates_beyond_the_limit_have_subspaces_too(maps, directions):
    """Their matrices are not positive definite."""
    small, _ = ReducedMaps.along(maps, 2 * directions, np.array([1.0]))
    assert np.isfinite(small.W).all()
