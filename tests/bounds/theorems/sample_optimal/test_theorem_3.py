"""Definitions of Theorem 3 of the sample-optimality paper."""

from __future__ import annotations

import numpy as np
from records import definition_of  # tests/helpers

definition = definition_of("sample-optimal")


def test_definitions_of_matrices_are_the_sums_they_say():
    rng = np.random.default_rng(11)
    weights, b = rng.dirichlet(np.ones(4), 4), rng.exponential(size=(4, 4))
    W = np.array([[sum(x * y) for y in weights] for x in weights])
    np.testing.assert_allclose(definition("theorem-3-weight2")(weights=weights), (W**2).sum() / 4, rtol=1e-14)
    np.testing.assert_allclose(definition("theorem-3-lambda2")(weights=weights), np.trace(W) / 4, rtol=1e-14)
    got = definition("theorem-3-misfit")(weights=weights, b=b, mu=np.array(0.4))
    np.testing.assert_allclose(got, sum(weights.ravel() * b.ravel() ** 2) / 0.8 / 4, rtol=1e-14)
    ends = [definition(f"theorem-3-{key}")(weights=weights) for key in ("smin", "smax")]
    np.testing.assert_allclose(ends, np.linalg.eigvalsh(W)[[0, -1]], rtol=1e-9)  # eigvalsh errs by 1e-16 of smax
