"""Lemma 1 and Theorem 1 of the adaptive paper: what needs the step limit, where the bound is attained, a random one."""

from __future__ import annotations

import numpy as np
import pytest
from records import bound_of  # tests/helpers

from suffice.bounds import ConditionError
from suffice.verification.instances.quadrature_1d import counterexample

bound = bound_of("adaptive")


# --- Lemma 1: one step on quadratics R_k = |S_k (theta - x_k)|^2 / 2, noise of covariance C_k ------------------------


def test_the_descent_needs_the_step_limit_and_the_mean_gradient_does_not():
    values = {"eta": 1.9, "beta": 1.0, "e0": 0.5, "weight": 1.0, "discrepancy": 0.0, "gradient": 1.0, "V": 0.0}
    exact = (1 - 1.9) ** 2 / 2
    assert exact > bound("lemma-1", enforce=False, **values)
    assert bound("lemma-1-mean-gradient", aggregate=1.0, aggregate_gap=0.0, **values) == pytest.approx(exact)
    with pytest.raises(ConditionError, match="step size"):
        bound("lemma-1", **values)


# --- Theorem 1 -------------------------------------------------------------------------------------------------


def fixed(e0, mu, eta, weights, scale, sigma2, T):
    """E[e_T] when theta_t = (1 - eta mu sum w c) theta_{t-1} + noise."""
    rest = (1 - eta * mu * (weights * scale).sum()) ** 2
    for _ in range(T):
        e0 = rest * e0 + eta**2 * mu / 2 * (weights**2 * sigma2).sum()
    return e0


def test_theorem_1_is_attained_alone_and_by_vanishing_similarity():
    values = {"eta": 0.5, "mu": 2.0, "beta": 2.0, "q": 1.0, "e0": 3.0, "V": 0.7, "T": 5}
    exact = fixed(3.0, 2.0, 0.5, np.ones(1), np.ones(1), np.array([0.7]), 5)
    assert bound("theorem-1", **values) == pytest.approx(exact, rel=1e-11)
    assert bound("theorem-1-normalised", **values) == pytest.approx(exact, rel=1e-11)
    # one peer, no weight of its own: alpha_k = 1/r, c = 1 - sqrt(1 - r), eta = r/beta contracts (1 - r)^T e_0
    r, T = 0.3, 4
    exact = fixed(1.0, 1.0, r, np.array([1 / r]), np.array([1 - np.sqrt(1 - r)]), np.zeros(1), T)
    got = bound("theorem-1", eta=r, mu=1.0, beta=1.0, q=r, e0=1.0, V=0.0, T=T)
    assert got == pytest.approx(exact, rel=1e-11)


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
