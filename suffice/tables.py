"""A client's rows as they stand in a file, before anything is made of them; and reading files of every known kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bounds import InputError, as_numbers

MOST_NUMBERS = 200_000_000
"""Numbers that a table may hold once it is dense (1.6 GB)."""
LIBSVM = (".libsvm", ".svm", ".svmlight", ".txt", ".bz2", ".gz")
READABLE = "a .csv, .npz or LIBSVM file (.libsvm, .svm, .svmlight, .txt, .gz, .bz2 or no suffix), or a folder of them"


@dataclass(frozen=True, kw_only=True)
class Table:
    """X (n, d) numbers, y (n,) numbers or, for classes, texts; `columns` names the d predictors."""

    name: str
    X: np.ndarray
    y: np.ndarray
    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        X = as_numbers(f"X of client {self.name}" if self.name else "X", self.X, ("n", "d"))
        object.__setattr__(self, "X", X)
        if self.y.dtype.kind != "U":
            field = f"y of client {self.name}" if self.name else "y"
            object.__setattr__(self, "y", as_numbers(field, self.y, (len(X),)))

    def rows(self, name: str, chosen: np.ndarray) -> Table:
        """The chosen rows, as client `name`."""
        return Table(name=name, X=self.X[chosen], y=self.y[chosen], columns=self.columns)


def load(path: Path, *, client: str, target: str, text_target: bool, divided: bool) -> list[Table]:
    """One table per client; of a file that `divided` is false for, one table without a client's name.

    A CSV's clients are the values of the column `client`, an .npz file's those of the array `client`. A folder has one
    file per client, named after it. `text_target`: classes may be words. Raises `InputError`.
    """
    if not path.is_dir():
        if not path.exists():
            raise InputError("path", str(path), "no such file or folder")
        return _file(path, client=client, target=target, text_target=text_target, divided=divided)
    files = sorted(file for file in path.iterdir() if file.is_file() and file.name[0] != ".")
    known = [file for file in files if file.suffix.lower() in (".csv", ".npz", *LIBSVM)]
    known = known or [file for file in files if not file.suffix]
    if not known:
        raise InputError("path", str(path), "no .csv, .npz or LIBSVM file in this folder")
    if all(file.suffix.lower() not in (".csv", ".npz") for file in known):
        from .libsvm import read_libsvm

        tables = read_libsvm(known)
    else:
        tables = [_file(file, client=None, target=target, text_target=text_target, divided=False)[0] for file in known]
    return [replace(table, name=file.name.partition(".")[0]) for file, table in zip(known, tables)]


def _file(path: Path, *, client: str | None, target: str, text_target: bool, divided: bool) -> list[Table]:
    suffix = path.suffix.lower()
    if suffix == ".csv":
        from .csv_tables import read_csv

        return read_csv(path, client=client, target=target, text_target=text_target, divided=divided)
    if suffix == ".npz":
        from .npz_tables import read_npz

        return read_npz(path, divided=divided)
    if suffix in ("", *LIBSVM):
        from .libsvm import read_libsvm

        if divided:
            raise InputError("split", "missing", "a LIBSVM file has no clients: say how to divide it, as contiguous:8")
        return read_libsvm([path])
    raise InputError("path", str(path), f"give {READABLE}")


def same_columns(tables: Sequence[Table]) -> list[Table]:
    """All tables with the first one's columns in its order, or `InputError`."""
    first = tables[0].columns
    result = []
    for table in tables:
        if table.columns == first:
            result.append(table)
        elif sorted(table.columns) == sorted(first):
            order = [table.columns.index(column) for column in first]
            result.append(Table(name=table.name, X=table.X[:, order], y=table.y, columns=first))
        else:
            wanted = list(first) if len(first) <= 12 else f"{len(first)} columns, as client {tables[0].name}"
            raise InputError(
                f"columns of client {table.name}", list(table.columns), f"give the same predictors to all: {wanted}"
            )
    return result


def too_large(path: Path, rows: int, columns: int) -> InputError:
    return InputError(
        f"size of {path.name}", f"{rows} x {columns}", f"tables are held dense: give at most {MOST_NUMBERS:.0e} numbers"
    )
