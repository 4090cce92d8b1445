"""How what a model multiplies follows from the columns of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from suffice.support.numbers import plain

INTERCEPT = "(intercept)"


@dataclass(frozen=True, kw_only=True)
class Coordinates:
    """What the coefficients of a model multiply, in order: (column - mean) / scale, the intercept a column of ones.

    names         of the columns; "NAME=LEVEL" is 1 where NAME is LEVEL, "NAME=missing" where it is missing, else 0
    means, scales (d,), or (N, d) where each client has its own
    fills         what stands for a gap in a column, before it is standardised
    target_mean, target_scale  of the target, (y - mean) / scale
    positive      of two classes, the labels that count as 1
    client, target  the columns of the table, where there is one that has them
    """

    names: tuple[str, ...]
    means: np.ndarray
    scales: np.ndarray
    fills: Mapping[str, float] = field(default_factory=dict)
    target_mean: float = 0.0
    target_scale: float = 1.0
    positive: tuple[Any, ...] = ()
    client: str = "client"
    target: str = "target"

    def to_dict(self) -> dict[str, Any]:
        return plain(vars(self))
