"""Small pieces of HTML for notebooks: a table, facts, a list. Text is escaped here."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence


def text(value: object) -> str:
    """Plain text, safe inside HTML, with dollars that MathJax leaves alone."""
    return html.escape(str(value)).replace("$", "&#36;")


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str = "") -> str:
    """A table of cells that are HTML already, numbers to the right; `columns` and `caption` are plain text."""
    sides = ["right" if all(map(_is_number, cells)) else "left" for cells in zip(*rows)] or ["left"] * len(columns)
    head = "".join(f'<th style="text-align:{side}">{text(column)}</th>' for column, side in zip(columns, sides))
    above = f'<caption style="text-align:left">{text(caption)}</caption>' if caption else ""
    return f"<table>{above}<thead><tr>{head}</tr></thead>{_body(rows, sides)}</table>"


def listed(lines: Sequence[str]) -> str:
    """Lines of plain text, one bullet each; nothing for none."""
    return "<ul>" + "".join(f"<li>{text(line)}</li>" for line in lines) + "</ul>" if lines else ""


def facts(entries: Mapping[str, str]) -> str:
    """Named facts, one a line; values are HTML already, empty ones are left out."""
    rows = ([f"<b>{text(name)}</b>", value] for name, value in entries.items() if value)
    return f"<table>{_body(rows, ('left', 'left'))}</table>"


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"-|[-+]?[\d.,]+(e[-+]?\d+)?%?|", cell) is not None


def _body(rows: Iterable[Sequence[str]], sides: Sequence[str]) -> str:
    cells = ("".join(f'<td style="text-align:{at}">{cell}</td>' for cell, at in zip(row, sides)) for row in rows)
    return "<tbody>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</tbody>"
