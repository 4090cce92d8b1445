"""A CSV file in pieces of many rows, with columns of any kind; it is read anew for every pass, never held whole."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np

from ..cells import names_of, numbers_or_texts
from ..frame import Frame, joined, marks_of
from ..memory import opened, pieces
from .lines import Dialect, csv_text_of, dialect_of, header_of, table_lines

PIECE = 50_000
"""A piece has so many rows, fewer where they have many columns."""
PIECE_CELLS = 1 << 22
BLOCK = 1 << 13
"""Cells that are texts at a time: a piece is put together from as many as the processor's cache holds."""


def csv_frames(
    path: Path, dialect: Dialect, read: Callable[[str], bool] = lambda name: True, names: Collection[str] = ()
) -> Iterator[Frame]:
    """The rows of a file in pieces, in each of which a column holds numbers or texts. Columns that are not to be `read`
    hold zeros, those of `names` texts. Raises `InputError`."""
    with csv_text_of(path) as text:
        lines = table_lines(path, text, dialect)
        header = header_of(next(lines, (0, []))[1])
        most = max(1, min(PIECE, PIECE_CELLS // len(header)))
        blocks: list[Frame] = []
        while rows := list(islice(lines, max(1, min(most, BLOCK // len(header))))):
            cells = dict(zip(header, zip(*(row for _, row in rows))))
            columns = {name: _column(column, name in names) for name, column in cells.items() if read(name)}
            marks = marks_of(columns, cells)
            columns = {name: columns[name] if name in columns else np.zeros(len(rows)) for name in header}
            block = Frame(columns=columns, marks=marks, file=path.name, lines=array("q", (line for line, _ in rows)))
            if blocks and (sum(one.rows for one in (*blocks, block)) > most or not _alike(blocks[-1], block)):
                yield joined(blocks)
                blocks = []
            blocks.append(block)
        yield joined(blocks)


def _column(cells: Sequence[str], name: bool) -> np.ndarray:
    return names_of(cells) if name else numbers_or_texts(cells)


def _alike(one: Frame, other: Frame) -> bool:
    return all(one.numeric(name) == other.numeric(name) for name in one.columns)


def csv_source(path: Path, read: Callable[[str], bool], names: Collection[str]) -> Callable[[], Iterator[Frame]]:
    """`csv_frames` for any number of passes; the dialect is that of the columns to `read`."""
    dialect = dialect_of(path, read)
    return lambda: csv_frames(path, dialect, read, names)


def csv_size(path: Path) -> tuple[int, int]:
    """At most how many rows there are, since each ends its line, and how many columns."""
    with opened(path, packed=False) as stream:
        most = sum(piece.count(b"\n") + piece.count(b"\r") - piece.count(b"\r\n") for piece in pieces(stream))
    with csv_text_of(path) as text:
        return most, len(next(table_lines(path, text, dialect_of(path)), (0, []))[1])


def csv_rows(path: Path, dialect: Dialect) -> Iterator[list[str]]:
    """The cells of a table as they stand, its header first; for a file that `csv_frames` has read."""
    with csv_text_of(path) as text:
        yield from (row for _, row in table_lines(path, text, replace(dialect, decimal=".")))
