"""docs/modules.md: every file of the package with the first sentence of its docstring."""

from __future__ import annotations

import ast
from pathlib import Path

from .markdown import cell

_ROOT = Path(__file__).parents[2]
_INTRODUCTION = """# Every file

What each file defines, in the words of its first lines. [From a word to its file](words.md) is sorted by
subjects; [architecture](architecture.md) says how rooms stand to each other.
"""


def text() -> str:
    """The whole page: a table for each folder."""
    lines = [_INTRODUCTION]
    for folder in (path.parent for path in sorted((_ROOT / "suffice").rglob("__init__.py"))):
        lines += [f"## {folder.relative_to(_ROOT)}", "", "| file | what it defines |", "|---|---|"]
        for path in sorted(folder.glob("*.py")):
            told = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            if path.name != "__init__.py":
                lines.append(f"| `{path.name}` | {cell(' '.join(told.partition(chr(10) * 2)[0].split()))} |")
        lines.append("")
    return "\n".join(lines)
