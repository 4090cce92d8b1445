"""A table as people have it: named columns of numbers or texts, with gaps.

`frame_of` takes a mapping of columns or any library's data frame (by narwhals); `text_file` reads a file in pieces.
What is made of the columns is decided in `design`.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from tempfile import SpooledTemporaryFile
from typing import Any
from weakref import finalize

import msgspec
import numpy as np

from suffice.support.errors import InputError

from .cells import column_of, date, is_word

FEW = 1 << 24
"""Pieces of so many bytes stay in memory."""


@dataclass(frozen=True, kw_only=True)
class Frame:
    """`columns`: name -> float64 numbers with NaN for what is missing, or texts (dtype object) with None. `marks` are
    the texts that were read as missing, of each column by row, but for empty ones; `file` and the number of each row's
    `lines` in it, where it is from one, or in the table, where some rows of it were left out."""

    columns: Mapping[str, np.ndarray]
    marks: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    file: str = ""
    lines: Sequence[int] = ()

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def numeric(self, name: str) -> bool:
        return self.columns[name].dtype.kind == "f"

    def place(self, row: int, client: str | None = None, before: int = 0) -> str:
        """Where a row is, with its site: line 7 of a.csv (site Lyon); `before` rows came in earlier pieces."""
        at = self.lines[row] if len(self.lines) else before + row + 1
        where = f"line {at} of {self.file}" if self.file else f"row {at}"
        owner = self.texts(client)[row] if client is not None and client in self.columns else None
        return where if owner is None else f"{where} ({client} {owner})"

    def gaps(self, name: str) -> Counter[str]:
        """The texts of a column's cells that were read as missing, with the number of cells of each."""
        marks = self.marks.get(name, {})
        return Counter(marks.get(row, "empty") for row in np.flatnonzero(missing(self.columns[name])).tolist())

    def part(self, rows: np.ndarray) -> Frame:
        """Some rows, in the order given."""
        chosen = rows.tolist()
        return replace(
            self,
            columns={name: values[rows] for name, values in self.columns.items()},
            marks={
                name: {at: marks[row] for at, row in enumerate(chosen) if row in marks}
                for name, marks in self.marks.items()
            },
            lines=array("q", (self.lines[row] for row in chosen)) if len(self.lines) else (),
        )

    def of_client(self, column: str, name: str) -> Frame:
        """All rows as those of one client."""
        return replace(self, columns={**self.columns, column: np.full(self.rows, name, dtype=object)})

    def texts(self, name: str) -> np.ndarray:
        """A column as texts with None, where `WORDS` are texts; whole numbers without a decimal point."""
        values = self.columns[name]
        if not self.numeric(name):
            return values
        found = [as_text(value) if value == value else None for value in values.tolist()]
        for row, mark in self.marks.get(name, {}).items():
            if is_word(mark):
                found[row] = mark
        return np.array([*found, None], dtype=object)[:-1]


def joined(frames: Sequence[Frame]) -> Frame:
    """The rows of all pieces of a table. What is texts in one of them is texts in all."""
    marks: dict[str, dict[int, str]] = {}
    lines, before = array("q"), 0
    for frame in frames:
        for name, texts in frame.marks.items():
            marks.setdefault(name, {}).update((before + row, mark) for row, mark in texts.items())
        lines.extend(frame.lines)
        before += frame.rows
    columns = {}
    for name in frames[0].columns:
        numeric = all(frame.numeric(name) for frame in frames)
        columns[name] = np.concatenate([frame.columns[name] if numeric else frame.texts(name) for frame in frames])
    return Frame(columns=columns, marks=marks, file=frames[0].file, lines=lines)


class Replayed:
    """The same pieces in each pass. The first that ends leaves them in an unnamed temporary file, in memory up to `FEW`
    bytes, for those that follow; where the disk is full each makes them anew."""

    def __init__(self, frames: Callable[[], Iterator[Frame]]) -> None:
        self.frames, self.whole, self.sizes = frames, False, list[int]()
        self.file = SpooledTemporaryFile(FEW)  # noqa: SIM115
        finalize(self, self.file.close)

    def __call__(self) -> Iterator[Frame]:
        self.file.seek(0)
        if self.whole:
            for size, end in zip(self.sizes, accumulate(self.sizes)):
                self.file.seek(end - size)
                yield _unpacked(self.file.read(size))
            return
        self.sizes, room = [], True
        for frame in self.frames():
            try:
                self.sizes += [self.file.write(_packed(frame))] if room else []
            except OSError:
                room = False
            yield frame
        self.whole = room


