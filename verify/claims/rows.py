"""Values of hand-picked instances, row by row: what differs from a plain one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..family import Values


def rows(plain: Mapping[str, Any], given: Sequence[Mapping[str, Any]]) -> Values:
    """One instance per row: the values of `plain`, replaced by the row's, broadcast to the same shapes."""
    return {
        name: np.stack([np.broadcast_to(np.asarray(row.get(name, value), float), np.shape(value)) for row in given])
        for name, value in plain.items()
    }
