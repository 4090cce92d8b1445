"""Cells of a table: what reads as missing, numbers, texts, and dates, which are refused."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.support.errors import InputError

if TYPE_CHECKING:
    from polars import Series

MISSING = frozenset(("", "na", "n/a", "nan", "null", "missing", "?", "#n/a", "<na>", "(null)"))
"""Cells, in small letters, that say that a value is missing."""
WORDS = frozenset((
    "none", "nil", "-", "--", "\u2013", "\u2014", ".", "..", "...", "n/a.", "n.a.", "n. a.", "n.v.", "k.a.", "k. a.",
    "keine angabe", "unknown", "unbekannt",
))  # fmt: skip
"""Cells that say so among numbers only: among texts they are levels (no promotion, no symptom)."""
NUMBER = re.compile(r"\s*[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?\s*", re.ASCII)
_MARKS = str.maketrans(dict.fromkeys("\u2212\u2010\u2011\u2013\ufe63", "-") | dict.fromkeys("\u2018\u2019\u00b4`", "'"))
_CURRENCY = re.compile(r"(USD|EUR|GBP|CHF|JPY|INR|US\$|Rs\.?|kr\.?)(?=[\s\d])")
_WRITTEN = re.compile(r"\d+([ '.,_]\d{2,3})*[ '.,_]\d{3}([.,]\d*)?|\d+(_\d+)*[.,]?\d*([eEdD][-+]?\d+)?|[.,]\d+")
"""A number with marks of thousands (or of lakhs), with decimals, or as Fortran writes it."""
_WHOLE = re.compile(r"([-+]?\d+)\.0*")
DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}([T ].*)?|\d{4}-\d{2}|\d{1,2}/\d{1,2}/\d{2}"
    r"|(\d{1,2}[-. ]+)?(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|m\u00e4r|mai|okt|dez)[a-z]*"
    r"[-. ,]+(\d{1,2}, )?\d{2,4}",
    re.IGNORECASE,
)


Marks = dict[int, str]
"""The texts, but for empty ones, that were read as missing, by row."""


def column_of(name: str, values: Any, *, parse: bool = True) -> tuple[np.ndarray, Marks]:
    """Numbers (n,) or texts (n,) of a sequence in which None or NaN stands for what is missing. Texts are read as
    cells of a file are; without `parse` they stay texts."""
    if not isinstance(values, (Sequence, np.ndarray)) or isinstance(values, str):
        raise InputError(f"column {name}", values, "give a list or an array")
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        raise InputError(f"column {name}", "nested values", "give one number or text per row") from None
    if array.ndim == 1 and array.dtype.kind in "iufb":
        return array.astype(float), {}
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
            return np.array([np.nan if out else float(cell) for cell, out in zip(cells, gone)]), {}
        except (TypeError, ValueError, OverflowError):
            pass
    texts = ["" if out else str(cell) for cell, out in zip(cells, gone)]
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:  # half of a character, which no file holds
        parse = False
    if not parse:
        return _texts(texts)
    from polars import Series, String

    return numbers_or_texts(Series(texts, dtype=String))


def names_of(cells: Sequence[str]) -> tuple[np.ndarray, Marks]:
    """Names of sites as they stand, or None; whole numbers without a decimal point, which a data frame may write."""
    return _texts(cells, lambda cell: _WHOLE.sub(r"\1", cell) if _WHOLE.fullmatch(cell) else cell)


def is_word(cell: Any) -> bool:
    """Whether a cell means a gap among numbers, and a level among texts."""
    return isinstance(cell, str) and cell.strip().lower() in WORDS


def date(name: str, value: Any) -> InputError:
    """The refusal of a column of dates."""
    remedy = "a date: make a number of it (a year, days since some day) or leave it out by drop"
    return InputError(f"column {name}", str(value), remedy)


def disguise(cell: str) -> str | None:
    """The rest of a text with its numbers taken out, signs and currencies too: "kg", ":" of 14:05, "" where nothing
    is. None for a number as it should be, for what begins with a letter or is a rank (a name), a range, and any other.
    """
    text = unicodedata.normalize("NFKC", cell).translate(_MARKS).strip().lstrip("(<>=~\u2248\u2264\u2265'+- ")
    text = re.sub(r"^[$\u20ac\u00a3\u00a5\u20b9]\s*[-+]?\s*", "", _CURRENCY.sub("", text).strip())
    if (NUMBER.fullmatch(cell) and "," not in cell) or not text[:1].replace(".", "0", 1).replace(
        ",", "0", 1
    ).isdecimal():
        return None
    left = _WRITTEN.sub("0", text).rstrip(" -)")
    known = re.search(r"\d", text) and not re.fullmatch(r"0(st|nd|rd|th)|0\s*-\s*0.*|0\..*", left, re.IGNORECASE)
    return " ".join(left.replace("0", " ").split()) if known else None


def numbers_or_texts(cells: Series) -> tuple[np.ndarray, Marks]:
    """Texts as numbers with NaN, where all that are there are plain decimal numbers, or as texts with None. Where
    there are but `WORDS` they are gaps, which `Frame.texts` and `ColumnFacts` make levels again."""
    from polars import Float64

    values = cells.cast(Float64, strict=False).to_numpy(writable=True)  # correctly rounded, and as Python reads
    rows = np.flatnonzero(np.isnan(values))
    odd = cells.gather(rows).to_list()
    known = {cell: _number(cell) for cell in dict.fromkeys(odd)}
    if None in known.values():
        return _texts(cells.to_list())
    values[rows] = [known[cell] for cell in odd]
    marks = {row: cell.strip() for row, cell in zip(rows.tolist(), odd) if known[cell] != known[cell] and cell.strip()}
    return values, marks


def _number(cell: str) -> float | None:
    """The number in a cell with blanks around it, NaN where the cell says that it is missing; None for a text."""
    text = cell.strip()
    if text.lower() in MISSING or is_word(text):
        return np.nan
    try:  # Python's own extras, underscores and other alphabets' digits, are texts
        return float(text) if text.isascii() and "_" not in text else None
    except ValueError:
        return None


def _texts(cells: Sequence[str], named: Callable[[str], str] = str) -> tuple[np.ndarray, Marks]:
    trimmed = {cell: cell.strip() for cell in dict.fromkeys(cells)}  # few: each is kept once
    levels = {cell: None if text.lower() in MISSING else named(text) for cell, text in trimmed.items()}
    found = np.array([*map(levels.__getitem__, cells), None], dtype=object)[:-1]  # of objects even when it is empty
    gone = [cell for cell, level in levels.items() if level is None]
    marks = {row: trimmed[cell] for row, cell in enumerate(cells) if levels[cell] is None} if gone else {}
    return found, {row: mark for row, mark in marks.items() if mark}
