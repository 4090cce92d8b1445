"""Standardised predictors: columns of mean 0 and standard deviation 1, over all clients' rows or each client's own; and
how what a model multiplies follows from the columns of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from suffice.support.errors import InputError
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


def standardised(
    blocks: list[np.ndarray], labels: Sequence[str], columns: Sequence[str], *, pooled: bool
) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Rows (n, d) of every client, by the pooled means and deviations or its own, and these, (d,) or (N, d);
    `InputError` for a column that does not vary, by name."""
    references = {"all clients": np.concatenate(blocks)} if pooled else dict(zip(labels, blocks))
    means, scales = (np.array([of(rows, axis=0) for rows in references.values()]) for of in (np.mean, np.std))
    for (owner, rows), scale in zip(references.items(), scales):
        for at in np.flatnonzero(scale <= 1e-12 * np.abs(rows).max(0)):
            column = columns[at] if len(columns) > at else f"column {at}"
            remedy = "the same in every row: drop it, or use standardise = none" + ("" if pooled else " or pooled")
            raise InputError(f"{column} of {owner if pooled else f'client {owner}'}", rows[0, at], remedy)
    scaled = [
        (block - means[min(k, len(means) - 1)]) / scales[min(k, len(means) - 1)] for k, block in enumerate(blocks)
    ]
    return (scaled, means[0], scales[0]) if pooled else (scaled, means, scales)
