"""Exact certificates of quadratic pairs against search, at a gradient level and at an excess loss."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from largest_gradient_ratio import AtExcess
from scipy.optimize import minimize


def quadratics(rng, clients, d, *, spread=3.0, shift=0.3):
    """Symmetric positive definite A with eigenvalues in [1/spread, spread], and minimisers -xi."""
    Q = np.linalg.qr(rng.normal(size=(clients, d, d)))[0]
    values = np.exp(rng.uniform(-np.log(spread), np.log(spread), (clients, d)))
    A = np.einsum("nij,nj,nkj->nik", Q, values, Q)
    return (A + A.swapaxes(1, 2)) / 2, shift * rng.normal(size=(clients, d))


def linear_map(A, xi, i, k):
    return np.eye(A.shape[-1]) - A[k] @ np.linalg.inv(A[i]), 2 * A[k] @ (xi[i] - xi[k])


def largest_ratio(A, xi, i, k, eps, starts):
    """The largest ratio over e_i = eps by search; the sup over e_i >= eps is there: on each ray the ratio is the value
    of an even convex function of 1/|g| after taking the better sign."""
    M, v = linear_map(A, xi, i, k)
    root = np.linalg.cholesky(A[i])  # g = 2 sqrt(eps) root u has g^T A^-1 g / 4 = eps |u|^2

    def ratio(u):
        g = 2 * np.sqrt(eps) * (u / np.linalg.norm(u, axis=-1, keepdims=True)) @ root.T
        return ((g @ M.T + v) ** 2).sum(-1) / (g**2).sum(-1)

    best = starts[np.argsort(ratio(starts))[-2:]]
    options = {"xatol": 1e-8, "fatol": 1e-14, "maxiter": 4000, "maxfev": 4000}
    return max(-minimize(lambda u: -ratio(u), u, method="Nelder-Mead", options=options).fun for u in best)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("eps", [1e-3, 0.1, 3.0, 300.0])
def test_ratio_at_an_excess_is_the_largest_ratio_that_search_finds(d, eps):
    rng = np.random.default_rng(d)
    A, xi = quadratics(rng, 3, d)
    got = AtExcess(A=A, xi=xi).ratio_at_excess(np.full(3, eps))
    np.testing.assert_array_equal(np.diagonal(got), 0)
    starts = rng.normal(size=(4000, d))
    for i in range(3):
        for k in set(range(3)) - {i}:
            # flat at the maximum: the search ends within rounding; the dual loses 1e-12 at a kink
            np.testing.assert_allclose(largest_ratio(A, xi, i, k, eps, starts), got[i, k], rtol=1e-9)


def known_pair():
    """A_i = diag(1e4, 1), M = diag(.9, 0), v = (.9, 0)."""
    return np.array([np.diag([1e4, 1.0]), np.diag([1e3, 1.0])]), np.array([[0.9 / 2000, 0.0], [0.0, 0.0]])


def test_the_excess_certificate_halves_the_ratio_of_the_gradient_level_on_a_known_pair():
    certificate = AtExcess(A=known_pair()[0], xi=known_pair()[1])
    mu, eps = 2.0, 0.25  # mu = 2 lambda_min(A_i): |grad R_i|^2 >= 2 mu eps = 1
    np.testing.assert_allclose(certificate.best_pair(np.full(2, 2 * mu * eps)).ratio[0, 1], 3.24, rtol=1e-12)
    np.testing.assert_allclose(certificate.ratio_at_excess(np.full(2, eps))[0, 1], 1.620, rtol=0, atol=5e-4)
    # larger eps: nothing is known from the gradient level, and something from the excess
    excess = np.full(2, 5.0)
    assert certificate.similarity(2 * mu * excess)[0, 1] == 0
    assert certificate.similarity_at_excess(excess)[0, 1] > 0.09


def test_the_excess_certificate_is_never_worse_than_the_gradient_level_and_batches_over_precisions():
    rng = np.random.default_rng(5)
    A, xi = quadratics(rng, 4, 3)
    certificate = AtExcess(A=A, xi=xi)
    mu = 2 * np.linalg.eigvalsh(A)[:, 0]
    eps = np.array([[0.01], [1.0], [50.0]]) * np.ones(4)
    tight, plain = certificate.ratio_at_excess(eps), certificate.best_pair(2 * mu * eps).ratio
    assert tight.shape == (3, 4, 4)
    off = ~np.eye(4, dtype=bool)
    gain = (plain / np.where(off, tight, 1))[:, off]
    assert (gain >= 1 - 1e-9).all()
    assert gain.max() > 1.02
    for row, level in enumerate(eps):
        np.testing.assert_allclose(tight[row], certificate.ratio_at_excess(level), rtol=1e-14)
    np.testing.assert_allclose(certificate.ratio_at_excess(np.float64(1.0)), tight[1], rtol=1e-14)
    near = AtExcess(A=np.eye(3) + 0.05 * A, xi=xi)
    rho = near.similarity_at_excess(eps[2])
    np.testing.assert_array_equal(np.diagonal(rho), 1)
    assert (rho[off] > 0.3).all()
    np.testing.assert_allclose(rho[off], (1 - near.ratio_at_excess(eps[2]))[off], rtol=0, atol=1e-12)


def test_the_excess_certificate_when_the_shift_is_not_seen():
    # M^T v = 0: the infimum is the limit s -> 0, lambda_max(M^T M + |v|^2 A_i^-1 / (4 eps))
    A = np.array([np.diag([2.0, 0.5]), np.diag([1.2, 0.5])])  # M = diag(.4, 0)
    xi = np.array([[0.0, 0.8], [0.0, 0.0]])  # v = (0, .8)
    for eps in (0.1, 1.0, 7.0):
        got = AtExcess(A=A, xi=xi).ratio_at_excess(np.full(2, eps))[0, 1]
        expected = np.linalg.eigvalsh(np.diag([0.16, 0]) + 0.64 / (4 * eps) * np.diag([0.5, 2.0]))[-1]
        np.testing.assert_allclose(got, expected, rtol=1e-13)
    same = AtExcess(A=np.stack([A[0]] * 2), xi=xi)  # M = 0: |v|^2 / (4 eps lambda_min(A_i))
    np.testing.assert_allclose(same.ratio_at_excess(np.full(2, 0.7))[0, 1], 0.64 / (4 * 0.7 * 0.5), rtol=1e-13)
    equal = AtExcess(A=A, xi=np.zeros((2, 2)))  # v = 0: |M|^2 at every excess
    np.testing.assert_allclose(equal.ratio_at_excess(np.array([1e-6, 1e6]))[[0, 1], [1, 0]], [0.16, 4 / 9], rtol=1e-13)


def test_similarity_at_an_excess_is_never_above_the_truth_for_ill_conditioned_pairs():
    rng = np.random.default_rng(6)
    for spread in (10.0, 1e3, 1e5):
        A, _ = quadratics(rng, 1, 3, spread=spread)
        L, S, values = np.linalg.cholesky(A[0]), rng.normal(size=(3, 3)), np.linalg.eigvalsh(A[0])
        peer = L @ (np.eye(3) + 0.05 * np.sqrt(values[0] / values[-1]) * (S + S.T)) @ L.T
        A = np.stack([A[0], (peer + peer.T) / 2])
        shift = np.linalg.solve(A[1], 0.3 * np.sqrt(values[0]) * rng.normal(size=3))
        xi = np.stack([shift, np.zeros(3)])
        for eps in (1.0, 1e3):
            rho = AtExcess(A=A, xi=xi).similarity_at_excess(np.full(2, eps))[0, 1]
            with mpmath.workdps(40):
                own, peer = (mpmath.matrix(x.tolist()) for x in A)
                M = mpmath.eye(3) - peer * own**-1
                v = 2 * peer * mpmath.matrix((xi[0] - xi[1]).tolist())
                root = mpmath.cholesky(own)
                attained = mpmath.mpf(0)
                starts = rng.normal(size=(300, 3))
                floats = np.array(root.tolist(), dtype=float)
                Mf, vf = np.array(M.tolist(), dtype=float), np.array(v.tolist(), dtype=float)[:, 0]

                def ratio(u, eps=eps, floats=floats, Mf=Mf, vf=vf):
                    g = 2 * np.sqrt(eps) * floats @ (u / np.linalg.norm(u))
                    return ((Mf @ g + vf) ** 2).sum() / (g**2).sum()

                for u in sorted(starts, key=ratio)[-2:]:
                    u = minimize(lambda u: -ratio(u), u, method="Nelder-Mead", options={"maxiter": 3000}).x
                    u = mpmath.matrix(u.tolist())
                    g = 2 * mpmath.sqrt(eps) * root * u / mpmath.norm(u)
                    attained = max(attained, (mpmath.norm(M * g + v) / mpmath.norm(g)) ** 2)
                assert rho <= 1 - attained
                assert 0.1 < rho >= 1 - attained - 1e-4  # and close: search and rounding


def test_nothing_is_promised_at_an_excess_that_underflowed():
    certificate = AtExcess(A=np.array([np.eye(2), 1.1 * np.eye(2)]), xi=np.array([[0.1, 0], [0, 0.2]]))
    np.testing.assert_array_equal(certificate.similarity_at_excess(np.zeros(2)), np.eye(2))
    np.testing.assert_array_equal(certificate.similarity_at_excess(np.full(2, 1e-320)), np.eye(2))
