"""The lines of a CSV in its own dialect: what separates its columns, and with which mark it writes decimals."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import IO

from suffice.support.errors import InputError

from ..memory import LONGEST_LINE, opened

SUFFIXES = (".csv", ".tsv")
INDEX = "(no name)"
"""What a first column without a name is called: an index that a data frame wrote."""
INDEXES = (INDEX, "", "Unnamed: 0")
"""Names of such a column, in a file, in a data frame, and in one that pandas read from a file."""
_DECIMAL = re.compile(r"\s*[-+]?(?:\d+([.,])\d*|([.,])\d+)(?:[eE][-+]?\d+)?\s*", re.ASCII)
_GROUPED = re.compile(r"\s*[-+]?[1-9]\d{0,2}[.,]\d{3}\s*", re.ASCII)
"""Either a number with three decimals or thousands."""
_THOUSANDS = re.compile(r"\s*[-+]?\d{1,3}(?:([.,])\d{3})+(?:\1\d{3}|(?!\1)[.,]\d*)\s*", re.ASCII)
PLAIN = "thousands without a mark, or separate the columns by commas and write decimals with points"


@dataclass(frozen=True)
class Dialect:
    """`separator` of the columns; `decimal`, the mark of numbers such as 1.5 or 1,5."""

    separator: str = ","
    decimal: str = "."


def is_csv(path: Path) -> bool:
    """Whether a file is read as a CSV, by its name."""
    return path.suffix.lower() in SUFFIXES


def dialect_of(path: Path, read: Callable[[str], bool] = lambda name: True) -> Dialect:
    """Commas separate, unless the header has none and has semicolons or tabs. Where those do, one pass over the file
    finds the mark of decimals in the columns that are `read`.

    `InputError` where it is ambiguous: both marks, or one mark that only ever stands before three digits.
    """
    with csv_text_of(path) as text:
        bare = re.sub('"[^"]*"', "", next((line for line in _bounded(path, text) if line.strip()), ""))
        marks = [mark for mark in ",;\t" if mark in bare]
        if "," in marks or not marks:
            return Dialect()
        if len(marks) > 1:
            raise InputError("header", bare.strip(), "separate the columns by semicolons or by tabs, not by both")
        text.seek(0)
        return Dialect(marks[0], _decimal(path, table_lines(path, text, Dialect(marks[0])), read))


def _decimal(path: Path, lines: Iterator[tuple[int, list[str]]], read: Callable[[str], bool]) -> str:
    header = header_of(next(lines, (0, []))[1])
    kept = [at for at, name in enumerate(header) if read(name)]
    found: dict[str, tuple[str, str]] = {}  # of each mark the first place and cell
    sure = False
    for line, row in lines:
        together = "".join(row)
        if not any(mark in together for mark in ".," if not (sure and mark in found)):
            continue
        for at in kept:
            place, cell = f"{header[at]} in line {line} of {path.name}", row[at].strip()
            if _THOUSANDS.fullmatch(cell):
                raise InputError(place, cell, f"write {PLAIN}")
            number = _DECIMAL.fullmatch(cell)
            if number is not None:
                found.setdefault(number[1] or number[2], (place, cell))
                sure = sure or not _GROUPED.fullmatch(cell)
        if len(found) > 1:
            (first, one), (place, cell) = found.values()
            remedy = f"but {first} = {one!r}: write all decimals with one mark and {PLAIN}; or drop a column"
            raise InputError(place, cell, remedy)
    if found and not sure:
        ((place, cell),) = found.values()
        remedy = "decimals or thousands? all such numbers of the file have three digits behind the mark: write"
        raise InputError(place, cell, f"{remedy} {PLAIN}")
    return next(iter(found), ".")


@contextmanager
def csv_text_of(path: Path) -> Generator[IO[str]]:
    """The text of a file; `InputError`, also for what reading it inside the block meets."""
    try:
        with opened(path, packed=False) as stream, TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
            yield text
    except UnicodeDecodeError:
        raise InputError("path", str(path), "not UTF-8 text; save the table as UTF-8 CSV") from None
    except csv.Error as error:
        raise InputError("path", str(path), f"not a CSV table ({error})") from None


def _bounded(path: Path, text: IO[str]) -> Iterator[str]:
    while line := text.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE:
            raise InputError("path", str(path), f"not a table: a line of over {LONGEST_LINE} characters")
        yield line


def table_lines(path: Path, text: IO[str], dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """The lines that are not empty, each with its number and as many cells as the first; decimals with points."""
    reader, given, fields = csv.reader(_bounded(path, text), delimiter=dialect.separator, strict=True), 0, 0
    for row in reader:
        if not row:
            continue
        given, fields = given + 1, fields or len(row)
        if len(row) != fields:
            remedy = f"give {fields} fields"
            if len(row) > fields and dialect.separator == ",":
                remedy += "; where decimals have commas, write points, or separate the columns by semicolons"
            raise InputError(f"line {reader.line_num} of {path.name}", f"{len(row)} fields", remedy)
        if dialect.decimal == ",":
            row = [cell.replace(",", ".") if "," in cell and _DECIMAL.fullmatch(cell) else cell for cell in row]
        yield reader.line_num, row
    if given < 2:
        raise InputError("path", str(path), "give a header line and at least one row")


def header_of(header: list[str]) -> list[str]:
    """Names of columns, trimmed; a first one without a name is called `INDEX`. Raises `InputError`."""
    header = [name.strip() for name in header]
    if len(header) == 1 and "|" in header[0]:
        raise InputError("header", header[0], "separate the columns by commas, semicolons or tabs")
    if header and not header[0]:
        header = [INDEX, *header[1:]]
    for name in header:
        where = [str(at) for at, other in enumerate(header, 1) if other == name]
        if not name:
            raise InputError(f"header, column {where[0]}", "", "name every column, each once")
        if len(where) > 1:
            raise InputError("header", name, f"columns {' and '.join(where)} have this name; name each once")
    return header
