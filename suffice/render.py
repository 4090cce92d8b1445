"""Tables as data, and how they are shown: with styles on a terminal, else as plain text."""

from __future__ import annotations

import io
import math
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from suffice.bounds import printable

WIDE = 132
NARROW = 100

Cell = str | tuple[str, str]
"""A text, or a text with a style such as "red"."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A title, rows of one cell per column, and lines of text below; without rows nothing but the lines.

    numeric  columns that are aligned to the right
    width    characters that it takes at most, whatever the screen has
    """

    title: str = ""
    columns: Sequence[str]
    numeric: Sequence[str] = ()
    rows: Sequence[Sequence[Cell]]
    lines: Sequence[Cell] = ()
    width: int | None = None

    def show(self) -> None:
        """Print it."""
        self._print(console())

    def text(self) -> str:
        """What `show` prints into a file, as a string."""
        paper = io.StringIO()
        self._print(Console(markup=False, emoji=False, width=WIDE, file=paper, color_system=None))
        return "\n".join(line.rstrip() for line in paper.getvalue().splitlines())

    def _print(self, out: Console) -> None:
        if self.width is not None:
            out.width = min(out.width, self.width)
        if self.rows:
            grid = Grid(box=None, pad_edge=False, header_style="bold")
            for at, column in enumerate(self.columns):
                right = column in self.numeric
                grid.add_column(
                    printable(column),
                    justify="right" if right else "left",
                    overflow="fold",
                    no_wrap=right or (at == 0 and self.width is None),
                )
            for row in self.rows:
                grid.add_row(*map(_styled, row))
            if self.title:  # a line: a title of rich's is folded to the width of a narrow table
                out.print(_styled((self.title, "italic")))
            out.print(grid)
        for line in self.lines:
            out.print(_styled(line))


def console() -> Console:
    """Standard output; a fixed width when it is not a terminal, so that tables are not squeezed in logs."""
    # No markup: quantities such as E[tau] are full of brackets.
    # Never narrower than the tables need: a terminal wraps lines, but rich would cut numbers.
    terminal = sys.stdout is not None and sys.stdout.isatty()
    width = max(shutil.get_terminal_size().columns, NARROW) if terminal else WIDE
    return Console(markup=False, emoji=False, width=width)


def number(value: float | None, digits: int = 3) -> str:
    """A short number for a cell; a dash for what is absent."""
    return "-" if value is None or not math.isfinite(value) else f"{value:.{digits}g}"


def _styled(cell: Cell) -> Text:
    """Control characters of whatever is in it, such as a client's name, escaped."""
    text, style = (cell, "") if isinstance(cell, str) else cell
    return Text(printable(text), style)
