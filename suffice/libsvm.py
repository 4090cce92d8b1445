"""LIBSVM files, `label index:value index:value ...` a line, made dense."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from bounds import InputError

from .tables import MOST_NUMBERS, Table, too_large

NO_ROWS = "no rows with predictors; write lines `label index:value ...`"


def read_libsvm(paths: Sequence[Path]) -> list[Table]:
    """One table per file, all with the same columns, named by their index from the first one that is used, 0 or 1."""
    return _aligned([_loaded(path) for path in paths])


def _loaded(path: Path) -> Table:
    """Columns 0, 1, ... as in the file."""
    from sklearn.datasets import load_svmlight_file

    options: dict[str, Any] = {"dtype": np.float64, "zero_based": True}
    try:
        X, y = load_svmlight_file(str(path), **options)[:2]
    except OSError as error:
        raise InputError("path", str(path), (error.strerror or "not a readable file").lower()) from None
    except (ValueError, EOFError, UnicodeDecodeError, OverflowError) as error:
        raise _bad_line(path, error) from None
    if 0 in X.shape:
        raise InputError("path", str(path), NO_ROWS)
    if X.shape[0] * X.shape[1] > MOST_NUMBERS:
        raise too_large(path, *X.shape)
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
    opened = {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix.lower(), open)
    try:
        with opened(path, "rb") as stream:
            for number, line in enumerate(stream, 1):
                fault = _fault(line.partition(b"#")[0].split())
                if fault:
                    return InputError(f"line {number} of {path.name}", line[:60].decode("latin-1").strip(), fault)
    except (OSError, EOFError):
        return InputError("path", str(path), "damaged compression")
    return InputError("path", str(path), f"not a LIBSVM file ({' '.join(str(error).split())[:80]})")


def _fault(words: list[bytes]) -> str:
    if not words:
        return ""
    try:
        float(words[0])
    except ValueError:
        return "write a number as the label, then index:value pairs"
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
    return "" if all(a < b for a, b in pairwise(indices)) else "write each index once, in rising order"
