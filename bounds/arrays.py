"""Numbers that a user hands in, as checked float64 arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import InputError

LARGEST = 1e60
"""Magnitudes beyond 1e60 (or, for what must be positive, below 1e-60) overflow in products: they are refused."""


def as_numbers(
    name: str, value: Any, shape: tuple[int | str, ...], *, infinite: bool = False, positive: bool = False
) -> np.ndarray:
    """`value` as a float64 array of `shape` (a string is a free axis), or `InputError`.

    NaN is never legitimate, infinity only with `infinite`; truth values, texts and complex numbers are not
    numbers here. With `positive` every entry is in [1e-60, 1e60].
    """
    try:
        raw = np.asarray(value)
        array = np.array(raw, dtype=float) if raw.dtype.kind in "iuf" else None
    except (TypeError, ValueError, OverflowError):
        array = None
    if array is None:
        raise InputError(name, value, "give real numbers (every row of the same length)")
    if array.ndim != len(shape) or any(size != have for size, have in zip(shape, array.shape) if isinstance(size, int)):
        wanted = f"shape ({', '.join(str(size) for size in shape)})" if shape else "one number"
        raise InputError(name, f"array of shape {array.shape}", f"give {wanted}")
    if np.isnan(array).any():
        raise InputError(name, float("nan"), "replace NaN by numbers")
    if not infinite and np.isinf(array).any():
        raise InputError(name, array[np.isinf(array)][0].item(), "infinity has no meaning here; give finite numbers")
    finite = array[np.isfinite(array)]
    if finite.size and np.abs(finite).max() > LARGEST:
        raise InputError(
            name, finite[np.argmax(np.abs(finite))].item(), f"give numbers up to {LARGEST:g}; change units"
        )
    if positive and finite.size and finite.min() < 1 / LARGEST:
        raise InputError(name, finite.min().item(), f"give positive numbers (at least {1 / LARGEST:g})")
    return array


def quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x / y with 0 / 0 = 0: a component that is not there contributes nothing."""
    return np.where(x == 0, 0.0, x / y)
