"""Cells of a table: what reads as missing, numbers, texts, and dates, which are refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.bounds import InputError

MISSING = frozenset(("", "na", "n/a", "nan", "null", "missing", "?"))
"""Cells, in small letters, that say that a value is missing."""
WORDS = frozenset(("none", "nil"))
"""Cells that say so among numbers only: among texts they are levels (no promotion, no symptom)."""
DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}([T ].*)?")


def column_of(name: str, values: Any) -> np.ndarray:
    """Numbers (n,) or texts (n,) of a sequence in which None or NaN stands for what is missing."""
    if not isinstance(values, (Sequence, np.ndarray)) or isinstance(values, str):
        raise InputError(f"column {name}", values, "give a list or an array")
    array = np.asarray(values)
    if array.ndim == 1 and array.dtype.kind in "iufb":
        return array.astype(float)
    if array.dtype.kind == "M":
        raise date(name, array[0] if len(array) else "")
    cells = list(values)
    if any(isinstance(cell, (list, tuple, dict, np.ndarray)) for cell in cells):
        raise InputError(f"column {name}", "nested values", "give one number or text per row")
    gone = [
        cell is None or cell != cell or (isinstance(cell, str) and cell.strip().lower() in MISSING) for cell in cells
    ]
    if all(out or is_word(cell) or not isinstance(cell, str) for cell, out in zip(cells, gone)):
        try:
            return np.array([np.nan if out or is_word(cell) else float(cell) for cell, out in zip(cells, gone)])
        except (TypeError, ValueError, OverflowError):
            pass
    return np.array([None if out else str(cell).strip() for cell, out in zip(cells, gone)], dtype=object)


def is_word(cell: Any) -> bool:
    """Whether it is missing among numbers, and a level among texts."""
    return isinstance(cell, str) and cell.strip().lower() in WORDS


def date(name: str, value: Any) -> InputError:
    """The refusal of a column of dates."""
    remedy = "a date: make a number of it (a year, days since some day) or leave it out by drop"
    return InputError(f"column {name}", str(value), remedy)


def numbers_or_texts(cells: Sequence[str]) -> np.ndarray:
    """Cells of a file as numbers with NaN, where all that are there are plain decimal numbers, or as texts with
    None. Where there are but `WORDS` they are gaps, which `Frame.texts` and `Facts` make levels again."""
    found = _numbers(cells)
    if found is None:
        trimmed = [cell.strip() for cell in cells]
        gone = [cell.lower() in MISSING for cell in trimmed]
        found = _numbers(["nan" if out or is_word(cell) else cell for cell, out in zip(trimmed, gone)])
        if found is None:
            return np.array([*(None if out else cell for cell, out in zip(trimmed, gone)), None], dtype=object)[:-1]
    return found


def _numbers(cells: Sequence[str]) -> np.ndarray | None:
    try:
        values = np.fromiter(map(float, cells), dtype=float, count=len(cells))
    except ValueError:
        return None
    together = "".join(cells)  # Python's own extras, underscores and other alphabets' digits, are texts
    return values if together.isascii() and "_" not in together else None
