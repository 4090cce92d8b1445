"""Readers stay within a limit of memory.

Sizes that a file declares are never trusted: they are checked against the limit before anything is allocated, and what
is unpacked is read in pieces, so that neither a false header nor a file that unpacks to a million times its size fills
the memory.
"""

from __future__ import annotations

import bz2
import gzip
import os
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from suffice.support.errors import InputError
from suffice.support.files import check_regular
from suffice.support.memory import MAX_MEMORY as MAX_MEMORY
from suffice.support.memory import Memory as Memory

LONGEST_LINE = 1 << 24
"""A line of a table may have so many characters."""


def as_path(field: str, value: Any, remedy: str = "give a path as text") -> Path:
    """`value` as a path that the system can look up, or `InputError`."""
    if not isinstance(value, str | os.PathLike):
        raise InputError(field, value, remedy)
    path = Path(value)
    try:
        path.stat()
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:  # such as a null byte
        why = getattr(error, "strerror", None) or "no such file or folder"
        raise InputError(field, str(path), why.lower()) from None
    return path


@contextmanager
def opened(path: Path, *, field: str = "path") -> Generator[IO[bytes]]:
    """The bytes of a regular file, those of a .gz or .bz2 unpacked as they are read.

    Raises `InputError`, also for what reading it inside the block meets.
    """
    unpack: Any = {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix.lower(), open)
    try:
        check_regular(path, field)
        with unpack(path, "rb") as stream:
            yield stream
    except (EOFError, zlib.error, OSError) as error:
        remedy = (getattr(error, "strerror", None) or "damaged compression").lower()
        raise InputError(field, str(path), remedy) from None


def whole(path: Path, *, field: str, most: int) -> bytes:
    """The content of a file of at most `most` bytes, or `InputError`."""
    with opened(path, field=field) as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise InputError(f"size of {path.name}", f"over {most} bytes", "no file of this kind is so large")
    return content
