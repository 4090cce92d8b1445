"""A table as people have it: named columns of numbers or texts, with gaps.

`frame_of` takes a mapping of columns or any library's data frame (by narwhals); `csv_file` reads a file in pieces.
What is made of the columns is decided in `design`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from tempfile import SpooledTemporaryFile
from typing import Any
from weakref import finalize

import numpy as np
from polars import Categorical, DataFrame, Float64, Series, String, lit, read_ipc

from suffice.support.errors import InputError
from suffice.support.numbers import check_whole

from .cells import numbers_of, series_of, strays_of, texts_of
from .table import Table, free_name

FEW = 1 << 24
"""Pieces of so many bytes stay in memory."""
LINES = "\n"
"""The column of lines in a temporary file: no column of a table has this name."""


@dataclass(frozen=True, kw_only=True)
class Frame:
    """`cells` are numbers with NaN for what is missing, texts of a file, which may be numbers, or texts as they stand
    (Categorical); `lines` are the numbers of rows in `file`, or in the table where it is from none."""

    cells: DataFrame
    lines: np.ndarray
    file: str = ""

    @property
    def rows(self) -> int:
        return self.cells.height

    @cached_property
    def columns(self) -> dict[str, Series]:
        """By name: a frame of 20,000 columns looks one up in a list."""
        return {column.name: column for column in self.cells.get_columns()}

    def numbers(self, name: str) -> np.ndarray | None:
        """A column (n,) with NaN for what is missing, or None where a cell is a text."""
        return numbers_of(self.columns[name])

    def texts(self, name: str) -> Series:
        """A column with None for what is missing, where `WORDS` are texts; whole numbers without a decimal point."""
        return texts_of(self.columns[name])

    def stray(self, name: str) -> int:
        """The first row with a text in a column that has one."""
        return int(strays_of(self.texts(name).fill_null("")).arg_max() or 0)

    def place(self, row: int, client: str | None = None) -> str:
        """Where a row is, with its site: line 7 of a.csv (site Lyon)."""
        where = place_of(self.file, self.lines[row])
        owner = None if client is None or client not in self.columns else self.texts(client)[row]
        return where if owner is None else f"{where} ({client} {owner})"

    def gaps(self, name: str, gone: np.ndarray) -> Counter[str]:
        """The texts of a column's cells that are `gone` (n,), with the number of cells of each."""
        if not gone.any() or self.columns[name].dtype == Float64:
            return Counter({"empty": int(gone.sum())} if gone.any() else {})
        texts = self.columns[name].filter(gone).cast(String).str.strip_chars()
        return Counter(text or "empty" for text in texts.to_list())

    def of_client(self, column: str, name: str) -> Frame:
        """All rows as those of one client."""
        check_whole("site", [name])
        check_whole("client", [column])
        return replace(self, cells=self.cells.with_columns(lit(name, Categorical).alias(column)))


def place_of(file: str, line: int) -> str:
    """The place of a row in words: line 7 of a.csv, or row 7."""
    return f"line {line} of {file}" if file else f"row {line}"


class Replayed:
    """The same pieces in each pass. The first that ends leaves them in an unnamed temporary file, in memory up to `FEW`
    bytes, for those that follow; where the disk is full each makes them anew."""

    def __init__(self, frames: Callable[[], Iterator[Frame]]) -> None:
        self.frames, self.pieces = frames, list[tuple[str, int]]()
        self.file = SpooledTemporaryFile(FEW)  # noqa: SIM115
        finalize(self, self.file.close)

    def __call__(self) -> Iterator[Frame]:
        self.file.seek(0)
        for name, end in self.pieces:
            cells = read_ipc(self.file.read(end - self.file.tell()))
            yield Frame(lines=cells.drop_in_place(LINES).to_numpy(), cells=cells, file=name)
        if self.pieces:
            return
        pieces, room = [], True
        for frame in self.frames():
            try:
                frame.cells.with_columns(Series(LINES, frame.lines)).write_ipc(self.file)
                pieces.append((frame.file, self.file.tell()))
            except OSError:
                room = False
            yield frame
        self.pieces = pieces if room else []


def frame_of(source: Any, read: Callable[[str], bool] = lambda name: True, texts: Iterable[str] = ()) -> Frame:
    """A `Frame` of a data frame (any that narwhals knows) or of a mapping of columns; `InputError`. Columns that are
    not to be `read`, which may be dates or of any kind, hold zeros. Texts are read as cells of a CSV are, but
    categories, and the columns `texts` (names of sites, say), as they stand."""
    given = source
    if not isinstance(source, Mapping):
        import narwhals  # takes a tenth of a second

        try:
            table = narwhals.from_native(source)
        except (TypeError, ValueError) as error:  # of a library that it does not know, or two columns of one name
            raise InputError("columns", type(source).__name__, " ".join(str(error).split())[:200]) from None
        table = table.collect() if isinstance(table, narwhals.LazyFrame) else table
        given = {series.name: series for series in table.iter_columns()}
    names = list(map(str, given))
    if len(set(names)) != len(names):
        raise InputError("columns", names, "name every column, each once")
    check_columns(names)
    texts = set(texts)
    cells = [
        series_of(name, column, names=name in texts)
        if read(name)
        else Series(name, np.zeros(len(column) if hasattr(column, "__len__") else np.size(column)))
        for name, column in zip(names, given.values())
    ]
    lengths = {len(column) for column in cells}
    if len(lengths) != 1 or 0 in lengths:
        raise InputError("table", f"columns of {sorted(lengths)} rows", "give columns of one length, at least one row")
    return Frame(cells=DataFrame(cells), lines=np.arange(1, 1 + lengths.pop()))


def check_columns(names: Sequence[str]) -> None:
    """`InputError` for a name with half of a character, or from ^ to $, which polars takes for a pattern."""
    check_whole("column", names)
    for name in names:
        if name.startswith("^") and name.endswith("$"):
            raise InputError("column", name, "a name from ^ to $ is a pattern of columns: give it another")


def frame_of_table(table: Table, target: str, start: int = 0) -> tuple[Frame, str]:
    """The rows, of which the first has the number `start` + 1, and what their target is called."""
    target = free_name(target, table.columns)
    check_whole("column", [*table.columns, target])
    y = series_of(target, table.y, names=table.y.dtype.kind == "U")
    cells = DataFrame(dict(zip(table.columns, table.X.T))).with_columns(y)
    return Frame(cells=cells, lines=np.arange(start + 1, start + len(table.y) + 1)), target
