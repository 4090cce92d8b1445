"""Lemma 1 and Theorem 1 of the adaptive paper on quadratics: exact expectations of one step and of a run."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.bounds import ConditionError, evaluate, find
from suffice.verification.instances.quadrature_1d import counterexample


def bound(key, edition="corrected", enforce=True, **values):
    """The record's bound; keywords that it does not take are left out."""
    theorem = find(f"adaptive/{key}", edition)
    return evaluate(theorem, enforce=enforce, **{p.name: values[p.name] for p in theorem.parameters})


# --- Lemma 1: one step on quadratics R_k = |S_k (theta - x_k)|^2 / 2, noise of covariance C_k ------------------------


def one_step(rng, clients, d, *, sphere=False, signed=False):
    """Scalars of Lemma 1 for a random network at a random model, and the exact E[e_t]."""
    A = rng.normal(size=(clients, d, d)) * 0.6
    A = A @ A.transpose(0, 2, 1) + 0.1 * np.eye(d)
    if sphere:
        A[0] = 0.7 * np.eye(d)
    root = rng.normal(size=(clients, d, d)) * 0.3
    covariance = root @ root.transpose(0, 2, 1)
    theta = rng.normal(size=d)
    minimiser = np.concatenate((np.zeros((1, d)), rng.normal(size=(clients - 1, d)) * 0.3))
    g = np.einsum("kde,ke->kd", A, theta - minimiser)
    alpha = rng.uniform(0, 1, clients) * (np.where(np.arange(clients) == 1, -0.3, 1) if signed else 1)
    beta = np.linalg.eigvalsh(A[0]).max()
    eta = rng.uniform(0.05, 1) / (beta * alpha.sum())
    mean = theta - eta * alpha @ g
    noise = (alpha**2 * np.einsum("de,ked->k", A[0], covariance)).sum()
    total = alpha @ g / alpha.sum()
    values = {
        "eta": eta,
        "beta": beta,
        "e0": theta @ A[0] @ theta / 2,
        "weight": alpha.sum(),
        "discrepancy": (alpha * ((g - g[0]) ** 2).sum(-1)).sum(),
        "gradient": np.linalg.norm(g[0]),
        "aggregate": np.linalg.norm(total),
        "aggregate_gap": np.linalg.norm(total - g[0]),
        "V": (alpha**2 * np.trace(covariance, axis1=1, axis2=2)).sum(),
    }
    return values, mean @ A[0] @ mean / 2 + eta**2 * noise / 2


def test_the_descent_holds_on_random_networks_and_before_jensen_is_never_weaker():
    rng = np.random.default_rng(1)
    for _ in range(300):
        values, exact = one_step(rng, int(rng.integers(1, 5)), int(rng.integers(1, 4)))
        sharp, plain = bound("lemma-1-mean-gradient", **values), bound("lemma-1", **values)
        # equality happens in dimension 1: rounding of numbers of size e_0
        assert exact <= sharp + 1e-12 * values["e0"]
        assert sharp <= plain + 1e-11 * (values["e0"] + abs(plain))


def test_before_jensen_the_descent_is_an_equality_on_a_sphere_at_any_step_and_sign():
    rng = np.random.default_rng(2)
    for _ in range(100):
        values, _ = one_step(rng, 4, 3, sphere=True, signed=True)
        eta = values["eta"] * 3  # beyond the step limit
        inner = (values["gradient"] ** 2 + values["aggregate"] ** 2 - values["aggregate_gap"] ** 2) / 2
        step = eta * values["weight"]
        moved = values["e0"] - step * inner + 0.7 / 2 * (step * values["aggregate"]) ** 2
        exact = moved + eta**2 * 0.7 * values["V"] / 2
        got = bound("lemma-1-mean-gradient", **values | {"eta": eta, "beta": 0.7})
        assert got == pytest.approx(exact, rel=1e-11, abs=1e-11 * values["e0"])


def test_signed_weights_keep_the_descent_before_jensen():
    rng = np.random.default_rng(3)
    for _ in range(200):
        values, exact = one_step(rng, 4, 3, signed=True)
        assert exact <= bound("lemma-1-mean-gradient", **values) * (1 + 1e-12)


