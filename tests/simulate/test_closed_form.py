"""Moments in closed form against the recursion that probes the algorithm's step."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from suffice.simulate import FixedWeights, Local, Quadratics, expected_excess


def closed_excess(problem: Quadratics, algorithm: Local | FixedWeights, *, iterations: int, eta) -> np.ndarray:
    """E[e_t] for t = 0..T, (T + 1, N), for a constant step size, one number or (N,).

    With delta = theta_i - theta_i*, B = sum_k alpha_ik A_k = U diag(l) U^T and x = 2 eta_i l, a step is
        delta+ = (I - 2 eta B) delta - eta (c + noise),   c = 2 sum_k alpha_ik A_k (theta_i* - theta_k*),
    in the basis U  u_t = (1 - x)^t u_0 - eta c (1 - (1 - x)^t) / x  and
        P_ab(t) = eta^2 Q_ab (1 - (1 - x_a)^t (1 - x_b)^t) / (x_a + x_b - x_a x_b),   Q = U^T (sum_k alpha_ik^2 C_k) U.
    """
    n = problem.clients
    step = np.broadcast_to(eta, (n,))[:, None]
    A, xi, covariance = (part.numpy() for part in (problem.A, problem.xi, problem.noise.covariance))
    alpha = algorithm.alpha.numpy() if isinstance(algorithm, FixedWeights) else np.eye(n)
    d = problem.features
    flat = A.reshape(n, -1)
    mixed = (alpha @ flat).reshape(n, d, d)
    eigenvalues, basis = np.linalg.eigh(mixed)
    to_basis = basis.transpose(0, 2, 1)
    target = np.einsum("kde,ke->kd", A, xi)
    pull = 2 * (alpha @ target - np.einsum("ide,ie->id", mixed, xi))
    start = problem.start.numpy() + xi
    u, c = (np.einsum("iad,id->ia", to_basis, vector) for vector in (start, pull))
    curvature = to_basis @ A @ basis
    noise = to_basis @ (alpha**2 @ covariance.reshape(n, -1)).reshape(n, d, d) @ basis
    x = 2 * step * eigenvalues
    decay = x[:, :, None] + x[:, None] - x[:, :, None] * x[:, None]
    f = _fall(x, np.arange(iterations + 1)[:, None, None])  # 1 - (1 - x)^t, (T + 1, N, d)
    mean = u - f * (u + step * c / x)
    # 1 - (1 - f_a)(1 - f_b) = f_a + f_b - f_a f_b, and the weights of a and b are symmetric
    spread = step[..., None] ** 2 * curvature * noise / decay
    image = (f.transpose(1, 0, 2) @ spread).transpose(1, 0, 2)
    bias = ((mean.transpose(1, 0, 2) @ curvature).transpose(1, 0, 2) * mean).sum(-1)
    return bias + 2 * (f * spread.sum(-1)).sum(-1) - (image * f).sum(-1)


def _fall(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    """1 - (1 - x)^t without cancellation where x is small."""
    gentle = np.abs(x) < 0.5
    return np.where(gentle, -np.expm1(t * np.log1p(-np.where(gentle, x, 0))), 1 - (1 - x) ** t)


def network(n: int, d: int) -> tuple[Quadratics, FixedWeights]:
    rng = np.random.default_rng(11)
    Q = np.linalg.qr(rng.normal(size=(n, d, d)))[0]
    A = np.einsum("nij,nj,nkj->nik", Q, rng.uniform(0.2, 1.5, (n, d)), Q)
    root = rng.normal(size=(n, d, d))
    problem = Quadratics.of(
        (A + A.transpose(0, 2, 1)) / 2,
        rng.normal(size=(n, d)),
        covariance=root @ root.transpose(0, 2, 1),
        start=rng.normal(size=(n, d)),
    )
    return problem, FixedWeights(alpha=torch.from_numpy(rng.uniform(0, 2 / n, (n, n))))


@pytest.mark.parametrize("eta", [0.11, np.array([0.02, 0.9, 1e-9, 0.3])], ids=["number", "vector"])
def test_it_is_the_recursion(eta):
    """With steps of both signs of 1 - 2 eta l, and one so small that 1 - (1 - x)^t would cancel."""
    problem, fixed = network(4, 3)
    for algorithm in (Local(), fixed):
        expected = expected_excess(problem, algorithm, iterations=40, eta=eta)
        got = closed_excess(problem, algorithm, iterations=40, eta=eta)
        assert got.shape == (41, 4)
        # 40 steps of rounding in the recursion, some of them expanding
        np.testing.assert_allclose(got, expected, rtol=1e-10)
