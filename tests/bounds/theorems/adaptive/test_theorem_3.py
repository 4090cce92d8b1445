"""Theorem 3 of the adaptive paper: where the print fails, a loss that is not convex, and where bounds are attained."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.bounds import evaluate, find


def bound(key, edition="corrected", enforce=True, **values):
    """The record's bound; keywords that it does not take are left out."""
    theorem = find(f"adaptive/{key}", edition)
    return evaluate(theorem, enforce=enforce, **{p.name: values[p.name] for p in theorem.parameters})


# --- Theorem 3 -----------------------------------------------------------------------------------------------------


def test_the_printed_theorem_3_fails_when_noise_is_small():
    # R = (x^2 + y^2/100)/2 from (0, 10), variance 1e-8: the step is 1/beta = 1 and y shrinks by 1 % per step
    T, values = 5, {"beta": 1.0, "q": 1.0, "e0": 0.5, "s2": 1e-8, "T": 5}
    exact = np.mean([(0.01 * 10 * 0.99**t) ** 2 for t in range(T)])
    assert exact == pytest.approx(0.00961, abs=1e-5)
    assert bound("theorem-3", "printed", **values) == pytest.approx(8.944e-5, rel=1e-3)
    assert exact <= bound("theorem-3", **values)
    assert exact <= bound("theorem-3-any-step", eta=1.0, **values)


def wave(G, eta, s2, theta0, T):
    """R = 1 - cos(theta), additive noise: the mean of sin^2 before tau_G, the same unstopped, E[min(tau_G, T)]."""
    nodes = np.linspace(-5, 10, 1001)
    width = nodes[1] - nodes[0]
    alive = np.sin(nodes) ** 2 >= G

    def kernel(at):
        mean = at - eta * np.sin(at)
        exponent = np.minimum((nodes[:, None] - mean) ** 2 / (2 * eta**2 * s2), 100)  # no denormal numbers
        return np.exp(-exponent) * width / np.sqrt(2 * np.pi * eta**2 * s2)

    killed = free = kernel(np.array([theta0]))[:, 0]
    sums, time, all_sums, below = np.sin(theta0) ** 2, 1.0, np.sin(theta0) ** 2, 0.0
    transfer = kernel(nodes)
    for _ in range(T - 1):
        sums += (killed * alive * np.sin(nodes) ** 2).sum()
        all_sums += (free * np.sin(nodes) ** 2).sum()
        below = max(below, (free * ~alive).sum())
        time += (killed * alive).sum()
        killed, free = transfer @ (killed * alive), transfer @ free
    assert free.sum() == pytest.approx(1, abs=1e-6)
    return sums / T, all_sums / T, time, below


@pytest.mark.parametrize(("G", "s2", "theta0"), [(0.1, 0.05, 1.5), (0.3, 0.4, 2.5), (0.05, 0.01, 2.9)])
def test_the_gradient_sums_and_times_hold_on_a_loss_that_is_not_convex(G, s2, theta0):
    values = {"beta": 1.0, "q": 1.0, "e0": 1 - np.cos(theta0), "s2": s2, "G": G, "T": 30}
    for eta in (0.3, min(1.0, G / (2 * s2)), min(1.0, np.sqrt(2 * values["e0"] / (30 * s2)))):
        sums, all_sums, time, below = wave(G, eta, s2, theta0, 30)
        assert sums <= bound("theorem-3-any-step", eta=eta, **values)
        assert all_sums <= bound("theorem-3-unconditional", eta=eta, V_max=s2, below=below, **values)
        if eta * s2 <= 0.9 * G:
            assert time <= bound("theorem-3-hitting-time", eta=eta, **values)
    assert sums <= bound("theorem-3", **values)
    _, _, time, _ = wave(G, min(1.0, G / (2 * s2)), s2, theta0, 30)
    assert time <= bound("theorem-3-best-step", **values)


def test_theorem_3_is_attained_in_one_step_without_noise():
    theta, beta = 3.0, 2.0
    values = {"eta": 1 / beta, "beta": beta, "q": 1.0, "e0": beta * theta**2 / 2, "s2": 0.0, "T": 1}
    G = (beta * theta) ** 2
    assert bound("theorem-3-any-step", **values) == pytest.approx(G)
    assert bound("theorem-3", **values) == pytest.approx(G)
    assert bound("theorem-3-hitting-time", G=G, **values) == pytest.approx(1)  # after one step the gradient is 0
    assert bound("theorem-3-best-step", G=G, **values) == pytest.approx(1)


def test_the_best_steps_of_theorem_3_are_the_closed_forms():
    rng = np.random.default_rng(9)
    for _ in range(100):
        values = {"beta": np.exp(rng.normal()), "q": rng.uniform(0.05, 1), "e0": np.exp(rng.normal())}
        values |= {"s2": np.exp(2 * rng.normal()), "T": int(rng.integers(1, 200)), "G": np.exp(rng.normal())}
        limit = values["q"] / values["beta"]
        etas = limit * np.geomspace(1e-4, 1, 300)
        assert bound("theorem-3", **values) <= bound("theorem-3-any-step", eta=etas, **values).min() * (1 + 1e-11)
        plain = 2 * values["e0"] / (limit * values["T"])
        printed = bound("theorem-3", "printed", **values)
        assert bound("theorem-3", **values) <= (plain + printed) * (1 + 1e-11)
        best = bound("theorem-3-best-step", **values)
        if values["G"] / (2 * values["beta"] * values["s2"]) <= limit:
            assert best == pytest.approx(8 * values["beta"] * values["s2"] * values["e0"] / values["G"] ** 2, rel=1e-10)
        else:
            assert best <= 4 * values["e0"] / (limit * values["G"]) * (1 + 1e-11)
