"""TOML files of setups and campaigns, whatever is in them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from suffice.support.errors import InputError

from .memory import whole

LARGEST = 1 << 24
"""Values take up to some twenty times the bytes that they are written in."""


def read_toml(field: str, path: Path) -> dict[str, Any]:
    """The values of a file, or `InputError` on `field`."""
    content = whole(path, field=field, most=LARGEST)
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError(field, str(path), "not UTF-8 text") from None
    except RecursionError:
        raise InputError(field, str(path), "nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError is one; so is Python's, of a number of more than 4300 digits
        raise InputError(field, str(path), f"not valid TOML: {str(error).partition(';')[0]}") from None
