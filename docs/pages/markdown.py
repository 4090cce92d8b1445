"""Text in Markdown."""

from __future__ import annotations


def escaped(text: str) -> str:
    """Plain ASCII mathematics is code to Markdown: escape what it would take for markup."""
    for mark in ("\\", "*", "_", "<", "|"):
        text = text.replace(mark, "\\" + mark)
    return text


def cell(text: str) -> str:
    """Text that may stand in a cell of a Markdown table."""
    return text.replace("|", "\\|")
