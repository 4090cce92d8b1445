"""NumPy's .npz files, read without unpickling anything."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from bounds import InputError

from .tables import MOST_NUMBERS, Table


def read_arrays(field: str, path: Path) -> dict[str, np.ndarray]:
    """All arrays of an .npz file, or `InputError` with `field`."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        if size > 8 * MOST_NUMBERS:
            raise InputError(f"size of {path.name}", f"{size:.3g} bytes", f"give at most {8 * MOST_NUMBERS:.3g}")
        with np.load(path, allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except InputError:
        raise
    except (OSError, EOFError) as error:
        remedy = getattr(error, "strerror", None) or "not an .npz file"
        raise InputError(field, str(path), remedy.lower()) from None
    except zipfile.BadZipFile:
        raise InputError(field, str(path), "not an .npz file") from None
    except ValueError:
        raise InputError(field, str(path), "not an .npz file of plain number arrays") from None
    except Exception as error:  # what a damaged archive raises is up to zipfile, zlib and NumPy
        raise InputError(field, str(path), f"not a readable .npz file ({type(error).__name__})") from None


def read_npz(path: Path, *, divided: bool) -> list[Table]:
    """Arrays X (n, d), y (n,), perhaps columns (d,), and client (n,), one table per client in order of appearance.

    Not `divided`: one table, and no array client.
    """
    arrays = read_arrays("path", path)
    unknown = sorted(set(arrays) - {"X", "y", "client", "columns"})
    missing = sorted({"X", "y"} - set(arrays))
    if unknown or missing:
        remedy = f"the arrays of {path.name} are X, y and, optionally, client and columns"
        raise InputError("unknown arrays" if unknown else "missing arrays", unknown or missing, remedy)
    X, y = arrays["X"], arrays["y"]
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise InputError(f"X and y of {path.name}", [X.shape, y.shape], "give shapes (n, d) and (n,)")
    if not len(X):
        raise InputError(f"rows of {path.name}", 0, "give at least one row")
    columns = tuple(f"x{j + 1}" for j in range(X.shape[1]))
    if "columns" in arrays:
        columns = tuple(map(str, arrays["columns"].tolist())) if arrays["columns"].ndim == 1 else ()
        if len(columns) != X.shape[1] or len(set(columns)) != len(columns):
            raise InputError(f"columns of {path.name}", list(columns), f"give {X.shape[1]} distinct names")
    whole = Table(name="", X=X, y=y, columns=columns)
    if not divided:
        if "client" in arrays:
            raise InputError("client", "an array", f"{path.name} is divided already: drop split, or the array client")
        return [whole]
    if "client" not in arrays:
        raise InputError("client", "missing", f"give {path.name} an array client, or say how to divide it by split")
    client = arrays["client"]
    if client.shape != y.shape or client.dtype.kind not in "iuU":
        raise InputError(
            f"client of {path.name}", f"{client.dtype} {client.shape}", "give one whole number or text a row"
        )
    names = [str(name).strip() for name in client.tolist()]
    if "" in names:
        raise InputError(f"client of {path.name}", "", "name the client of every row")
    owner = np.array(names)
    return [whole.rows(name, np.flatnonzero(owner == name)) for name in dict.fromkeys(names)]
