"""The start of the models, as given for all clients or for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.support.numbers import as_numbers, real_array


def starting_points(start: Any, clients: int, features: int) -> np.ndarray:
    """Where the models start, (N, d): 0 unless given, one point (d,) for all, or one each."""
    if start is None:
        return np.zeros((clients, features))
    points = real_array("theta0", start)
    if points.ndim == 1:
        return np.tile(as_numbers("theta0", points, (features,)), (clients, 1))
    return as_numbers("theta0", points, (clients, features))
