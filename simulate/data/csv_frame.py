"""A CSV file in pieces of many rows, with columns of any kind; it is read anew for every pass, never held whole."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from suffice.bounds import InputError

from .cells import numbers_or_texts
from .csv import header_of, table_lines
from .frame import Frame

PIECE = 50_000
"""Rows of one piece."""


def csv_frames(path: Path, *, only: frozenset[str] | None = None) -> Iterator[Frame]:
    """The rows of a file in pieces; of the columns in `only`, if given. Raises `InputError`."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as text:
            lines = table_lines(path, text)
            _, first = next(lines, (0, []))
            header = header_of([column.strip() for column in first])
            while piece := list(islice(lines, PIECE)):
                for line, row in piece:
                    if len(row) != len(header):
                        where = f"line {line} of {path.name}"
                        raise InputError(where, f"{len(row)} fields", f"give {len(header)} fields")
                columns = zip(header, zip(*(row for _, row in piece)))
                cells = {name: column for name, column in columns if only is None or name in only}
                yield Frame(
                    columns={name: numbers_or_texts(column) for name, column in cells.items()},
                    cells=cells,
                    file=path.name,
                    lines=[line for line, _ in piece],
                )
    except UnicodeDecodeError:
        raise InputError("path", str(path), "not UTF-8 text; save the table as UTF-8 CSV") from None
    except csv.Error as error:
        raise InputError("path", str(path), f"not a CSV table ({error})") from None


def csv_rows(path: Path) -> Iterator[list[str]]:
    """The cells of a table as they stand, its header first; for a file that `csv_frames` has read."""
    with path.open(encoding="utf-8-sig", newline="") as text:
        yield from (row for _, row in table_lines(path, text))
