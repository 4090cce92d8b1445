"""Noise that grows with the gradient: exact moments of least squares against the adaptive paper's extended results."""

from __future__ import annotations

import numpy as np
import pytest
from records import bound_of  # tests/helpers

from suffice.bounds import ConditionError

bound = bound_of("adaptive")


# --- Multiplicative noise ------------------------------------------------------------------------------------------


def gradient_covariance(H, D, label):
    """Covariance of g = 2 x (x^T D - noise), x ~ N(0, H), by Gauss-Hermite: exact for a polynomial of degree 4."""
    x, w = np.polynomial.hermite_e.hermegauss(4)
    d = len(D)
    grid = np.stack(np.meshgrid(*[x] * d, indexing="ij"), -1).reshape(-1, d) @ np.linalg.cholesky(H).T
    weight = np.prod(np.stack(np.meshgrid(*[w / w.sum()] * d, indexing="ij"), -1).reshape(-1, d), -1)
    g = 2 * grid * (grid @ D)[:, None]
    second = np.einsum("n,nd,ne->de", weight, g, g) + 4 * label * H
    mean = weight @ g
    return mean, second - np.outer(mean, mean)


def test_the_variance_of_a_least_squares_gradient_is_exact():
    rng = np.random.default_rng(10)
    for _ in range(20):
        root = rng.normal(size=(3, 3))
        H, D, label = root @ root.T + 0.1 * np.eye(3), rng.normal(size=3), rng.uniform(0, 2)
        mean, covariance = gradient_covariance(H, D, label)
        values = {"trace": np.trace(H), "e0": D @ H @ D, "gradient": np.linalg.norm(mean), "label_variance": label}
        assert bound("least-squares-variance", batch=5, **values) == pytest.approx(np.trace(covariance) / 5, rel=1e-11)
        # M = 1 + tr(H)/lambda_min(H) is the constant of Var <= M |grad R|^2
        M = 1 + np.trace(H) / np.linalg.eigvalsh(H).min()
        assert np.trace(covariance) - 4 * label * np.trace(H) <= M * (mean**2).sum() * (1 + 1e-12)
    mean, covariance = gradient_covariance(np.eye(3), np.array([1.0, 2.0, 0.0]), 0.0)
    assert np.trace(covariance) == pytest.approx(4 * (mean**2).sum())  # H = I: M = d + 1


def test_the_total_of_the_multiplicative_noise_is_sharp_for_continuous_weights():
    for K in (0.5, 1.0, 4.0):
        peers = 200_000
        r = np.full(peers, np.sqrt((1 - 1 / (2 * K)) / (K * peers)))
        alpha = np.concatenate(([1.0], K * r)) / (1 + (K * r**2).sum())
        Q = (alpha**2 * (1 + np.sqrt(1 - np.concatenate(([1.0], r)))) ** 2).sum()
        got = bound("multiplicative-total", noise_factor=1.0, peak=1.0, advantage=K)
        assert 0.99 * got <= Q <= got
    assert bound("multiplicative-total", noise_factor=3.0, peak=1.0, advantage=1.0) == pytest.approx(4)
    assert bound("multiplicative-total", noise_factor=3.0, peak=1.0, advantage=0.2) == pytest.approx(3)


def test_unequal_variances_exceed_four_over_phi_of_one():
    a, r = np.array([1.0, 100.0]), np.array([1.0, 0.1])
    alpha = a * r / (a * r * r).sum()
    realised = (alpha**2 * (1 + np.sqrt(1 - r)) ** 2).sum()
    assert realised == pytest.approx(95.2, abs=0.1)
    assert realised <= bound("multiplicative-total", noise_factor=1.0, peak=1.0, advantage=100.0)


def test_binary_weights_stay_below_the_total():
    rng = np.random.default_rng(12)
    for _ in range(500):
        n, threshold = int(rng.integers(2, 30)), rng.uniform(0.05, 1)
        r = np.concatenate(([1.0], threshold + (1 - threshold) * rng.uniform(0, 1, n - 1) ** 4))
        a = np.concatenate(([1.0], np.exp(rng.normal(size=n - 1) * rng.uniform(0, 2))))
        alpha = a * threshold / (a * threshold * r).sum()
        realised = (alpha**2 * (1 + np.sqrt(1 - r)) ** 2).sum()
        assert realised <= bound("multiplicative-total", noise_factor=1.0, peak=threshold, advantage=a[1:].max())


def least_squares(eta, h, d, n, e0, label, T):
    """E[e_T] from the moments of one gradient: D_t = D - eta g, H = h I."""
    for _ in range(T):
        D = np.zeros(d)
        D[0] = np.sqrt(e0 / h)
        mean, covariance = gradient_covariance(h * np.eye(d), D, label)
        e0 = h * (((D - eta * mean) ** 2).sum() + eta**2 * np.trace(covariance) / n)
    return e0


@pytest.mark.parametrize(("eta", "h", "d", "n"), [(0.1, 1.0, 3, 1), (0.3, 0.7, 2, 4), (0.45, 1.0, 1, 50)])
def test_the_least_squares_rate_is_exact(eta, h, d, n):
    for label in (0.0, 0.6):
        for T in (0, 1, 7):
            values = {"eta": eta, "h": h, "d": d, "batch": n, "e0": 2.0, "label_variance": label, "T": T}
            exact = least_squares(eta, h, d, n, 2.0, label, T)
            assert bound("least-squares-rate", **values) == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize(
    ("eta", "d", "n", "factor"),
    [(1 / 16, 10, 1, 0.9375), (1 / 16, 10, 20, 0.774), (1 / 4, 2, 1, 1.0), (1 / 8, 10, 1, 1.25)],
)
def test_the_steps_of_the_experiments_shrink_or_not_in_mean_square(eta, d, n, factor):
    values = {"eta": eta, "h": 1.0, "d": d, "batch": n, "e0": 1.0, "label_variance": 0.0, "T": 1}
    assert bound("least-squares-rate", enforce=False, **values) == pytest.approx(factor, abs=5e-4)
    if factor >= 1:  # the printed steps 1/(2 beta) at d = 2 and 1/(4 beta) at d = 10
        with pytest.raises(ConditionError, match="step size"):
            bound("least-squares-rate", **values)


def test_theorem_1_with_multiplicative_noise_contains_least_squares_and_is_attained_at_one_over_beta():
    rng = np.random.default_rng(13)
    for _ in range(100):
        h, d, n, T = rng.uniform(0.1, 2), int(rng.integers(1, 6)), int(rng.integers(12, 60)), int(rng.integers(1, 40))
        beta, Q, label = 2 * h, (d + 1) / n, rng.uniform(0, 1)
        eta = rng.uniform(0.1, 1) / beta
        same = {"eta": eta, "e0": 1.5, "T": T}
        exact = bound("least-squares-rate", h=h, d=d, batch=n, label_variance=label, **same)
        more = {"mu": beta, "beta": beta, "q": 1.0, "Q": Q, "split": eta * beta * Q, "V": 4 * label * h * d / n}
        assert exact <= bound("theorem-1-multiplicative", **same, **more) * (1 + 1e-11)
        same["eta"], more["split"] = 1 / beta, Q
        exact = bound("least-squares-rate", h=h, d=d, batch=n, label_variance=label, **same)
        assert bound("theorem-1-multiplicative", **same, **more) == pytest.approx(exact, rel=1e-9)
