"""Cells of a table: what reads as missing, numbers, texts, and dates, which are refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.support.errors import InputError

MISSING = frozenset(("", "na", "n/a", "nan", "null", "missing", "?", "#n/a", "<na>", "(null)"))
"""Cells, in small letters, that say that a value is missing."""
WORDS = frozenset((
    "none", "nil", "-", "--", "\u2013", "\u2014", ".", "..", "...", "n/a.", "n.a.", "n. a.", "n.v.", "k.a.", "k. a.",
    "keine angabe", "unknown", "unbekannt",
))  # fmt: skip
"""Cells that say so among numbers only: among texts they are levels (no promotion, no symptom)."""
_WHOLE = re.compile(r"([-+]?\d+)\.0*")
DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}([T ].*)?")


def column_of(name: str, values: Any, *, parse: bool = True) -> np.ndarray:
    """Numbers (n,) or texts (n,) of a sequence in which None or NaN stands for what is missing. Texts are read as
    cells of a file are; without `parse` they stay texts."""
    if not isinstance(values, (Sequence, np.ndarray)) or isinstance(values, str):
        raise InputError(f"column {name}", values, "give a list or an array")
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        raise InputError(f"column {name}", "nested values", "give one number or text per row") from None
    if array.ndim == 1 and array.dtype.kind in "iufb":
        return array.astype(float)
    if array.dtype.kind == "c":
        raise InputError(
            f"column {name}", "complex numbers", "make real numbers or texts of it, or leave it out by drop"
        )
    if array.dtype.kind == "M":
        raise date(name, array[0] if len(array) else "")
    cells = list(values)
    if any(isinstance(cell, (list, tuple, dict, np.ndarray)) for cell in cells):
        raise InputError(f"column {name}", "nested values", "give one number or text per row")
    gone = [cell is None or cell != cell for cell in cells]
    if not any(isinstance(cell, str) for cell in cells):
        try:
            return np.array([np.nan if out else float(cell) for cell, out in zip(cells, gone)])
        except (TypeError, ValueError, OverflowError):
            pass
    texts = ["" if out else str(cell) for cell, out in zip(cells, gone)]
    return numbers_or_texts(texts) if parse else _texts([text.strip() for text in texts])


def names_of(cells: Sequence[str]) -> np.ndarray:
    """Names of sites as they stand, or None; whole numbers without a decimal point, which a data frame may write."""
    return _texts([_WHOLE.sub(r"\1", cell) if _WHOLE.fullmatch(cell) else cell for cell in map(str.strip, cells)])


def is_word(cell: Any) -> bool:
    """Whether it is missing among numbers, and a level among texts."""
    return isinstance(cell, str) and cell.strip().lower() in WORDS


def date(name: str, value: Any) -> InputError:
    """The refusal of a column of dates."""
    remedy = "a date: make a number of it (a year, days since some day) or leave it out by drop"
    return InputError(f"column {name}", str(value), remedy)


def numbers_or_texts(cells: Sequence[str]) -> np.ndarray:
    """Texts as numbers with NaN, where all that are there are plain decimal numbers, or as texts with None. Where
    there are but `WORDS` they are gaps, which `Frame.texts` and `Facts` make levels again."""
    found = _numbers(cells)
    if found is not None:
        return found
    trimmed = [cell.strip() for cell in cells]
    found = _numbers(["nan" if cell.lower() in MISSING or is_word(cell) else cell for cell in trimmed])
    return _texts(trimmed) if found is None else found


def _texts(trimmed: Sequence[str]) -> np.ndarray:
    levels: dict[str, str | None] = {}  # few: each is kept once
    found = [levels.setdefault(cell, None if cell.lower() in MISSING else cell) for cell in trimmed]
    return np.array([*found, None], dtype=object)[:-1]  # an array of objects even when it is empty


def _numbers(cells: Sequence[str]) -> np.ndarray | None:
    try:
        values = np.fromiter(map(float, cells), dtype=float, count=len(cells))
    except ValueError:
        return None
    together = "".join(cells)  # Python's own extras, underscores and other alphabets' digits, are texts
    return values if together.isascii() and "_" not in together else None
