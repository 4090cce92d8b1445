"""Minimisers of logistic losses, and whether there is one."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.special import expit, log_expit

from suffice.support.errors import InputError


def gradient(u: np.ndarray, theta: np.ndarray, ridge: float) -> np.ndarray:
    """The gradients (..., d) at models theta (..., d), of signed rows u = y x (n, d)."""
    return ridge * theta - expit(-theta @ u.T) @ u / len(u)


def hessian(u: np.ndarray, theta: np.ndarray, ridge: float) -> np.ndarray:
    """The Hessian (d, d) at one model theta (d,)."""
    error = expit(-u @ theta)
    return (u * (error * (1 - error))[:, None]).T @ u / len(u) + ridge * np.eye(len(theta))


def minimise(rows: np.ndarray, ridge: float, client: str) -> np.ndarray:
    """argmin of mean log(1 + exp(-u . theta)) + (r/2) |theta|^2 over signed rows u = y x (n, d), or `InputError`."""
    from scipy.optimize import minimize

    if not ridge:
        _check_minimiser(rows, client)

    def value(theta: np.ndarray) -> float:
        return -log_expit(rows @ theta).mean() + ridge / 2 * theta @ theta

    slope, curvature = partial(gradient, rows, ridge=ridge), partial(hessian, rows, ridge=ridge)
    scale = np.linalg.norm(rows, axis=1).mean()
    options = {"gtol": 1e-9 * scale}
    found = minimize(value, np.zeros(rows.shape[1]), jac=slope, hess=curvature, method="trust-exact", options=options)
    theta, best = found.x, np.linalg.norm(slope(found.x))
    for _ in range(20):  # full Newton steps near the minimum, until rounding stops them
        moved = theta - np.linalg.lstsq(curvature(theta), slope(theta), rcond=None)[0]
        norm = np.linalg.norm(slope(moved))
        if norm >= best:
            break
        theta, best = moved, norm
    # Rounding of the gradient: its n terms are at most |u| each, and r theta
    if not best <= 1e-13 * (scale + ridge * np.linalg.norm(theta)):
        raise InputError(
            f"gradient at the optimum of client {client}", float(f"{best:.3g}"), "standardise, or regularise more"
        )
    return theta


def _check_minimiser(rows: np.ndarray, client: str) -> None:
    """Without regularisation a unique minimiser needs full rank and no w with u_j . w >= 0 for all j, not all zero."""
    from scipy.optimize import linprog

    n, d = rows.shape
    if np.linalg.matrix_rank(rows) < d:
        remedy = "its rows do not determine all coefficients; drop columns, or use regularisation 0.1, for example"
        raise InputError(f"rank of the rows of client {client}", int(np.linalg.matrix_rank(rows)), remedy)
    unit = rows / np.linalg.norm(rows, axis=1).max()
    options = {"primal_feasibility_tolerance": 1e-10}
    found = linprog(-unit.sum(0), A_ub=-unit, b_ub=np.zeros(n), bounds=[(-1, 1)] * d, method="highs", options=options)
    if found.status != 0 or -found.fun > 1e-7:
        remedy = "a hyperplane separates its classes, so the loss has no minimiser; use regularisation 0.1, for example"
        raise InputError(f"labels of client {client}", "separable", remedy)
