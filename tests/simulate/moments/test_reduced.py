"""Recursions on subspaces against the full ones: excesses and arrivals."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.simulate.moments.gradient_moments import moments_of_rows
from suffice.simulate.moments.orbits import arrivals, orbit
from suffice.simulate.moments.recursion import ExactRecursion
from suffice.simulate.moments.reduced import subspaces

LENGTHS = np.array([0.15, 0.6])
SHARES = {0.1: 5e-4, 0.3: 5e-4, 0.6: 5e-4, 0.9: 0.03}
"""Of the limit, with the error of times that is allowed: more beyond the lengths that subspaces are about."""


@pytest.fixture(scope="module")
def seen():
    """Two of three clients with twelve coefficients, with rates at their limit."""
    rng = np.random.default_rng(3)
    shape = np.linspace(0.4, 1.6, 12)
    X = [rng.normal(size=(n, 12)) * shape for n in (60, 80, 100)]
    shared = rng.normal(size=12)
    y = [x @ (shared + 0.1 * rng.normal(size=12)) + rng.normal(size=len(x)) for x in X]
    moments = moments_of_rows(list(zip(X, y)), start=np.zeros((3, 12)), batch=4)
    found = []
    for i, v in ((0, np.array([0.6, 0.3, 0.1])), (2, np.array([0.1, 0.3, 0.6]))):
        recursion = ExactRecursion(moments=moments, client=i)
        found.append((recursion, recursion.limit(v) * v))
    return found


def spanned(recursion, v, lengths):
    M = np.stack([recursion.matrix(c * v) for c in lengths])
    return subspaces(M, recursion.start, recursion.loss, recursion.features)


def test_arrivals_and_excesses_on_subspaces_are_those_of_the_full_maps(seen):
    for recursion, v in seen:
        W, M = spanned(recursion, v, LENGTHS), recursion.matrix(0.4 * v)
        assert W.shape[1] < W.shape[0] / 2
        M1, M2 = recursion.expansion(v[None])
        full = M1, M2, recursion.start, recursion.loss / (0.1 * recursion.excess)
        small = W.T @ M1 @ W, W.T @ M2 @ W, recursion.start @ W, full[-1] @ W
        for share, error in SHARES.items():  # one at a time: the first to arrive ends the others
            times = [arrivals(*of, np.array([share]), 5000)[0] for of in (full, small)]
            assert share > 0.7 or np.isfinite(times[0]).all()
            np.testing.assert_allclose(times[1], times[0], rtol=error)
        found, curve = recursion.loss @ W @ orbit(W.T @ M @ W, recursion.start @ W, 40), recursion.curve(0.4 * v, 40)
        np.testing.assert_allclose(found[:2], curve[:2], rtol=1e-10)
        np.testing.assert_allclose(found, curve, rtol=1e-3)
        # beyond the limit matrices are not positive definite
        assert np.isfinite(spanned(recursion, v, np.array([2.0]))).all()
