"""suffice/explorer/typeset.json: what the page with every bound reads as text, with its mathematics in TeX."""

from __future__ import annotations

import json
import re

from suffice.bounds import THEOREMS
from suffice.explorer.content import content, texts

from .mathematics import typeset


def rows() -> str:
    """A line for each text that has mathematics; the first record's symbols stand where records differ."""
    found: dict[str, str] = {}
    for number, text in texts(content()):
        if text not in found:
            record = None if number is None else THEOREMS[number]
            symbols = {one.name: record.symbol(one.name) for one in record.parameters} if record else None
            found[text] = "".join(map(_plain, re.split(r"(\$[^$]*\$|`[^`]*`)", typeset(text, symbols))))
    lines = (f"{json.dumps(text)}: {json.dumps(tex)}" for text, tex in found.items() if tex != text)
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _plain(part: str) -> str:
    """Without Markdown's backslashes, which stand in words alone."""
    return part if part[:1] in ("$", "`") else re.sub(r"\\(?=[^\w\s])", "", part)
