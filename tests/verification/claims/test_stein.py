"""Weights of estimates: exact risks are those of drawn estimates."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.verification.claims import stein


@pytest.mark.parametrize("d", [1, 2, 5])
def test_bias_and_risk_are_those_of_drawn_estimates(d):
    def rule(r):
        return -np.minimum(1, 3 / r**2)

    (bias,), (risk,) = stein.bias_and_risk(rule, np.array([1.5]), d, np.sqrt([3.0]))
    theta = np.eye(d)[0] * 1.5
    x = theta + np.random.default_rng(d).normal(size=(200_000, d))
    error = x * (1 + rule(np.linalg.norm(x, axis=1)))[:, None] - theta
    for exact, drawn in ((bias, error[:, 0]), (risk, (error**2).sum(1))):
        assert abs(drawn.mean() - exact) < 4 * drawn.std() / np.sqrt(len(x))
