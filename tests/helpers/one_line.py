"""Text that is wrapped to the width of a terminal, as one line."""

from __future__ import annotations


def one_line(found: object) -> str:
    """`str(found)` with each line break, and what indents the next line, as one space."""
    return " ".join(str(found).split())
