"""Definitions by another route: the exact risk of James and Stein's rule, and sums of the exact worst cases."""

from __future__ import annotations

import numpy as np
import pytest
from records import definition_of  # tests/helpers

from suffice.verification.claims.stein import bias_and_risk

RISK, definition = definition_of("stein")("james-stein-risk"), definition_of("worst-case")


@pytest.mark.parametrize("d", [3, 4, 10, 30])
def test_the_exact_risk_is_that_of_a_quadrature_over_the_distance(d):
    far, c = np.array([1e-3, 0.3, 2.0, 9.0, 60.0]), np.array([0.2, 0.9, 1.7])[:, None] * (d - 2)
    far, c = (np.ravel(x) for x in np.broadcast_arrays(far, c))
    _, expected = bias_and_risk(lambda r: -np.minimum(1, c[:, None] / r**2), far, np.full(len(far), d), np.sqrt(c))
    exact = RISK(offset=np.sqrt(0.7) * far[:, None] * np.eye(d)[0], v=0.7, peer_v=0.0, shrink=0.7 * c)
    np.testing.assert_allclose(exact, 0.7 * expected, rtol=1e-9)


def test_definitions_are_the_sums_they_say():
    r, weights, sigma2 = np.array([1.0, 0.75, 0.0]), np.array([1.0, 2.0, 4.0]), np.array([2.0, 0.5, 1.0])
    assert definition("pull")(weights=weights, similarity=r) == 1 + 2 * 0.5
    assert definition("agreement")(similarity=r, sigma2=sigma2) == 1 / 2 + 0.25 / 0.5