def _packed(frame: Frame) -> bytes:
    columns = {
        name: values.tobytes() if values.dtype.kind == "f" else values.tolist()
        for name, values in frame.columns.items()
    }
    return msgspec.msgpack.encode((columns, frame.marks, frame.file, array("q", frame.lines).tobytes()))


def _unpacked(content: bytes) -> Frame:
    cells, marks, file, lines = msgspec.msgpack.decode(content)
    columns = {
        name: np.frombuffer(values) if isinstance(values, bytes) else np.array([*values, None], dtype=object)[:-1]
        for name, values in cells.items()
    }
    return Frame(columns=columns, marks=marks, file=file, lines=array("q", lines))


def missing(values: np.ndarray) -> np.ndarray:
    """Whether a column has no value (n,)."""
    return np.isnan(values) if values.dtype.kind == "f" else np.equal(values, np.array(None)).astype(bool)


def as_text(value: float) -> str:
    """A number as a text, whole ones without a decimal point."""
    return f"{value:.15g}"


def is_frame(source: Any) -> bool:
    """Whether `frame_of` reads `source`."""
    return isinstance(source, Mapping) or (hasattr(source, "columns") and not isinstance(source, Frame))


def frame_of(source: Any, read: Callable[[str], bool] = lambda name: True, texts: Iterable[str] = ()) -> Frame:
    """A `Frame` of a data frame (any that narwhals knows, or one with names in `columns`, each an item) or of a mapping
    of columns; `InputError`. Columns that are not to be `read`, which may be dates or of any kind, hold zeros. Texts
    are read as cells of a CSV are, but categories, and the columns `texts` (names of sites, say), as they stand."""
    given = source if isinstance(source, Mapping) else _columns(source)
    if len(set(map(str, given))) != len(given):
        raise InputError("columns", [str(name) for name in given], "name every column, each once")
    verbatim, texts, cells = set[str](), set(texts), dict[str, Any]()
    for name, column in zip(map(str, given), given.values()):
        cells[name] = [0.0] * (len(column) if hasattr(column, "__len__") else np.size(column))
        if read(name):
            cells[name], levels = _cells(name, column, name in texts)
            verbatim |= {name} if levels or name in texts else set()
    read_as = {name: column_of(name, values, parse=name not in verbatim) for name, values in cells.items()}
    lengths = {len(values) for values, _ in read_as.values()}
    if len(lengths) != 1 or 0 in lengths:
        raise InputError("table", f"columns of {sorted(lengths)} rows", "give columns of one length, at least one row")
    marks = {name: found for name, (_, found) in read_as.items() if found}
    return Frame(columns={name: values for name, (values, _) in read_as.items()}, marks=marks)


def _columns(source: Any) -> Mapping[Any, Any]:
    import narwhals  # takes a tenth of a second

    try:
        frame = narwhals.from_native(source)
    except ValueError as error:  # two columns of one name
        raise InputError("columns", type(source).__name__, " ".join(str(error).split())) from None
    except TypeError:  # of a library that it does not know
        return {name: source[name] for name in source.columns}
    frame = frame.collect() if isinstance(frame, narwhals.LazyFrame) else frame
    return {series.name: series for series in frame.iter_columns()}


def _cells(name: str, column: Any, as_names: bool) -> tuple[Any, bool]:
    """Numbers, or a list with None in the gaps, and whether they are levels of a category. Long whole numbers that are
    names are texts, since 2^53 + 1 is no float."""
    levels = False
    if hasattr(column, "to_list"):
        import narwhals

        series = narwhals.from_native(column, allow_series=True, pass_through=True)
        if isinstance(series, narwhals.Series):
            levels = series.dtype in (narwhals.Categorical, narwhals.Enum)
            if series.dtype.is_temporal():
                raise date(name, type(series.dtype).__name__.lower())
            if series.dtype.is_numeric() and not (as_names and _long(series.to_numpy())):
                return series.to_numpy(), False
            gaps = series.is_null().to_list()
            column = [None if gone else value for value, gone in zip(series.to_list(), gaps)]
        else:
            column = column.to_list()
    if as_names and isinstance(column, Sequence | np.ndarray) and not isinstance(column, str) and _long(column):
        column = [str(cell) if isinstance(cell, int | np.integer) else cell for cell in column]
    return column, levels


def _long(values: Any) -> bool:
    """Whether there are whole numbers of more digits than `as_text` writes."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        return bool((np.abs(values.astype(float)) >= 1e15).any())
    return any(isinstance(cell, int | np.integer) and abs(int(cell)) >= 1e15 for cell in values)
