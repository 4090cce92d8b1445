"""Names of a package that load on first use, written once: as the imports that type checkers read.

if TYPE_CHECKING:
    from .runner import run as run

__getattr__, __dir__, __all__ = lazy(__name__)
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def lazy(
    package: str, renamed: dict[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package, from the relative imports below its `if TYPE_CHECKING:`.

    renamed   old names and what they are called now, for the message that refuses them
    """
    source = Path(str(sys.modules[package].__file__)).read_text(encoding="utf-8")
    homes = {
        alias.asname or alias.name: ("." * node.level + (node.module or ""), alias.name)
        for block in ast.parse(source).body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.level
        for alias in node.names
    }

    def getattribute(name: str) -> Any:
        if name not in homes:
            hint = f"; it is now {renamed[name]!r}" if renamed and name in renamed else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        home, inside = homes[name]
        if home == ".":
            return import_module(f".{inside}", package)
        return getattr(import_module(home, package), inside)

    names = sorted(name for name in homes if not name.startswith("_"))
    return getattribute, lambda: names, names
