"""Theorem 2 and Corollary 1 of the adaptive paper: offsets, best factors and steps, and where the print fails."""

from __future__ import annotations

import numpy as np
import pytest
from records import bound_of  # tests/helpers

from suffice.bounds import (
    ConditionError,
)
from suffice.bounds.theorems.adaptive import recursion
from suffice.verification.instances.quadrature_1d import counterexample

bound = bound_of("adaptive")


# --- Theorem 2: the stopped process of one client in dimension 1, by a transfer operator ----------------------------


def test_printed_theorem_2_fails_where_every_stopped_reading_holds():
    line, values = counterexample()
    laws = line.two_steps(values["eps"])
    assert bound("theorem-2-constant", "printed", **values) == pytest.approx(0.00546, abs=1e-5)
    assert laws["e2"] == pytest.approx(0.19685, abs=1e-5)
    assert laws["stop_probability"] == pytest.approx(0.6375, abs=1e-4)
    assert laws["e2_running"] <= bound("theorem-2-constant", **values) == pytest.approx(0.00541, abs=1e-5)
    assert laws["e1_stopped"] + laws["e2_running"] <= bound("theorem-2-constant-stopped", **values)
    unstopped = bound("theorem-2-constant-unconditional", V_max=1.0, below=laws["stop_probability"], **values)
    assert laws["e2"] <= unstopped < 2 * laws["e2"]


def test_the_unconditional_reading_needs_the_probability():
    line, values = counterexample()
    too_small = bound("theorem-2-constant-unconditional", V_max=1.0, below=0.1, **values)
    assert line.two_steps(values["eps"])["e2"] > too_small


def test_the_printed_horizon_step_is_negative_above_the_floor_and_refused_when_corrected():
    values = {"mu": 0.1, "beta": 1.0, "q": 1.0, "e0": 0.01, "s2": 1.0, "T": 1}
    assert bound("theorem-2-horizon", "printed", enforce=False, **values) == pytest.approx(-376, abs=1)
    with pytest.raises(ConditionError, match="floor"):
        bound("theorem-2-horizon", **values)


def test_printed_decreasing_rows_are_exceeded():
    # one client R = theta^2/2, C = 2, sigma = e_0 = 1, T = 1: the first step is 2
    values = {"C": 2.0, "mu": 1.0, "beta": 1.0, "q": 1.0, "e0": 1.0, "s2": 1.0, "T": 1}
    exact = (1 - 2.0) ** 2 + 2.0**2 / 2
    assert exact == 3 > bound("theorem-2-decreasing", "printed", enforce=False, **values)
    # with the offset but max(., e_0)/T: curvature mu, no noise
    values |= {"mu": 0.01, "s2": 0.0, "T": 10}
    values["gamma"] = bound("theorem-2-offset", **values)
    assert values["gamma"] == pytest.approx(199)
    exact = np.prod((1 - 2 / (np.arange(1, 11) + 199)) ** 2)
    assert exact == pytest.approx(0.8215, abs=1e-4)
    assert bound("theorem-2-decreasing", "printed", enforce=False, **values) == pytest.approx(0.1)
    assert exact <= bound("theorem-2-decreasing", **values)


def test_the_least_offset_is_admissible_and_nothing_less():
    rng = np.random.default_rng(5)
    for _ in range(200):
        mu, q, C = rng.uniform(1e-3, 1), rng.uniform(0.05, 1), rng.uniform(1.0001, 4)
        values = {"mu": mu, "beta": rng.uniform(mu, 3), "q": q, "C": C, "e0": 1.0, "s2": 1.0, "T": 3}
        gamma = bound("theorem-2-offset", **values)
        bound("theorem-2-decreasing", gamma=gamma, **values)
        with pytest.raises(ConditionError, match="first step"):
            bound("theorem-2-decreasing", gamma=(gamma + 1) * (1 - 1e-9) - 1, **values)


def test_the_best_factor_has_the_least_level_and_the_value_of_the_row():
    rng = np.random.default_rng(6)
    for _ in range(200):
        mu = rng.uniform(0.01, 1)
        values = {"mu": mu, "beta": rng.uniform(mu, 3), "q": rng.uniform(0.05, 1)}
        values |= {"e0": np.exp(rng.normal()), "s2": np.exp(2 * rng.normal()), "T": int(rng.integers(1, 100))}
        chi = 2 * mu * values["e0"] / (values["q"] * values["s2"])
        C = 2 if chi <= 2 else chi / (chi - 1)

        def row(C, values=values):
            return bound("theorem-2-decreasing", C=C, gamma=bound("theorem-2-offset", C=C, **values), **values)

        def nu(C, values=values):
            return row(C) * (C * values["beta"] / (values["mu"] * values["q"]) + values["T"])

        assert bound("theorem-2-decreasing-best", **values) == pytest.approx(row(C), rel=1e-10)
        assert nu(C) <= nu(np.linspace(1.001, 6, 400)).min() * (1 + 1e-11)


def test_the_best_decreasing_row_takes_no_noise():
    values = {"mu": 0.5, "beta": 1.0, "q": 0.5, "e0": 2.0, "s2": 0.0, "T": 12}
    # C = 1, eta_t = 1/(mu (t + gamma)) with gamma = 3: the bound e_0 4/(4 + T) beside the recursion's e_0 3/(3 + T)
    assert bound("theorem-2-decreasing-best", **values) == pytest.approx(2.0 * 4 / 16)
    levels = recursion(eta=1 / (0.5 * (np.arange(1, 13) + 3)), mu=0.5, beta=1.0, e0=2.0, s2=0.0)
    assert levels[-1] == pytest.approx(2.0 * 3 / 15)


# --- Corollary 1 ---------------------------------------------------------------------------------------------------


