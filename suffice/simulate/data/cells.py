"""Cells of a table: what reads as missing, numbers, texts, and dates, which are refused."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np
from polars import Boolean, Categorical, Float64, Null, Object, Series, String

from suffice.support.errors import InputError

MISSING = frozenset(("", "na", "n/a", "nan", "null", "missing", "?", "#n/a", "<na>", "(null)"))
"""Cells, in small letters, that say that a value is missing."""
WORDS = frozenset((
    "none", "nil", "-", "--", "\u2013", "\u2014", ".", "..", "...", "n/a.", "n.a.", "n. a.", "n.v.", "k.a.", "k. a.",
    "keine angabe", "unknown", "unbekannt",
))  # fmt: skip
"""Cells that say so among numbers only: among texts they are levels (no promotion, no symptom)."""
NUMBER = re.compile(r"\s*[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?\s*", re.ASCII)
_MARKS = str.maketrans(dict.fromkeys("\u2212\u2010\u2011\u2013\ufe63", "-") | dict.fromkeys("\u2018\u2019\u00b4`", "'"))
_FRONT = re.compile(r"^([^\w.,#\u00a7]|(USD|EUR|GBP|CHF|JPY|INR|US(?=\$)|Rs\.?|kr\.?)(?=[\s\d$]))+")
"""Signs, brackets and currencies in front of a number; but #12 is a name."""
_WRITTEN = re.compile(r"\d+([ '.,_]\d{2,3})*[ '.,_]\d{3}([.,]\d*)?|\d+(_\d+)*[.,]?\d*([eEdD][-+]?\d+)?|[.,]\d+")
"""A number with marks of thousands (or of lakhs), with decimals, or as Fortran writes it."""
DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}([T ].*)?|\d{4}-\d{2}|\d{1,2}/\d{1,2}/\d{2}"
    r"|(\d{1,2}[-. ]+)?(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|m\u00e4r|mai|okt|dez)[a-z]*"
    r"[-. ,]+(\d{1,2}, )?\d{2,4}|\d{1,2}[. ]+[^\W\d]{3,}[. ]+\d{4}",
    re.IGNORECASE,
)


def series_of(name: str, column: Any, *, names: bool = False) -> Series:
    """A column of a data frame or a mapping, in which None or NaN stands for what is missing: numbers, or texts, which
    may be numbers as cells of a file may. Levels of a category, and `names`, are texts as they stand (Categorical),
    also whole numbers of more digits than a float has."""
    if hasattr(column, "to_list"):
        import narwhals

        series = narwhals.from_native(column, allow_series=True, pass_through=True)
        if isinstance(series, narwhals.Series) and series.dtype.is_numeric() and not names:
            column = series.to_numpy()
        elif isinstance(series, narwhals.Series):
            column = [None if gone else cell for cell, gone in zip(series.to_list(), series.is_null().to_list())]
            levels = series.dtype in (narwhals.Categorical, narwhals.Enum)  # numbers in pandas, too
            names |= levels and any(isinstance(cell, str) for cell in column)
        else:
            column = column.to_list()
    if not isinstance(column, Sequence | np.ndarray) or isinstance(column, str):
        raise InputError(f"column {name}", column, "give a list or an array")
    column = column.tolist() if isinstance(column, np.ndarray) and column.dtype.kind in "OU" else column
    try:
        found = Series(name, column, strict=False)
        if found.dtype == Object and not isinstance(column[0], complex | np.complexfloating):
            found = Series(name, [None if cell is None or cell != cell else str(cell) for cell in column])
    except UnicodeEncodeError:
        raise InputError(f"column {name}", "half of a character", "give texts of whole characters") from None
    except Exception:  # whatever polars says of rows of different lengths
        found = Series(name, [[]])
    kind = found.dtype
    if kind.is_temporal():
        raise date(name, str(kind.base_type()).lower())
    if kind in (Boolean, Null) or (kind.is_numeric() and not (names and kind.is_integer())):
        return found.cast(Float64).fill_null(np.nan)
    if kind != String and not kind.is_integer():
        what = "complex numbers" if kind == Object else "nested values"
        raise InputError(f"column {name}", what, "give one number or text per row, or leave it out by drop")
    return found.cast(String).fill_null("").cast(Categorical if names else String)


def is_word(cell: Any) -> bool:
    """Whether a cell means a gap among numbers, and a level among texts."""
    return isinstance(cell, str) and cell.strip().lower() in WORDS


def date(name: str, value: Any) -> InputError:
    """The refusal of a column of dates."""
    remedy = "a date: make a number of it (a year, days since some day) or leave it out by drop"
    return InputError(f"column {name}", str(value), remedy)


def rest_without_numbers(cell: str) -> str | None:
    """The rest of a text with its numbers taken out, signs and currencies too: "kg", ":" of 14:05, "" where nothing
    is. None for a number as it should be, for what begins with a letter or is a rank (a name), a range, and any other.
    """
    text = _FRONT.sub("", unicodedata.normalize("NFKC", cell).translate(_MARKS))
    if (NUMBER.fullmatch(cell) and "," not in cell) or not re.match(r"[\d.,]", text):
        return None
    left = _WRITTEN.sub("0", text).rstrip(" -)")
    known = re.search(r"\d", text) and not re.fullmatch(r"0(st|nd|rd|th)|0\s*-\s*0.*|0\..*", left, re.IGNORECASE)
    return " ".join(left.replace("0", " ").split()) if known else None


def numbers_of(cells: Series) -> np.ndarray | None:
    """(n,) with NaN where a cell is missing; None where one is neither that nor a plain decimal number. `WORDS` are
    gaps, which `ColumnFacts` makes levels again where there are texts."""
    if cells.dtype == Categorical:
        return None if texts_of(cells).count() else np.full(len(cells), np.nan)
    if cells.dtype != String:
        return cells.to_numpy()
    texts = cells.str.strip_chars()
    values = texts.cast(Float64, strict=False)  # correctly rounded, and as Python reads
    return None if strays_of(texts.filter(values.is_null())).any() else values.to_numpy()


def strays_of(texts: Series) -> Series:
    """Whether cells, without blanks around them, are neither numbers nor missing among numbers."""
    return texts.cast(Float64, strict=False).is_null() & ~texts.str.to_lowercase().is_in([*MISSING, *WORDS])


def texts_of(cells: Series) -> Series:
    """Texts with None where one is missing; `WORDS` are texts, and whole numbers have no decimal point."""
    if cells.dtype == Float64:
        return Series([as_text(value + 0) if value == value else None for value in cells.to_list()], dtype=String)
    found = cells.cast(String).str.strip_chars()
    return found.set(found.str.to_lowercase().is_in(list(MISSING)), None)


def as_text(value: float) -> str:
    """A number as a text, whole ones without a decimal point."""
    text = f"{value:.15g}"
    return text if float(text) == value else repr(value)
