"""Numbers that a user hands in, as checked float64 arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import InputError


def as_numbers(name: str, value: Any, shape: tuple[int | str, ...], *, infinite: bool = False) -> np.ndarray:
    """`value` as a float64 array of `shape` (a string is a free axis), or `InputError`. NaN is never legitimate."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(name, value, "give numbers (every row of the same length)") from None
    wanted = ", ".join(str(size) for size in shape)
    if array.ndim != len(shape) or any(size != have for size, have in zip(shape, array.shape) if isinstance(size, int)):
        raise InputError(name, f"array of shape {array.shape}", f"give shape ({wanted})")
    if np.isnan(array).any():
        raise InputError(name, float("nan"), "replace NaN by numbers")
    if not infinite and np.isinf(array).any():
        raise InputError(name, float("inf"), "infinity has no meaning here; give finite numbers")
    return array
