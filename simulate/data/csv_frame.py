"""A CSV file in pieces of many rows, with columns of any kind; it is read anew for every pass, never held whole."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from suffice.bounds import InputError

from .cells import numbers_or_texts
from .csv import table_lines
from .frame import Frame

PIECE = 50_000
"""Rows of one piece."""
INDEX = "(no name)"
"""What a first column without a name is called: an index that a data frame wrote."""


def csv_frames(path: Path, *, only: frozenset[str] | None = None) -> Iterator[Frame]:
    """The rows of a file in pieces; of the columns in `only`, if given. Raises `InputError`."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as text:
            lines = table_lines(path, text)
            _, first = next(lines, (0, []))
            header = _header([column.strip() for column in first])
            while piece := list(islice(lines, PIECE)):
                for line, row in piece:
                    if len(row) != len(header):
                        where = f"line {line} of {path.name}"
                        raise InputError(where, f"{len(row)} fields", f"give {len(header)} fields")
                cells = zip(*(row for _, row in piece))
                yield Frame(
                    columns={
                        name: numbers_or_texts(column)
                        for name, column in zip(header, cells)
                        if only is None or name in only
                    }
                )
    except UnicodeDecodeError:
        raise InputError("path", str(path), "not UTF-8 text; save the table as UTF-8 CSV") from None
    except csv.Error as error:
        raise InputError("path", str(path), f"not a CSV table ({error})") from None


def _header(header: list[str]) -> list[str]:
    if len(header) == 1 and any(mark in header[0] for mark in ";\t|"):
        raise InputError("header", header[0], "separate the columns by commas")
    if header and not header[0]:
        header = [INDEX, *header[1:]]
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice or "" in header:
        raise InputError("header", twice[0] if twice else "", "name every column, each once")
    return header
