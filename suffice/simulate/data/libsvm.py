"""LIBSVM files, `label index:value index:value ...` a line, made dense."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from suffice.support.errors import InputError

from .memory import LONGEST_LINE, Memory, opened
from .table import PER_TEXT, Table

NO_ROWS = "no rows with predictors; write lines `label index:value ...`"


def read_libsvm(paths: Sequence[Path], memory: Memory) -> list[Table]:
    """One table per file, all with the same columns, named by their index from the first one that is used, 0 or 1.

    The files are read through once before anything is kept, for their sizes.
    """
    sizes = [_size(path, memory) for path in paths]
    rows, columns = sum(rows for rows, _ in sizes), max(columns for _, columns in sizes)
    memory.take(f"the {rows} x {columns} table of {paths[0].name}", 8.0 * rows * columns + PER_TEXT * columns)
    return _aligned([_loaded(path) for path in paths])


def _size(path: Path, memory: Memory) -> tuple[int, int]:
    """Rows, and one more than the largest index; a last index that is none is refused here, other mistakes later."""
    rows = columns = number = 0
    with opened(path) as stream:
        while line := stream.readline(LONGEST_LINE):
            number += 1
            if len(line) == LONGEST_LINE:
                raise InputError("path", str(path), f"not a LIBSVM file: a line of over {LONGEST_LINE} characters")
            if not number % 4096:
                memory.check(f"the table of {path.name}", 8.0 * rows * columns + PER_TEXT * (number - rows))
            row = line.partition(b"#")[0].rstrip()
            if not row:
                continue
            rows += 1
            last = row.rpartition(b" ")[2].rpartition(b"\t")[2].partition(b":")
            if last[1]:  # indices rise, so the last is the largest
                index = last[0]
                if not (index.isdigit() and len(index) < 16):
                    raise _bad_row(path, number, row)
                columns = max(columns, int(index) + 1)
    return rows, columns


def _loaded(path: Path) -> Table:
    """Columns 0, 1, ... as in the file."""
    from sklearn.datasets import load_svmlight_file

    options: dict[str, Any] = {"dtype": np.float64, "zero_based": True}
    try:
        with opened(path) as stream:
            X, y = load_svmlight_file(stream, **options)[:2]
    except (ValueError, UnicodeDecodeError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise _bad_line(path, error) from None
    if 0 in X.shape:
        raise InputError("path", str(path), NO_ROWS)
    return Table(name="", X=X.toarray(), y=np.asarray(y), columns=tuple(str(j) for j in range(X.shape[1])))


def _aligned(tables: Sequence[Table]) -> list[Table]:
    """Files stop at the last index that they use: all get the columns of the longest, without an unused column 0."""
    longest = max(tables, key=lambda table: len(table.columns)).columns
    first = 0 if any(table.X[:, 0].any() for table in tables) else 1
    if len(longest) == first:
        raise InputError("LIBSVM rows", "labels alone", NO_ROWS)
    result = []
    for table in tables:
        X = np.pad(table.X, ((0, 0), (0, len(longest) - table.X.shape[1])))
        result.append(Table(name="", X=X[:, first:], y=table.y, columns=longest[first:]))
    return result


def _bad_line(path: Path, error: Exception) -> InputError:
    """Where the mistake is: scikit-learn does not say."""
    with opened(path) as stream:
        for number, line in enumerate(stream, 1):
            row = line.partition(b"#")[0]
            if _fault(row.split()):
                return _bad_row(path, number, row)
    return InputError("path", str(path), f"not a LIBSVM file ({' '.join(str(error).split())[:80]})")


def _bad_row(path: Path, number: int, row: bytes) -> InputError:
    fault = _fault(row.split()) or "write index:value"
    return InputError(f"line {number} of {path.name}", row[:60].decode("latin-1").strip(), fault)


def _fault(words: list[bytes]) -> str:
    if not words:
        return ""
    try:
        float(words[0])
    except ValueError:
        return "write a number as the label, then index:value pairs; name a table with a header .csv"
    indices = []
    for word in words[1:]:
        index, sign, value = word.partition(b":")
        try:
            indices.append(int(index))
            float(value)
        except ValueError:
            return f"write index:value, not {word.decode('latin-1')[:20]!r}"
        if not sign or indices[-1] < 0:
            return "write indices from 0 or 1 on"
        if indices[-1] >= 10**15:
            return "write smaller indices"
    return "" if all(a < b for a, b in pairwise(indices)) else "write each index once, in rising order"