def test_the_printed_lemma_1_fails_from_the_minimum():
    # R = theta^2/2, theta_0 = 0, variance 10, eta = 1/2: E[e_1] = eta^2 10/2, E|grad R(theta_1)|^2 = eta^2 10
    values = {"eta": 0.5, "beta": 1.0, "e0": 0.0, "weight": 1.0, "discrepancy": 0.0, "V": 10.0}
    assert bound("lemma-1", "printed", next_gradient2=2.5, **values) == pytest.approx(0.625)
    assert bound("lemma-1", gradient=0.0, **values) == pytest.approx(1.25)  # and this is the truth


def test_the_descent_needs_the_step_limit_and_the_mean_gradient_does_not():
    values = {"eta": 1.9, "beta": 1.0, "e0": 0.5, "weight": 1.0, "discrepancy": 0.0, "gradient": 1.0, "V": 0.0}
    exact = (1 - 1.9) ** 2 / 2
    assert exact > bound("lemma-1", enforce=False, **values)
    assert bound("lemma-1-mean-gradient", aggregate=1.0, aggregate_gap=0.0, **values) == pytest.approx(exact)
    with pytest.raises(ConditionError, match="step size"):
        bound("lemma-1", **values)


def test_noise_shared_by_the_clients_breaks_the_descent():
    # ten identical clients R = theta^2/2 at the minimum, alpha = 1/10, noise of variance 1: shared, or uncorrelated
    alpha, eta = np.full(10, 0.1), 0.5
    values = {"eta": eta, "beta": 1.0, "e0": 0.0, "weight": alpha.sum(), "discrepancy": 0.0, "gradient": 0.0}
    got = bound("lemma-1", V=(alpha**2).sum(), **values)
    shared, uncorrelated = eta**2 / 2 * alpha.sum() ** 2, eta**2 / 2 * (alpha**2).sum()
    assert got == pytest.approx(uncorrelated)
    assert shared > 9 * got


def test_the_descent_is_attained_at_the_step_limit():
    theta, noise = 3.0, 0.4  # one client R = theta^2/2
    values = {"eta": 1.0, "beta": 1.0, "e0": theta**2 / 2, "weight": 1.0, "discrepancy": 0.0, "gradient": theta}
    assert bound("lemma-1", V=noise, **values) == pytest.approx(noise / 2)


# --- Theorem 1 -------------------------------------------------------------------------------------------------


def aligned(rng, clients=4):
    """Peers R_k = c_k R_i, R_i = mu |theta|^2/2: similarity r_k and hence all weights stay fixed."""
    r = np.concatenate(([1.0], rng.uniform(0.05, 1, clients - 1)))
    return r, 1 - np.sqrt(1 - r), rng.uniform(0.1, 10, clients)


def fixed(e0, mu, eta, weights, scale, sigma2, T):
    """E[e_T] when theta_t = (1 - eta mu sum w c) theta_{t-1} + noise."""
    rest = (1 - eta * mu * (weights * scale).sum()) ** 2
    for _ in range(T):
        e0 = rest * e0 + eta**2 * mu / 2 * (weights**2 * sigma2).sum()
    return e0


def test_theorem_1_holds_for_definition_1_and_for_any_weights_that_sum_to_1():
    rng = np.random.default_rng(4)
    for _ in range(200):
        r, scale, sigma2 = aligned(rng)
        mu, e0, T = 0.6, rng.uniform(0.1, 10), int(rng.integers(1, 30))
        beta = mu * rng.uniform(1, 3)
        alpha = r / sigma2 / (r**2 / sigma2).sum()
        q = 1 / alpha.sum()
        eta = rng.uniform(0.1, 1) * q / beta
        values = {"mu": mu, "beta": beta, "e0": e0, "T": T}
        got = bound("theorem-1", eta=eta, q=q, V=(alpha**2 * sigma2).sum(), **values)
        assert fixed(e0, mu, eta, alpha, scale, sigma2, T) <= got
        w = rng.dirichlet(np.ones(len(r)))
        eta = rng.uniform(0.1, 1) / beta
        got = bound("theorem-1-normalised", eta=eta, q=(w * r).sum(), V=(w**2 * sigma2).sum(), **values)
        assert fixed(e0, mu, eta, w, scale, sigma2, T) <= got


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
