"""One HTML file with every bound: no server, no network. The modules of `assets` are joined into one script."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from suffice.support.files import write_whole

from .content import content, formulas

_ASSETS = Path(__file__).with_name("assets")
_MODULES = (
    *("numbers", "elements", "solve", "link", "copies", "plot"),
    *("slider", "curves", "statement", "tree", "view", "main"),
)
"""In an order in which none uses a later one while it loads."""
_IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)


def page(data: Mapping[str, Any], *, start: str = "") -> str:
    """The text of the file with `content()`; `start` is the part of its address behind # where none is given."""
    told = {**data, "start": start}
    filled = {
        "css": _asset("page.css"),
        "data": json.dumps(told, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        "script": script(),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: filled[found[1]], _asset("page.html"))


def script() -> str:
    """The formulas and all modules as one."""
    modules = (_IMPORT.sub("", _asset(f"{name}.mjs")).replace("\nexport ", "\n") for name in _MODULES)
    numbers, *others = modules
    return "\n".join([numbers, formulas(), *others])


def explore(out: str | Path, *, start: str = "", progress: Callable[[int, int], None] | None = None) -> Path:
    """Write the page, which takes half a minute."""
    return write_whole(Path(out), page(content(progress), start=start).encode())


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")
