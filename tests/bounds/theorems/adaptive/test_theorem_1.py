"""Theorem 1 of the adaptive paper as printed: a right side that is random."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.verification.instances.quadrature_1d import counterexample


def test_the_right_side_of_the_printed_theorem_1_is_below_the_truth_with_probability_one_half():
    line, values = counterexample()
    eta, e0 = values["eta"], values["e0"]
    mean, variance = (x[0] for x in line.step(np.array([line.theta0])))
    theta = mean + np.sqrt(variance) * np.linspace(-8, 8, 20001)

    def sigma_psi2(at):
        r = np.maximum(1 - (0.02 / at) ** 2, 0)
        return 1 / (0.9 * (1 + 99 * r * (r >= 0.9)))

    right = (1 - eta) ** 2 * e0 + eta**2 / 2 * ((1 - eta) * sigma_psi2(np.array(line.theta0)) + sigma_psi2(theta))
    density = np.exp(-((theta - mean) ** 2) / (2 * variance))
    below = (density * (right < line.two_steps(values["eps"])["e2"])).sum() / density.sum()
    assert below == pytest.approx(0.52, abs=0.01)
