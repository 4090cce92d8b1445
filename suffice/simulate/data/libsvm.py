"""LIBSVM files, `label index:value index:value ...` a line, made dense."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from suffice.support.errors import InputError

from .memory import Memory, opened
from .table import PER_TEXT, Table

NO_ROWS = "no rows with predictors; write lines `label index:value ...`"
AS_ROWS = (
    "write `label index:value ...`: numbers, with each index once, rising from 0 or 1; name a table with a header .csv"
)
_VALUE = rb"[-+]?(?:nan|inf(?:inity)?|(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)"
_ROW = re.compile(rb"\s*(?:%b(?:\s+\d{1,9}:%b)*\s*)?" % (_VALUE, _VALUE), re.IGNORECASE)
_INDEX = re.compile(rb"(\d+):")
PER_BYTE = 4
"""Memory for a byte of text: ` 1:1` becomes 16 bytes before it is made dense."""


def read_libsvm(paths: Sequence[Path], memory: Memory) -> list[Table]:
    """One table per file, all with the columns of the longest, named by their index from the first one that is used, 0
    or 1."""
    loaded = [_loaded(path, memory) for path in paths]
    rows, columns = sum(X.shape[0] for X, _ in loaded), max(X.shape[1] for X, _ in loaded)
    memory.take(f"the {rows} x {columns} table of {paths[0].name}", 8.0 * rows * columns + PER_TEXT * columns)
    first = 0 if any(X[:, 0].nnz for X, _ in loaded) else 1
    if columns == first:
        raise InputError("LIBSVM rows", "labels alone", NO_ROWS)
    names = tuple(map(str, range(first, columns)))
    for X, _ in loaded:
        X.resize(X.shape[0], columns)
    return [Table(name="", X=X[:, first:].toarray(), y=y, columns=names) for X, y in loaded]


def _loaded(path: Path, memory: Memory) -> tuple[Any, np.ndarray]:
    """A sparse matrix with columns 0, 1, ... as in the file, and labels."""
    from sklearn.datasets import load_svmlight_file

    try:
        with opened(path) as stream:
            memory.check(f"the text of {path.name}", PER_BYTE * path.stat().st_size)
            X, y = load_svmlight_file(stream, zero_based=True)[:2]
    except InputError:
        raise
    except (ValueError, OverflowError) as error:
        raise _bad_line(path, error) from None
    if 0 in X.shape:
        raise InputError("path", str(path), NO_ROWS)
    return X, np.asarray(y)


def _bad_line(path: Path, error: Exception) -> InputError:
    """Where the mistake is: scikit-learn does not say."""
    with opened(path) as stream:
        for number, line in enumerate(stream, 1):
            row = line.partition(b"#")[0]
            rising = all(int(a) < int(b) for a, b in pairwise(_INDEX.findall(row)))
            if not (_ROW.fullmatch(row) and rising):
                return InputError(f"line {number} of {path.name}", row[:60].decode("latin-1").strip(), AS_ROWS)
    return InputError("path", str(path), f"not a LIBSVM file ({' '.join(str(error).split())[:80]})")
