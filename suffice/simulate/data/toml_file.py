"""TOML files of setups and campaigns, whatever is in them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from suffice.support.errors import InputError

from .memory import Memory, opened


def read_toml(field: str, path: Path, memory: Memory) -> dict[str, Any]:
    """The values of a file, or `InputError` on `field`."""
    try:
        return tomllib.loads(_text(field, path, memory))
    except InputError:
        raise
    except UnicodeDecodeError:
        raise InputError(field, str(path), "not UTF-8 text") from None
    except RecursionError:
        raise InputError(field, str(path), "nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError is one; so is Python's, of a number of more than 4300 digits
        raise InputError(field, str(path), f"not valid TOML: {str(error).partition(';')[0]}") from None


def _text(field: str, path: Path, memory: Memory) -> str:
    """The file's text, unless its values would fill the memory: what they take is counted before they are made."""
    with opened(path, field=field, packed=False) as stream:
        size = path.stat().st_size
        memory.check(path.name, 4 * size)
        content = stream.read(size)
    tables = sum(map(content.count, (b"[", b"{", b"=")))
    parts = max(piece.count(b".") for piece in re.split(rb"[,=\[\]{}\n]", content))  # of a key such as a.b.c
    memory.check(f"the values of {path.name}", 4 * size + 50 * content.count(b",") + 5000 * tables + 40 * parts**2)
    return content.decode("utf-8-sig")
