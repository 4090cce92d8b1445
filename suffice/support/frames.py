"""Rows of results as a data frame, of whichever library is installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def to_frame(rows: Iterable[Mapping[str, Any]]) -> Any:
    """A pandas or polars frame, else a mapping of columns; entries of a mapping within a row are columns "outer.inner",
    lists are texts, and what a row lacks is None."""
    flat = [_flat(row) for row in rows]
    names = dict.fromkeys(name for row in flat for name in row)
    columns = {name: [row.get(name) for row in flat] for name in names}
    if find_spec("pandas"):
        return import_module("pandas").DataFrame(columns)
    if find_spec("polars"):
        return import_module("polars").DataFrame(columns, strict=False)
    return columns


def _flat(row: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{before}{name}.")
        else:
            found[before + name] = ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
    return found
