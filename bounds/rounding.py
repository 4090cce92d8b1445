"""Where a bound subtracts or takes a logarithm near 1: floats moved to the safe side, exact numbers left alone."""

from __future__ import annotations

from typing import Any

import numpy as np

_MARGIN = 2.0**-49  # sixteen roundings: what reaches these functions carries at most eight
_FLOATS: tuple[Any, ...] = (float, int, np.ndarray, np.generic)


def up(x: Any) -> Any:
    """x >= 0, rounded up."""
    return x * (1 + _MARGIN) if isinstance(x, _FLOATS) else x


def down(x: Any) -> Any:
    """x >= 0, rounded down."""
    return x * (1 - _MARGIN) if isinstance(x, _FLOATS) else x


def difference(x: Any, y: Any) -> Any:
    """x - y for x, y >= 0, rounded up, however much of them cancels."""
    return up(x) - down(y) if isinstance(x, _FLOATS) and isinstance(y, _FLOATS) else x - y
