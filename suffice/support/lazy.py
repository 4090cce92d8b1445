"""Names of a package that load on first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package.

    homes   where names are: {".runner": "run iterate", ".": "problems"}; "find=theorem" is `find`, called `theorem`
    """
    found = {name.partition("=")[2] or name: (home, name.partition("=")[0])
             for home, names in homes.items() for name in names.split()}  # fmt: skip

    def getattribute(name: str) -> Any:
        if name not in found:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home, inside = found[name]
        return import_module(f".{inside}", package) if home == "." else getattr(import_module(home, package), inside)

    names = sorted(name for name in found if not name.startswith("_"))
    return getattribute, lambda: names, names
