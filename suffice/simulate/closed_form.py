"""Expected excess losses in closed form, where one exists: fixed weights on quadratics with additive noise.

With delta = theta_i - theta_i*, B = sum_k alpha_ik A_k = U diag(l) U^T and x = 2 eta_i l, a step is
    delta+ = (I - 2 eta B) delta - eta (c + noise),   c = 2 sum_k alpha_ik A_k (theta_i* - theta_k*),
in the basis U  u_t = (1 - x)^t u_0 - eta c (1 - (1 - x)^t) / x  and
    P_ab(t) = eta^2 Q_ab (1 - (1 - x_a)^t (1 - x_b)^t) / (x_a + x_b - x_a x_b),   Q = U^T (sum_k alpha_ik^2 C_k) U.
The cost is O(N d^3 + T N d^2), and no error accumulates over iterations. `probed_moments` finds the same numbers
by probing the algorithm's step; the two share nothing.
"""

from __future__ import annotations

import numpy as np
import torch

from suffice.support.errors import InputError
from suffice.support.numbers import as_numbers

from .algorithms.arguments import pairwise
from .algorithms.fixed_weights import FixedWeights
from .algorithms.local import Local
from .problems.quadratic import Quadratics


def closed_excess(
    problem: Quadratics, algorithm: Local | FixedWeights, *, iterations: int, eta: float | np.ndarray
) -> np.ndarray:
    """E[e_t] for t = 0..T, exactly, (T + 1, N), for a constant step size, one number or (N,). Raises `InputError`."""
    if type(problem) is not Quadratics or problem.shared_noise:
        raise InputError("problem", type(problem).__name__, "give quadratics with independent additive noise")
    if type(algorithm) not in (Local, FixedWeights):
        raise InputError("algorithm", algorithm.name, "give Local or FixedWeights, or use expected_excess")
    if not isinstance(iterations, (int, np.integer)) or iterations < 1:
        raise InputError("iterations", iterations, "give a whole number of iterations, at least 1")
    n = problem.clients
    step = np.broadcast_to(as_numbers("eta", eta, () if np.ndim(eta) == 0 else (n,)), (n,))[:, None]
    if not (step > 0).all():
        raise InputError("eta", eta, f"give a positive step size, or {n} of them")
    A, xi, covariance = (t.double().cpu().numpy() for t in (problem.A, problem.xi, problem.noise.covariance))
    alpha = np.eye(n)
    if isinstance(algorithm, FixedWeights):
        pairwise("alpha", algorithm.alpha, problem)
        alpha = torch.as_tensor(algorithm.alpha, dtype=torch.float64).numpy()
    d = problem.features
    flat = A.reshape(n, -1)
    mixed = (alpha @ flat).reshape(n, d, d)
    eigenvalues, basis = np.linalg.eigh(mixed)
    to_basis = basis.transpose(0, 2, 1)
    target = np.einsum("kde,ke->kd", A, xi)
    pull = 2 * (alpha @ target - np.einsum("ide,ie->id", mixed, xi))
    start = problem.start.double().cpu().numpy() + xi
    u, c = (np.einsum("iad,id->ia", to_basis, vector) for vector in (start, pull))
    curvature = to_basis @ A @ basis
    noise = to_basis @ (alpha**2 @ covariance.reshape(n, -1)).reshape(n, d, d) @ basis
    x = 2 * step * eigenvalues
    decay = x[:, :, None] + x[:, None] - x[:, :, None] * x[:, None]
    if (x == 0).any() or (decay == 0).any():
        raise InputError("alpha", "singular", "weights whose mean Hessian is singular have no closed form")
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
