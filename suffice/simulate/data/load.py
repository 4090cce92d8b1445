"""Which reader reads a path: one table per client from a CSV, .npz or LIBSVM file, or a folder of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from suffice.support.errors import InputError

from .csv.lines import is_csv
from .csv.numeric_table import read_csv
from .libsvm import read_libsvm
from .npz import read_npz
from .table import Asked, Table

LIBSVM = (".libsvm", ".svm", ".svmlight", ".txt", ".bz2", ".gz")
READABLE = "a .csv, .npz or LIBSVM file (.libsvm, .svm, .svmlight, .txt, .gz, .bz2 or no suffix), or a folder of them"


def load(path: Path, asked: Asked, *, divided: bool) -> list[Table]:
    """One table per client; of a file that `divided` is false for, one table without a client's name.

    A CSV's clients are the values of the column `client`, an .npz file's those of the array `client`. A folder has one
    file per client, named after it; the memory of all files is counted together. Raises `InputError`.
    """
    if not path.is_dir():
        if not path.exists():
            raise InputError("path", str(path), "no such file or folder")
        return _file(path, asked, divided=divided)
    files = sorted(file for file in path.iterdir() if not file.is_dir() and file.name[0] != ".")
    known = [file for file in files if is_csv(file) or file.suffix.lower() in (".npz", *LIBSVM)]
    known = known or [file for file in files if not file.suffix]
    if not known:
        raise InputError("path", str(path), "no .csv, .npz or LIBSVM file in this folder")
    if not any(is_csv(file) or file.suffix.lower() == ".npz" for file in known):
        tables = read_libsvm(known, asked.memory)
    else:
        tables = [_file(file, replace(asked, client=None), divided=False)[0] for file in known]
    return [replace(table, name=file.name.partition(".")[0]) for file, table in zip(known, tables)]


def _file(path: Path, asked: Asked, *, divided: bool) -> list[Table]:
    suffix = path.suffix.lower()
    if is_csv(path):
        return read_csv(path, asked, divided=divided)
    if suffix == ".npz":
        return read_npz(path, divided=divided, memory=asked.memory)
    if suffix in ("", *LIBSVM):
        if divided:
            raise InputError("split", "missing", "a LIBSVM file has no clients: say how to divide it, as contiguous:8")
        return read_libsvm([path], asked.memory)
    raise InputError("path", str(path), f"give {READABLE}; save any other table as CSV")