def test_the_printed_iterations_are_too_few_and_the_corrected_ones_suffice():
    values = {"C": 2.0, "mu": 0.1, "beta": 1.0, "q": 1.0, "e0": 1.0, "s2": 1e-6, "eps": 0.01, "delta": 0.2}
    values["gamma"] = bound("theorem-2-offset", **values)
    printed = bound("corollary-1", "printed", enforce=False, **values)
    assert printed < 1  # and one step cannot shrink e_0 a hundredfold when mu = beta/10
    assert (1 - values["C"] / (1 + values["gamma"])) ** 2 * values["e0"] > 0.6

    def levels(T):
        eta = values["C"] / (values["mu"] * (np.arange(1, T + 1) + values["gamma"]))
        return recursion(eta=eta, mu=values["mu"], beta=1.0, e0=1.0, s2=values["s2"])[-1]

    T = int(np.ceil(bound("corollary-1", **values)))
    assert levels(T) <= values["eps"]
    assert bound("theorem-2-decreasing-stopped", T=T, **values) <= 2 * values["eps"] * (1 + 1e-9)
    T = int(np.ceil(bound("corollary-1-decreasing-confidence", **values)))
    assert bound("theorem-2-decreasing-running", T=T, **values) <= values["delta"] * (1 + 1e-9)
    assert bound("theorem-2-decreasing-running", T=T - 2, **values) > values["delta"]


def test_noise_that_counts_while_running_is_below_the_sharp_row_and_nearly_attains_it():
    """u_t = (1 - eta_t mu) u_{t-1} + eta_t^2 beta s2/2 min(1, u_{t-1}/eps) step by step, for steps of any C > 1."""
    rng, n, t = np.random.default_rng(9), 600, np.arange(1, 400)[:, None]
    values = {"mu": rng.uniform(0.2, 1, n), "beta": np.ones(n), "q": np.exp(-rng.exponential(1.5, n))}
    values |= {"C": 1 + rng.exponential(1, n), "eps": np.exp(rng.normal(size=n)), "delta": rng.uniform(1e-3, 1, n)}
    gamma = (1 + rng.exponential(size=n)) * values["C"] / (values["mu"] * values["q"]) - 1
    values |= {"gamma": gamma, "e0": values["eps"] * np.exp(rng.exponential(size=n))}
    values["s2"] = values["e0"] * values["mu"] ** 2 * gamma * (values["C"] - 1) * np.exp(rng.normal(0, 2, n))
    levels = [values["e0"]]
    for eta in values["C"] / (values["mu"] * (t + gamma)):
        noise = eta**2 * values["s2"] / 2 * np.minimum(1, levels[-1] / values["eps"])
        levels.append((1 - eta * values["mu"]) * levels[-1] + noise)
    seldom = np.array(levels[1:]) / values["eps"]
    ratio = np.minimum(1, seldom) / bound("theorem-2-decreasing-running-sharp", T=t, **values)
    assert 0.99 < ratio.max() <= 1
    late = t >= bound("corollary-1-decreasing-confidence-sharp", **values)
    assert (seldom <= values["delta"] * (1 + 1e-12))[late].all()
    assert late.sum() > 1e4


def test_the_iterations_at_a_confidence_leave_at_most_delta_running():
    rng = np.random.default_rng(7)
    for _ in range(200):
        values = {"mu": 0.3, "beta": rng.uniform(0.3, 2), "q": rng.uniform(0.1, 1), "s2": np.exp(rng.normal())}
        values |= {"eps": 0.1, "e0": 0.1 * np.exp(rng.uniform(0, 5)), "delta": rng.uniform(1e-3, 1)}
        values["eta"] = min(values["q"] / values["beta"], values["mu"] * 0.1 / (values["beta"] * values["s2"]))
        T = bound("corollary-1-confidence", **values)
        left = bound("corollary-1-probability", T=int(np.ceil(T)), **values)
        assert left <= values["delta"] * (1 + 1e-9)


def test_the_start_at_the_precision_with_certainty_needs_no_iterations():
    values = {"eta": 0.1, "mu": 1.0, "beta": 1.0, "q": 1.0, "s2": 0.1, "eps": 1.0, "e0": 1.0}
    assert bound("corollary-1-confidence", delta=1.0, **values) < 1e-12


def test_the_iterations_at_a_confidence_are_attained_without_noise():
    eta_mu, steps = 1e-4, 2000
    values = {"eta": eta_mu, "mu": 1.0, "beta": 1.0, "q": 1.0, "s2": 0.0, "eps": 1.0, "delta": 1.0}
    e0 = (1 - eta_mu) ** -steps  # the contraction itself reaches eps after exactly `steps`
    assert steps <= bound("corollary-1-confidence", e0=e0, **values) <= steps * (1 + eta_mu)


def test_the_best_step_is_best_and_simpler_to_bound():
    rng = np.random.default_rng(8)
    for _ in range(100):
        values = {"mu": 0.3, "beta": rng.uniform(0.3, 2), "q": rng.uniform(0.1, 1), "s2": np.exp(2 * rng.normal())}
        values |= {"eps": 0.1, "e0": 0.1 * np.exp(rng.uniform(0, 5))}
        best = bound("corollary-1-best-step", **values)
        slowest = max(values["beta"] / (values["q"] * 0.3), values["beta"] * values["s2"] / (0.3**2 * 0.1))
        assert best <= 2 * slowest * (1 + np.log(values["e0"] / 0.1)) * (1 + 1e-11)
        limit = min(values["q"] / values["beta"], 1.8 * 0.3 * 0.1 / (values["beta"] * values["s2"]))
        others = bound("corollary-1-expected-time", eta=limit * np.linspace(0.05, 1, 60), **values)
        assert best <= others.min() * (1 + 1e-11)
