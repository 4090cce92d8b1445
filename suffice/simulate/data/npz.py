"""NumPy's .npz files, read without unpickling anything and without trusting the sizes that they declare."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from suffice.support.errors import InputError

from .memory import Memory, opened
from .table import PER_TEXT, Table

PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The ways of packing that are read: of others zipfile unpacks 4 KiB at once, which may be gigabytes."""


def read_arrays(field: str, path: Path, memory: Memory) -> dict[str, np.ndarray]:
    """All arrays of an .npz file, or `InputError` with `field`."""
    with opened(path, field=field) as stream:
        try:
            with zipfile.ZipFile(stream) as archive:
                return {
                    entry.filename.removesuffix(".npy"): _array(field, path, archive, entry, memory)
                    for entry in archive.infolist()
                }
        except InputError:
            raise
        except Exception as error:  # what a damaged archive raises is up to zipfile, zlib and NumPy
            remedy = f"not an .npz file of plain number arrays ({type(error).__name__})"
            raise InputError(field, str(path), remedy) from None


def _array(field: str, path: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, memory: Memory) -> np.ndarray:
    if entry.compress_type not in PACKED:
        raise InputError(field, f"{path.name}, {entry.filename}", "not packed as NumPy does; save it by numpy.savez")
    memory.check(f"{entry.filename} of {path.name}", entry.file_size)  # zipfile unpacks no more than that
    with archive.open(entry) as stream:
        found = np.lib.format.read_array(stream, allow_pickle=False)
    if found.dtype.kind not in "biufcSU":
        raise InputError(field, f"{path.name}, {entry.filename}", f"an array of {found.dtype}; give plain numbers")
    memory.take(f"{entry.filename} of {path.name}, {found.dtype} {found.shape}", found.size * max(found.itemsize, 8))
    return found


def read_npz(path: Path, memory: Memory) -> tuple[Table, list[str] | None]:
    """Arrays X (n, d), y (n,), perhaps columns (d,), and the client of each row (n,), where there is this array."""
    arrays = read_arrays("path", path, memory)
    unknown = sorted(set(arrays) - {"X", "y", "client", "columns"})
    missing = sorted({"X", "y"} - set(arrays))
    if unknown or missing:
        remedy = f"the arrays of {path.name} are X, y and, optionally, client and columns"
        raise InputError("unknown arrays" if unknown else "missing arrays", unknown or missing, remedy)
    X, y = arrays["X"], arrays["y"]
    if X.ndim != 2 or y.shape != X.shape[:1] or not len(X):
        raise InputError(f"X and y of {path.name}", [X.shape, y.shape], "give shapes (n, d) and (n,), of a row or more")
    memory.check(f"the {X.shape[1]} names of columns", PER_TEXT * X.shape[1])
    named = arrays.get("columns", np.array([f"x{j + 1}" for j in range(X.shape[1])]))
    columns = tuple(map(str, named.ravel().tolist()))
    if named.shape != X.shape[1:] or len(set(columns)) != len(columns):
        raise InputError(f"columns of {path.name}", list(columns), f"give {X.shape[1]} distinct names")
    table = Table(name="", X=X, y=y, columns=columns)
    if "client" not in arrays:
        return table, None
    client = arrays["client"]
    names = [str(name).strip() for name in client.ravel().tolist()]
    if client.shape != y.shape or client.dtype.kind not in "iuU" or "" in names:
        given = f"{client.dtype} {client.shape}"
        raise InputError(f"client of {path.name}", given, "give one whole number or text a row, and none empty")
    return table, names
