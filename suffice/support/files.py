"""Files are written whole, then renamed: a reader never sees half of one, not even after a power failure; and folders
for them.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from .errors import InputError

_LONGEST = 50
"""Characters of a file's name that its temporary neighbour repeats: names are at most 255 bytes."""


def make_folder(folder: str | Path, field: str) -> Path:
    """The folder, made with its parents if absent; `InputError` on `field` where there can be none."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise InputError(field, str(folder), "is a file, not a folder; name another") from None
    except OSError as error:
        raise InputError(field, str(folder), f"{(error.strerror or 'no folder').lower()}; name another") from None
    return folder


def check_regular(path: str | Path, field: str) -> None:
    """`InputError` for a pipe or a device, which has no end and waits for whoever writes to it; `OSError` for what is
    not there."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise InputError(field, str(path), "not a regular file; write its content to a file first")


def write_whole(path: str | Path, content: bytes, field: str = "") -> Path:
    """Write `content` to a temporary neighbour of `path` and rename it; nothing is left behind on failure.

    The content is on the disk before it bears its name, with the permissions that the umask leaves. Where it cannot be
    written, `InputError` on `field` if there is one, else `OSError`.
    """
    path = Path(path)
    temporary = path.parent / f".{path.name[:_LONGEST]}.{secrets.token_hex(8)}.partial"
    try:
        with open(temporary, "xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if field and isinstance(error, OSError):
            why = (error.strerror or "cannot be written").lower()
            raise InputError(field, str(path), f"{why}; make room or name another") from None
        raise
    with suppress(OSError):  # the folder holds the new name; it cannot be synced on Windows, nor on every network disk
        handle = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    return path


def unfinished(folder: Path, names: set[str]) -> list[Path]:
    """Files that `write_whole` left in `folder` when it was killed while it wrote one of `names`."""
    cut = {name[:_LONGEST] for name in names}
    matches = [(re.fullmatch(r"\.(.+)\.[0-9a-f]{16}\.partial", path.name), path) for path in folder.glob(".*.partial")]
    return [path for match, path in matches if match and match[1] in cut]
