"""The mean of the clients' losses, f(x) = (1/N) sum_k R_k(x): its minimiser x*, its excess, how far clients are apart.

Quadratics: with m the mean of the clients' minimisers x_k, sum_k A_k (x - x_k) = 0 is
    x* = m + (sum_k A_k)^-1 sum_k A_k (x_k - m),
which is m without rounding where all minimisers are one. Sums over coordinates: each coordinate of x* lies among those
of the x_k, as every loss falls towards its own; a grid finds the deepest cell, and where f stops falling is the place
in it. Any other loss: BFGS from m.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from .problem import Problem
from .problems.nonconvex import Separable

_CELLS = 256
_PARTS, _TIMES = 32, 10
"""A cell is cut into as many parts, as often: 2^-50 of it is left."""


def minimiser(problem: Problem) -> Tensor:
    """x* (d,): of several the one that was found."""
    optimum = problem.optimum
    middle = optimum.mean(0)
    A: Any = getattr(problem, "A", None)
    if A is not None:
        pull = torch.einsum("kde,ke->d", A, optimum - middle)
        # a flat direction keeps the mean
        return middle + torch.linalg.pinv(A.sum(0), hermitian=True) @ pull
    if isinstance(problem, Separable):
        return _by_coordinates(problem)
    return _by_descent(problem, middle)


def _by_coordinates(problem: Separable) -> Tensor:
    low, high = problem.optimum.amin(0), problem.optimum.amax(0)
    grid = torch.linspace(0, 1, _CELLS + 1).to(low)[:, None, None]

    def at(points: Tensor) -> Tensor:
        """Distances to the clients' minimisers of points (G, 1, d) between both ends, (G, N, d)."""
        return low + points * (high - low) - problem.optimum

    deepest = (problem.scale * problem.profile.value(at(grid))).mean(1).argmin(0)
    cell = (high - low) / _CELLS
    low = torch.maximum(low + (deepest - 1) * cell, low)
    high = torch.minimum(low + 2 * cell, high)
    grid = grid[:: _CELLS // _PARTS]
    for _ in range(_TIMES):
        falling = (problem.scale * problem.profile.slope(at(grid))).mean(1) < 0
        last = falling.long().cumprod(0).sum(0) - 1  # the last point before f stops falling
        cell = (high - low) / _PARTS
        low = torch.minimum(low + last.clamp_min(0) * cell, high)
        high = torch.minimum(low + cell, high)
    return (low + high) / 2


def _by_descent(problem: Problem, start: Tensor) -> Tensor:
    from scipy.optimize import minimize

    def both(x: np.ndarray) -> tuple[float, np.ndarray]:
        at = everywhere(problem, torch.from_numpy(x).to(start)[None])
        slope = problem.gradient(at)[0].mean(0)
        return float(problem.excess(at)[0].mean()), slope.double().cpu().numpy()

    found = minimize(both, start.double().cpu().numpy(), jac=True, method="BFGS", options={"gtol": 1e-12})
    return torch.from_numpy(found.x).to(start)


def everywhere(problem: Problem, x: Tensor) -> Tensor:
    """Each model x (S, d) as that of every client, (S, N, d)."""
    return x[:, None].expand(-1, problem.clients, -1)


def excess(problem: Problem, x: Tensor, best: Tensor | None = None) -> Tensor:
    """f(x) - f(x*) of models (S, d), (S,); `best` is x* where it is known."""
    best = minimiser(problem) if best is None else best
    A: Any = getattr(problem, "A", None)
    if A is not None:  # a difference of two losses would cancel
        return torch.einsum("sd,de,se->s", x - best, A.mean(0), x - best)
    least = problem.excess(everywhere(problem, best[None])).mean(-1)
    return (problem.excess(everywhere(problem, x)).mean(-1) - least).clamp_min(0)


def gradient(problem: Problem, x: Tensor) -> Tensor:
    """grad f at models (S, d), (S, d)."""
    return problem.gradient(everywhere(problem, x)).mean(1)


def scalars(problem: Problem, best: Tensor | None = None) -> dict[str, float]:
    """The scalars of an instance that theorems on f need: e0 = f(xbar) - f*, distance2 = |xbar - x*|^2 at the mean xbar
    of the starts, zeta2 = (1/N) sum_k |grad R_k(x*)|^2, Gamma = f* - (1/N) sum_k R_k*, and of quadratics `apart`."""
    start, best = problem.start.mean(0), minimiser(problem) if best is None else best
    at = everywhere(problem, best[None])
    zeta2 = float(problem.gradient(at)[0].square().sum(-1).mean())
    found = {
        "e0": float(excess(problem, start[None], best)[0]),
        "distance2": float((start - best).square().sum()),
        "zeta2": zeta2,
        "sigma2_star": zeta2,
        "Gamma": float(problem.excess(at).mean()),
    }
    A: Any = getattr(problem, "A", None)
    if A is None:
        return found
    more = apart(*(each.double().cpu().numpy()[None] for each in (A + A, problem.optimum, best)))
    return {name: float(each[0]) for name, each in more.items()} | found


def apart(H: np.ndarray, m: np.ndarray, best: np.ndarray) -> dict[str, np.ndarray]:
    """How far quadratics with Hessians H (n, N, d, d) and minimisers m (n, N, d) are apart, x* = best (n, d).

    With u = x - x*, v = H u, H the mean of the H_k, g_k = grad R_k(x*), whose sum is 0, and X_k = H_k H^-1,
        (1/N) sum_k |grad R_k(x)|^2 = v^T Y v + 2 c^T v + zeta2,  Y = mean of X_k^T X_k,  c = mean of X_k^T g_k,
    which is at most B2 |v|^2 + zeta2 + c^T (B2 - Y)^-1 c where B2 > Y. B2 is 1 where the Hessians are one,
    so that Y = 1 and c = 0, and elsewhere twice the largest eigenvalue of Y.
    """
    away, mean = best[:, None] - m, H.mean(1)
    slope = (H @ away[..., None])[..., 0]
    X = H @ np.linalg.inv(mean)[:, None]
    Y, c = (X.swapaxes(-1, -2) @ X).mean(1), (X.swapaxes(-1, -2) @ slope[..., None]).mean(1)
    zeta2, most = (slope**2).sum(-1).mean(1), np.linalg.eigvalsh(Y)[:, -1] * (1 + 1e-8)  # the inverse loses digits
    spread = c.swapaxes(-1, -2) @ np.linalg.solve(2 * most[:, None, None] * np.eye(H.shape[-1]) - Y, c)
    alike = np.abs(H - mean[:, None]).max((1, 2, 3)) <= 1e-12 * np.abs(mean).max((1, 2))
    return {
        "zeta2": zeta2,
        "sigma2_star": zeta2,
        "Gamma": (away * slope).sum(-1).mean(1) / 2,
        "hessian_gap": np.abs(np.linalg.eigvalsh(H - mean[:, None])).max((1, 2)),
        "G2": zeta2 + np.where(alike, 0.0, spread[:, 0, 0]),
        "B2": np.where(alike, 1.0, 2 * most),
    }
