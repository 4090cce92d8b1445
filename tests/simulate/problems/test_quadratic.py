"""Quadratics: every gradient against loops and differentiation, the noise against its stated covariance."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch

from suffice.bounds import InputError
from suffice.simulate import Additive, Quadratics, Randomness
from suffice.simulate.similarity_ratio import ExactSimilarity

N, D = 4, 3


def spectra(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A with known eigenvalues (N, D), and xi."""
    rng = np.random.default_rng(seed)
    eigenvalues = rng.uniform(0.3, 3, (N, D))
    Q = np.linalg.qr(rng.normal(size=(N, D, D)))[0]
    A = np.einsum("nij,nj,nkj->nik", Q, eigenvalues, Q)
    return (A + A.transpose(0, 2, 1)) / 2, rng.normal(size=(N, D)), eigenvalues


def covariances(seed: int = 1) -> np.ndarray:
    root = np.random.default_rng(seed).normal(size=(N, D, D))
    return root @ root.transpose(0, 2, 1)


def models(seed: int = 2, count: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, N, D))


def built(**more) -> tuple[Quadratics, np.ndarray, np.ndarray]:
    A, xi, _ = spectra()
    return Quadratics.of(A, xi, **(more or {"sigma2": 1.0})), A, xi


@pytest.mark.parametrize("shared", [True, False])
def test_no_digits_are_lost_at_distance_1e_minus_7_from_the_own_optimum(shared):
    A, xi, _ = spectra()
    xi = np.broadcast_to(xi[0], xi.shape).copy() if shared else xi
    problem = Quadratics.of(A, xi, sigma2=1.0)
    theta = -xi + 1e-7 * models(count=1)
    F = np.vectorize(Fraction, otypes=[object])
    fa, fx, ft = F(A), F(xi), F(theta[0])
    gap, excess, ratio = np.zeros((N, N)), np.zeros(N), np.ones((N, N))
    for i in range(N):
        own = 2 * fa[i].dot(ft[i] + fx[i])
        excess[i] = (ft[i] + fx[i]).dot(fa[i].dot(ft[i] + fx[i]))
        for k in range(N):
            difference = 2 * fa[k].dot(ft[i] + fx[k]) - own
            gap[i, k] = difference.dot(difference)
            ratio[i, k] = max(1 - difference.dot(difference) / own.dot(own), 0)
    t = torch.from_numpy(theta)
    # gradients are good to about 10 roundings; their differences are no smaller than a hundredth of them
    # (and a client's own gap is the square of 10 roundings of its gradient, not 0, where products are summed otherwise)
    own = (10 * 2.0**-53) ** 2 * float((problem.gradient(t) ** 2).sum(-1).max())
    np.testing.assert_allclose(problem.gradient_gap(t)[0], gap, rtol=1e-12, atol=own)
    np.testing.assert_allclose(problem.excess(t)[0], excess, rtol=1e-13)
    np.testing.assert_allclose(ExactSimilarity().ratio(problem, t, {})[0], ratio, rtol=1e-12, atol=1e-12)


def test_noise_has_the_stated_total_variances_and_given_covariances():
    C, sigma2 = covariances(), np.array([0.5, 1.0, 4.0, 9.0])
    randomness, S = Randomness(seeds=torch.arange(20000)), 20000
    for noise, expected in [
        (built(covariance=C)[0].noise, C),
        (built(sigma2=sigma2)[0].noise, sigma2[:, None, None] / D * np.eye(D)),
    ]:
        np.testing.assert_allclose(noise.sigma2, np.trace(expected, axis1=1, axis2=2), rtol=1e-14)
        np.testing.assert_allclose(noise.factor @ noise.factor.mT, expected, rtol=1e-12, atol=1e-13)
        flat = noise.draw(randomness, 3)[:, :, 0].numpy().reshape(S, N * D)
        full = np.zeros((N * D, N * D))  # clients are independent: off-diagonal blocks vanish
        for k in range(N):
            full[k * D : (k + 1) * D, k * D : (k + 1) * D] = expected[k]
        spread = np.sqrt((np.outer(np.diag(full), np.diag(full)) + full**2) / S)  # Gaussian fourth moments
        assert np.abs((flat.T @ flat / S - full) / spread).max() < 6  # 78 entries, false alarm 2e-7
        assert np.abs(flat.mean(0) / np.sqrt(np.diag(full) / S)).max() < 6


def test_constants_are_twice_the_extreme_eigenvalues_and_the_excess_at_the_start():
    A, xi, eigenvalues = spectra()
    start = models(count=1)[0]
    constants = Quadratics.of(A, xi, covariance=covariances(), start=start, names=("a", "b", "c", "d")).constants()
    np.testing.assert_allclose(constants.mu, 2 * eigenvalues.min(1), rtol=1e-12)
    np.testing.assert_allclose(constants.beta, 2 * eigenvalues.max(1), rtol=1e-12)
    np.testing.assert_allclose(constants.sigma2, [np.trace(c) for c in covariances()], rtol=1e-13)
    np.testing.assert_allclose(constants.excess, [(s + x) @ a @ (s + x) for s, x, a in zip(start, xi, A)], rtol=1e-12)
    assert constants.names == ("a", "b", "c", "d")


def test_a_singular_covariance_is_allowed_and_draws_inside_its_range():
    noise = Additive.given([[[1.0, 1.0], [1.0, 1.0]]], 2, 1)
    draw = noise.draw(Randomness(seeds=torch.arange(100)), 1).numpy()[:, 0, 0]
    np.testing.assert_allclose(draw[:, 0], draw[:, 1], rtol=1e-7, atol=1e-7)  # factor: root of a rounding error
    assert draw.std() > 0.5


def test_the_matrix_that_fails_is_named_whatever_the_scale_of_the_others():
    """Relative tolerances: a small matrix may be definite, and a large one symmetric, where another is not."""
    steep = np.stack([1e-8 * np.eye(2), np.diag([1e-7, 1e8])])
    with pytest.raises(InputError, match=r"^smallest eigenvalue of A\[1\]"):
        Quadratics.of(steep, np.zeros((2, 2)), sigma2=1.0)
    skewed = np.stack([1e6 * np.eye(2), np.eye(2)])
    skewed[:, 0, 1] += [1e-7, 1e-8]
    with pytest.raises(InputError, match=r"^A\[1\] = "):
        Quadratics.of(skewed, np.zeros((2, 2)), sigma2=1.0)
