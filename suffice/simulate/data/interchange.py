"""Columns of a data frame by the interchange protocol (data-apis.org/dataframe-protocol), whichever library made it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from suffice.support.errors import InputError

from .cells import column_of, date

KINDS = {0: "i", 1: "u", 2: "f", 20: "b"}
STRING, DATETIME, CATEGORICAL = 21, 22, 23
NAN, SENTINEL, BITMASK, BYTEMASK = 1, 2, 3, 4


def columns_of(source: Any, read: Callable[[str], bool]) -> tuple[dict[str, np.ndarray], set[str]]:
    """Name -> numbers with NaN, or texts with None; zeros where it is not to be `read`. And the names of those that are
    categories, whose levels are texts even where they look like numbers. Raises `InputError` for other kinds."""
    try:
        exchanged = source.__dataframe__(allow_copy=True)
        names = [str(name) for name in exchanged.column_names()]
    except (NotImplementedError, TypeError, ValueError) as error:  # what pandas, polars and pyarrow raise here
        raise InputError("table", type(source).__name__, f"cannot be exchanged: {error}") from None
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError("columns", twice, "named twice; name every column once")
    found: dict[str, list[np.ndarray]] = {name: [] for name in names}
    categories: set[str] = set()
    for chunk in exchanged.get_chunks():
        for at, name in enumerate(names):
            values, kind = _column(name, chunk, at) if read(name) else (np.zeros(chunk.get_column(at).size()), 0)
            found[name].append(values)
            categories |= {name} if kind == CATEGORICAL else set()
    return {name: np.concatenate(parts) if parts else np.empty(0) for name, parts in found.items()}, categories


def _column(name: str, chunk: Any, at: int) -> tuple[np.ndarray, int]:
    try:
        column = chunk.get_column(at)
        kind = int(column.dtype[0])
        if kind == CATEGORICAL:
            described = column.describe_categorical
            values, gone = _plain(column)
            levels = _values(name, described["categories"])
            inside = np.where(gone | (values < 0), 0, values).astype(int)
            levels = levels[inside] if len(levels) else np.full(len(values), None)
            return _with_gaps(levels, gone | (values < 0)), kind
        return _values(name, column), kind
    except InputError:
        raise
    except (NotImplementedError, TypeError, KeyError, ValueError) as error:  # the protocol has no kind for it
        remedy = f"cannot be exchanged ({error}); make it numbers or texts, or leave it out"
        raise InputError(f"column {name}", "of mixed kind", " ".join(remedy.split())) from None


def _values(name: str, column: Any) -> np.ndarray:
    kind = int(column.dtype[0])
    if kind == DATETIME:
        raise date(name, "datetime")
    if kind == STRING:
        return _texts(column)
    if kind not in KINDS:
        raise InputError(f"column {name}", f"kind {kind}", "give numbers, texts or categories")
    values, gone = _plain(column)
    return _with_gaps(values, gone)


def _with_gaps(values: np.ndarray, gone: np.ndarray) -> np.ndarray:
    if values.dtype.kind in "iufb":
        return np.where(gone, np.nan, values.astype(float))
    return column_of("", [None if out else value for value, out in zip(values.tolist(), gone.tolist())], parse=False)


def _buffer(buffer: Any, dtype: Any, count: int, offset: int) -> np.ndarray:
    """`count` entries from entry `offset` on, copied out of the frame's memory."""
    kind = np.dtype(dtype)
    size = (offset + count) * kind.itemsize
    if not size or not buffer.bufsize:
        return np.zeros(count, kind)
    return np.frombuffer(ctypes.string_at(buffer.ptr, size), kind, offset=offset * kind.itemsize)


def _plain(column: Any) -> tuple[np.ndarray, np.ndarray]:
    """Numbers as they are stored, and which are missing."""
    buffers = column.get_buffers()
    buffer, dtype = buffers["data"]
    kind = {**KINDS, CATEGORICAL: "i"}[int(dtype[0])]
    count, offset = column.size(), column.offset
    if dtype[1] == 1:  # truth values by bits
        raw = _buffer(buffer, "u1", (offset + count + 7) // 8, 0)
        values = np.unpackbits(raw, bitorder="little")[offset : offset + count].astype(float)
    else:
        values = _buffer(buffer, f"{'u' if kind == 'b' else kind}{dtype[1] // 8}", count, offset)
    return values, _gaps(column, buffers, values)


def _gaps(column: Any, buffers: Any, values: np.ndarray | None) -> np.ndarray:
    kind, marker = column.describe_null
    kind, count, offset = int(kind), column.size(), column.offset
    gone = np.zeros(count, bool)
    if kind == SENTINEL and values is not None:
        return values == marker
    if kind in (BITMASK, BYTEMASK) and buffers["validity"] is not None:
        buffer, dtype = buffers["validity"]
        if kind == BITMASK or dtype[1] == 1:
            raw = _buffer(buffer, "u1", (offset + count + 7) // 8, 0)
            mask = np.unpackbits(raw, bitorder="little")[offset : offset + count]
        else:
            mask = _buffer(buffer, "u1", count, offset)
        return mask == marker
    return gone


def _texts(column: Any) -> np.ndarray:
    buffers = column.get_buffers()
    count, offset = column.size(), column.offset
    buffer, dtype = buffers["offsets"]
    ends = _buffer(buffer, f"i{dtype[1] // 8}", count + 1, offset)
    data = _buffer(buffers["data"][0], "u1", int(ends[-1]), 0).tobytes()
    gone = _gaps(column, buffers, None).tolist()
    bounds = ends.tolist()
    cells = [None if out else data[a:b].decode("utf-8") for a, b, out in zip(bounds, bounds[1:], gone)]
    return np.array([*cells, None], dtype=object)[:-1]  # an array of objects even when it is empty
