"""Names of a package that load on first use."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def lazy(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package, whose `file` says where names are: its indented lines
    `from HOME import INSIDE as NAME`, which are there for type checkers."""
    lines = re.findall(r"^    from (\S+) import (\w+) as (\w+)", Path(file).read_text(encoding="utf-8"), re.MULTILINE)
    found = {name: (home, inside) for home, inside, name in lines}

    def getattribute(name: str) -> Any:
        if name not in found:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home, inside = found[name]
        return import_module(f".{inside}", package) if home == "." else getattr(import_module(home, package), inside)

    names = sorted(name for name in found if not name.startswith("_"))
    return getattribute, lambda: names, names
