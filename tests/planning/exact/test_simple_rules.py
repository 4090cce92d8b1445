"""No exact plan is slower than equal weights on everybody, or on the nearest sites, in the pooled whitening."""

from __future__ import annotations

import numpy as np
import pytest

import suffice as sf
from suffice.planning.exact.plan import exact_plans
from suffice.simulate.moments.recursion import ExactRecursion


def nearly_dependent(seed, rho):
    """Six sites whose three columns nearly depend on each other, and whose targets are what little tells them apart."""
    rng = np.random.default_rng(seed)
    w, X, y = rng.normal(size=3) / np.sqrt(1 - rho**2), [], []
    for _ in range(6):
        common = rng.normal(size=(int(rng.integers(6, 14)), 1))
        X.append(common + np.sqrt(1 - rho**2) * rng.normal(size=(len(common), 3)))
        y.append(X[-1] @ (w + 0.2 * rng.normal(size=3)) + 0.3 * rng.normal(size=len(common)))
    return sf.from_arrays(X, y).gradient_moments()


def whitened(moments):
    """In the coordinates in which the mean second moment is the identity, without a ridge."""
    values, vectors = np.linalg.eigh(moments.A.mean(0))
    return moments.in_basis(vectors / np.sqrt(values) @ vectors.T)


@pytest.mark.parametrize(("seed", "rho"), [(103, 0.99), (104, 0.999)])
def test_no_plan_is_slower_than_equal_weights_in_the_pooled_whitening(seed, rho):
    moments = nearly_dependent(seed, rho)
    epsilon = 0.02 * moments.excess
    simple = whitened(moments)
    for i, (together, _) in enumerate(exact_plans(moments, epsilon)):
        recursion = ExactRecursion(moments=simple, client=i, unit=epsilon[i])
        gap = simple.optimum - simple.optimum[i]
        order = np.argsort(np.einsum("kd,de,ke->k", gap, simple.A[i], gap), kind="stable")
        best = np.inf
        for many in (2, 4, 6):
            v = np.zeros(6)
            v[order[:many]] = 1 / many
            limit = recursion.limit(v)
            lengths = np.geomspace(0.05, 0.95, 20) * limit
            best = min(best, *(recursion.arrival(c * v, 500) for c in lengths))
        assert together.iterations is not None
        assert together.iterations <= max(np.ceil(best), 1)
