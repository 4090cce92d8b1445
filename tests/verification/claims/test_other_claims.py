"""Averaged iterates: closed forms are exact moments. Weights of estimates: exact risks are those of drawn ones."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.simulate import Local, Quadratics
from suffice.simulate.moment_powers import ONE_STEP, MomentPowers
from suffice.simulate.quadratic_forms import QuadraticForm
from suffice.verification.claims import averaged_sgd, stein


def test_the_measured_excess_is_that_of_the_moments_of_means():
    given = {"curvature": [0.5, 2.0], "sigma2": 3.0, "far": 1.0, "direction": [1.0, -2.0], "step": 0.6, "T": 7.0}
    measured = averaged_sgd.averaged().evidence({name: np.array([value]) for name, value in given.items()}).measured[0]
    problem = Quadratics.of(np.diag([0.25, 1.0])[None], np.zeros((1, 2)), sigma2=3.0, start=[1.0, -2.0])
    form = QuadraticForm(of="excess", at="client", over=("suffix", 0), mean=True)
    exact, _ = MomentPowers(problem, Local(), eta=0.3, cycle=ONE_STEP).value(form, 7, 0, {})
    np.testing.assert_allclose(measured, exact, rtol=1e-12)


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
