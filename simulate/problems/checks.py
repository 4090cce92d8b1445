"""What every problem checks of the arrays it is built from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bounds import InputError, as_numbers, check_names


def positive_definite(name: str, value: Any) -> np.ndarray:
    """Matrices (N, d, d), symmetric to 1e-12 and positive definite to 1e-14, both relative; or `InputError`."""
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


def starting_points(start: Any, clients: int, features: int) -> np.ndarray:
    """Where the models start, (N, d): 0 unless given, one point (d,) for all, or one each."""
    if start is None:
        return np.zeros((clients, features))
    if np.ndim(start) == 1:
        return np.tile(as_numbers("theta0", start, (features,)), (clients, 1))
    return as_numbers("theta0", start, (clients, features))


def labelled(names: Sequence[str], clients: int) -> tuple[str, ...]:
    """One label per client, "0", "1", ... unless given."""
    if not names:
        return tuple(str(i) for i in range(clients))
    check_names(names, clients)
    return tuple(names)


def at_least(name: str, value: Any, least: float) -> float:
    """One finite number >= `least`."""
    number = as_numbers(name, value, ()).item()
    if number < least:
        raise InputError(name, value, f"give a number >= {least:g}")
    return number


def whole(name: str, value: Any, least: int = 1) -> int:
    """A whole number >= `least`."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
        raise InputError(name, value, f"give a whole number, at least {least}")
    return int(value)
