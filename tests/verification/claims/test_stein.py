"""Weights of estimates: exact risks are those of drawn estimates, and the weight is the least of the estimated risk."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.verification.claims import stein


@pytest.mark.parametrize("d", [1, 2, 5])
def test_bias_and_risk_are_those_of_drawn_estimates(d):
    def rule(r):
        return -np.minimum(1, 3 / r**2)

    (bias,), (risk,) = stein.moved(rule, np.array([1.5]), d, np.sqrt([3.0]))
    theta = np.eye(d)[0] * 1.5
    x = theta + np.random.default_rng(d).normal(size=(200_000, d))
    error = x * (1 + rule(np.linalg.norm(x, axis=1)))[:, None] - theta
    for exact, drawn in ((bias, error[:, 0]), (risk, (error**2).sum(1))):
        assert abs(drawn.mean() - exact) < 4 * drawn.std() / np.sqrt(len(x))


def test_two_sites_take_the_weight_of_least_estimated_risk():
    """D (1 - w)^2 + V (2 w - 1) is least at 1 - w = min(1, V/D) among weights of 0 to 1."""
    own, D, V = np.linspace(0, 1, 1001), np.array([[0.5], [2.0], [40.0]]), 2.0
    best = own[(D * (1 - own) ** 2 + V * (2 * own - 1)).argmin(1)]
    np.testing.assert_allclose(1 - best, np.minimum(1, V / D[:, 0]), atol=1e-3)  # the grid's width
