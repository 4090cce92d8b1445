"""Files are written whole, then renamed: a reader never sees half of one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(path: str | Path, content: bytes) -> Path:
    """Write `content` to a temporary neighbour of `path` and rename it; nothing is left behind on failure."""
    path = Path(path)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=path.suffix)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return path
