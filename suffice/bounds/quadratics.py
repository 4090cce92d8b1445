"""Quadratics R_i(theta) = (theta + xi_i)^T A_i (theta + xi_i): which are admitted, and how their gradients differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.support.errors import InputError
from suffice.support.numbers import as_numbers


def positive_definite(name: str, value: Any) -> np.ndarray:
    """Check that matrices (N, d, d) are symmetric (1e-12, relative) and positive definite (1e-14); or `InputError`."""
    A = as_numbers(name, value, ("N", "d", "d"))
    n, d = A.shape[:2]
    if A.shape[2] != d or n == 0 or d == 0:
        raise InputError(name, f"array of shape {A.shape}", "give shape (N, d, d)")
    asymmetric = np.abs(A - A.transpose(0, 2, 1)).max((1, 2)) > 1e-12 * np.abs(A).max((1, 2))
    if asymmetric.any():
        i = int(np.argmax(asymmetric))
        raise InputError(f"{name}[{i}]", A[i].tolist(), f"give symmetric matrices, for example ({name} + {name}.T) / 2")
    least, largest = np.linalg.eigvalsh(A)[:, [0, -1]].T
    flat = least <= np.maximum(1e-14 * largest, 1e-60)
    if flat.any():
        i = int(np.argmax(flat))
        raise InputError(f"smallest eigenvalue of {name}[{i}]", least[i].item(), "give positive definite matrices")
    return A


def gradient_difference(A: np.ndarray, xi: np.ndarray, clients: slice = slice(None)) -> tuple[np.ndarray, np.ndarray]:
    """M (N, N, d, d) and v (N, N, d) [loss / theta] with grad R_i - grad R_k = M grad R_i + v, as [i, k].

    M = I - A_k A_i^{-1}, v = 2 A_k (xi_i - xi_k), of positive definite A (N, d, d) and xi (N, d), for the `clients` i.
    Source: adaptive, Property 1's proof.
    """
    M = np.eye(A.shape[-1]) - A[None] @ np.linalg.inv(A[clients])[:, None]
    return M, 2 * np.einsum("kde,ike->ikd", A, xi[clients, None] - xi[None])
