"""Standardised predictors: columns of mean 0 and standard deviation 1, over all clients' rows or each client's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from suffice.support.errors import InputError

from .table import Table


def standardised(
    blocks: list[np.ndarray], labels: Sequence[str], columns: Sequence[str], *, pooled: bool
) -> list[np.ndarray]:
    """Rows (n, d) of every client, by the pooled means and deviations or its own; `InputError` for a column that does
    not vary, by name."""
    everything = np.concatenate(blocks)
    scaled = []
    for label, block in zip(labels, blocks):
        reference = everything if pooled else block
        deviation = reference.std(0)
        constant = np.flatnonzero(deviation <= 1e-12 * np.abs(reference).max(0))
        if constant.size:
            column = columns[constant[0]] if len(columns) > constant[0] else f"column {constant[0]}"
            if len(reference) == 1:
                remedy = "give at least two rows: merge this client with another or leave it out"
                raise InputError(f"rows of client {label}", 1, remedy)
            owner = "all clients" if pooled else f"client {label}"
            remedy = "the same in every row: drop it, or use standardise = none" + ("" if pooled else " or pooled")
            raise InputError(f"{column} of {owner}", reference[0, constant[0]], remedy)
        scaled.append((block - reference.mean(0)) / deviation)
    return scaled


def standardised_by(tables: list[Table], reference: np.ndarray, *, small: float) -> list[Table]:
    """Tables by the means and sample deviations of `reference` (n, d), to which `small` is added, as FLamby does."""
    mean, deviation = reference.mean(0), reference.std(0, ddof=1) + small
    return [replace(table, X=(table.X - mean) / deviation) for table in tables]
