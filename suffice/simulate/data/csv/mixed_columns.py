"""A CSV file in pieces of many rows, with columns of any kind; it is read anew for every pass, never held whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from ..cells import numbers_or_texts
from ..frame import Frame
from .lines import Dialect, csv_text_of, dialect_of, header_of, table_lines

PIECE = 50_000
"""Rows of one piece."""


def csv_frames(path: Path, dialect: Dialect) -> Iterator[Frame]:
    """The rows of a file in pieces. Raises `InputError`."""
    with csv_text_of(path) as text:
        lines = table_lines(path, text, dialect)
        header = header_of(next(lines, (0, []))[1])
        while piece := list(islice(lines, PIECE)):
            cells = dict(zip(header, zip(*(row for _, row in piece))))
            yield Frame(
                columns={name: numbers_or_texts(column) for name, column in cells.items()},
                cells=cells,
                file=path.name,
                lines=[line for line, _ in piece],
            )


def csv_source(path: Path, read: Callable[[str], bool]) -> Callable[[], Iterator[Frame]]:
    """`csv_frames` for any number of passes; the dialect is that of the columns to `read`."""
    dialect = dialect_of(path, read)
    return lambda: csv_frames(path, dialect)


def csv_rows(path: Path, dialect: Dialect) -> Iterator[list[str]]:
    """The cells of a table as they stand, its header first; for a file that `csv_frames` has read."""
    with csv_text_of(path) as text:
        yield from (row for _, row in table_lines(path, text, replace(dialect, decimal=".")))
