"""The results of the published comparisons on networks, kept as CSV beside this file: `python -m benchmarks comparison
--write suffice/figures/networks` renews them, which takes much longer than drawing."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np


@cache
def saved_results(name: str) -> tuple[Mapping[str, str], ...]:
    """The rows of ends, curves or weights, as texts."""
    text = files("suffice.figures").joinpath(f"networks/{name}.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


def columns_of(name: str, wanted: tuple[str, ...], **where: Any) -> dict[str, np.ndarray]:
    """Columns of the rows whose cells are those of `where`."""
    rows = [row for row in saved_results(name) if all(row[key] == str(value) for key, value in where.items())]
    return {column: np.array([float(row[column] or "nan") for row in rows]) for column in wanted}


def rules_of(name: str, comparison: str) -> list[str]:
    """The rules of a comparison, in the order of the file."""
    return list(dict.fromkeys(row["rule"] for row in saved_results(name) if row["comparison"] == comparison))
