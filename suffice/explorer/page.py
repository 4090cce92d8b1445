"""One HTML file with every bound: no server, no network. The modules of `assets` are joined into one script."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from suffice.bounds import find
from suffice.bounds.theorems import rows
from suffice.support.files import write_whole

from .content import content, formulas

_ASSETS = Path(__file__).with_name("assets")
_MODULES = (
    *("numbers", "elements", "solve", "link", "copies", "plot"),
    *("slider", "curves", "statement", "tree", "view", "main"),
)
"""The modules, in an order in which none uses a later one while it loads."""
_IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)


def page(data: Mapping[str, Any], *, start: str = "") -> str:
    """The text of the file with `content()`; `start` is the part of its address behind # where none is given."""
    written = json.dumps({**data, "start": start}, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    told = re.sub("<(?!/?m)", r"\\u003c", written)  # tags of MathML alone: neither a comment nor the end of a script
    filled = {"css": _asset("page.css"), "data": told, "script": script()}
    return re.sub(r"\{\{(\w+)\}\}", lambda found: filled[found[1]], _asset("page.html"))


def script() -> str:
    """The formulas and all modules as one."""
    modules = (_IMPORT.sub("", _asset(f"{name}.mjs")).replace("\nexport ", "\n") for name in _MODULES)
    numbers, *others = modules
    return "\n".join([numbers, formulas(), *others])


def explore(out: str | Path, key: str | None = None) -> Path:
    """Write the page, which opens at the statement or erratum `key`."""
    data = content()
    return write_whole(Path(out), page(data, start=_start(key, data["errata"])).encode())


def _start(key: str | None, errata: Sequence[Mapping[str, Any]]) -> str:
    """The address of the page names an erratum by its id, or a record; where a part of a key names several, the
    first that is printed and can be evaluated."""
    if key is None:
        return ""
    if any(entry["id"] == key for entry in errata):
        return f"#{urlencode({'erratum': key})}"
    found = rows(key) or [find(key)]
    record = next((one for one in found if one.edition == "printed" and one.bound), found[0])
    return f"#{urlencode({'key': record.key, 'edition': record.edition})}"


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")
