"""Small pieces of HTML for notebooks: a table, facts, a list, a sparkline. Text is escaped here."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np


def text(value: object) -> str:
    """Plain text, safe inside HTML, with dollars that MathJax leaves alone."""
    return html.escape(str(value)).replace("$", "&#36;")


def formula(latex: str, *, display: bool = False) -> str:
    """LaTeX for MathJax, inside a line or on one of its own."""
    return f"$${html.escape(latex)}$$" if display else f"${html.escape(latex)}$"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "") -> str:
    """A table of cells that are HTML already, numbers to the right; `columns` and `caption` are plain text."""
    body = list(rows)
    sides = ["right" if all(map(_is_number, cells)) else "left" for cells in zip(*body)] or ["left"] * len(columns)
    head = "".join(f'<th style="text-align:{side}">{text(column)}</th>' for column, side in zip(columns, sides))
    above = f'<caption style="text-align:left">{text(caption)}</caption>' if caption else ""
    return f"<table>{above}<thead><tr>{head}</tr></thead>{_body(body, sides)}</table>"


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


def number(value: float | None, digits: int = 4) -> str:
    """A short number; a dash for what is absent."""
    return "-" if value is None or not np.isfinite(value) else f"{value:.{digits}g}"


def sparkline(values: np.ndarray, *, width: int = 120, height: int = 24) -> str:
    """A small SVG of values >= 0 on a logarithmic scale (the smallest positive one is the bottom); "" for none."""
    y = np.asarray(values, dtype=float)
    positive = y[np.isfinite(y) & (y > 0)]
    if len(y) < 2 or len(positive) == 0:
        return ""
    level = np.log(np.clip(np.nan_to_num(y, nan=positive.min(), posinf=positive.max()), positive.min(), None))
    span = np.ptp(level) or 1.0
    x = np.linspace(1, width - 1, len(y))
    at = (height - 1) - (height - 2) * (level - level.min()) / span
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, at))
    return (
        f'<svg width="{width}" height="{height}" role="img" aria-label="on a logarithmic scale">'
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.2"/></svg>'
    )
