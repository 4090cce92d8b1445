"""Tables as data, and how they are shown: with styles on a terminal, else as plain text."""

from __future__ import annotations

import io
import math
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

WIDE = 80
"""Columns that every table fits; a wider terminal shows more."""
GAP = 2
"""So many blanks stand between columns."""

SHORTEST = 14
"""A name keeps at least so many characters."""
NAMED = ("client", "site")
"""Columns of names, whose middles are left out where there is no room."""
WHOLE = ("claim", "key")
"""Columns of keys, to be copied: where there is no room, a key of the first column has a line of its own."""

Cell = str | tuple[str, str]
"""A text, or a text with a style such as "red"."""


@dataclass(frozen=True)
class Column:
    """One of a table: its head, and what it shows of an entry: a text, or a number, floats by so many `digits`.

    numeric, optional  as in `Table`
    unit               written behind the head in files; tables on a screen have no room for it
    """

    head: str
    get: Callable[[Any], str | float | None]
    digits: int = 3
    numeric: bool = True
    optional: bool = False
    unit: str = ""

    @property
    def name(self) -> str:
        return f"{self.head} [{self.unit}]" if self.unit else self.head

    def cell(self, entry: Any) -> str:
        value = self.get(entry)
        return str(value) if isinstance(value, str | int) else number(value, self.digits)


@dataclass(frozen=True, kw_only=True)
class Table:
    """A title, rows of one cell per column, and lines of text below; without rows nothing but the lines.

    numeric   columns that are aligned to the right
    optional  columns that are left out, the last one first, where there is no room for all, and with each the line that
              explains it, which begins with its name and a colon
    width     characters that it takes at most, whatever the screen has
    """

    title: str = ""
    columns: Sequence[str] = ()
    numeric: Sequence[str] = ()
    optional: Sequence[str] = ()
    rows: Sequence[Sequence[Cell]] = ()
    lines: Sequence[Cell] = ()
    width: int | None = None

    @classmethod
    def from_columns(cls, columns: Sequence[Column], entries: Iterable[Any], **rest: Any) -> Table:
        """A row for every entry; `rest` are the other fields."""
        return cls(
            columns=[column.head for column in columns],
            numeric=[column.head for column in columns if column.numeric],
            optional=[column.head for column in columns if column.optional],
            rows=[[column.cell(entry) for column in columns] for entry in entries],
            **rest,
        )

    def show(self) -> None:
        """Print it."""
        self._print(console())

    def text(self) -> str:
        """The lines that `show` prints into a file, as a string."""
        from rich.console import Console

        paper = io.StringIO()
        self._print(Console(markup=False, emoji=False, width=WIDE, file=paper, color_system=None))
        return "\n".join(line.rstrip() for line in paper.getvalue().splitlines())

    def _repr_html_(self) -> str:
        """All columns and the lines below: what a notebook shows, and a report."""
        from .html import listed, table, text

        cells = [[text(_text(cell)) for cell in row] for row in self.rows]
        shown = table(self.columns, cells, caption=self.title) if cells else ""
        return shown + listed([_text(line) for line in self.lines])

    def _print(self, out: Console) -> None:
        from rich.table import Table as Grid
        from rich.text import Text

        if self.width is not None:
            out.width = min(out.width, self.width)
        absent: list[str] = []
        if self.rows:
            shown, rows, room = self._fitted(out.width)
            absent = [f"{name}:" for at, name in enumerate(self.columns) if at not in shown]
            grid = Grid(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
            for at in shown:
                right = self.columns[at] in self.numeric
                grid.add_column(
                    _styled(self.columns[at]),
                    justify="right" if right else "left",
                    overflow="fold",
                    no_wrap=right or self.columns[at] in NAMED,
                )
            whole = self.columns[0] in WHOLE
            above = [_text(row[0]) if whole and screen_width(_text(row[0])) > room else "" for row in rows]
            for row, key in zip(rows, above):
                grid.add_row(*(_styled("" if key and at == 0 else row[at]) for at in shown))
            if self.title:  # a line: a title of rich's is folded to the width of a narrow table
                out.print(_styled((self.title, "italic")))
            with out.capture() as caught:
                out.print(grid)
            lines = Text.from_ansi(caught.get()).split("\n") if any(above) else [grid]
            for key, line in zip(["", *above], lines):
                out.print(*filter(None, [key]), line, sep="\n", soft_wrap=any(above))
        for line in self.lines:
            if not _text(line).startswith(tuple(absent)):
                out.print(_styled(line))

    def _fitted(self, width: int) -> tuple[list[int], Sequence[Sequence[Cell]], int]:
        """Which columns are shown, the rows with their names as short as that takes, and the first column's room."""
        needed = [max(screen_width(_text(cell)) for cell in cells) + GAP for cells in zip(self.columns, *self.rows)]
        shown, left = list(range(len(needed))), list(self.optional)
        while left and sum(needed[at] for at in shown) - GAP > width:
            shown.remove(self.columns.index(left.pop()))
        rows = self.rows
        for at in (self.columns.index(name) for name in NAMED if name in self.columns):
            over = sum(needed[at] for at in shown) - GAP - width
            if over > 0:
                names = shortened([_text(row[at]) for row in rows], max(needed[at] - GAP - over, SHORTEST))
                rows = [(*row[:at], name, *row[at + 1 :]) for row, name in zip(rows, names)]
                needed[at] = max(map(screen_width, (self.columns[at], *names))) + GAP
        return shown, rows, width - sum(needed[at] for at in shown[1:])


def screen_width(text: str) -> int:
    """Columns of a terminal that `text` takes."""
    from rich.cells import cell_len

    return cell_len(text)


def console() -> Console:
    """Standard output, as wide as the terminal but never narrower than `WIDE`: rich would cut numbers."""
    from rich.console import Console

    # No markup: quantities such as E[tau] are full of brackets.
    width = max(shutil.get_terminal_size((WIDE, 24)).columns, WIDE)
    return Console(markup=False, emoji=False, width=width)


def number(value: float | None, digits: int = 3) -> str:
    """A short number for a cell; a dash for what is absent."""
    return "-" if value is None or not math.isfinite(value) else f"{value:.{digits}g}"


def ratio_text(value: float, digits: int = 4) -> str:
    """Measured over bound, in so many digits, and in as many more as it takes that what is not 1 does not read 1."""
    while float(f"{value:.{digits}g}") == 1 and abs(value - 1) > 1e-9:  # less is rounding
        digits += 1
    return f"{value:.{digits}g}"


def times_text(value: float) -> str:
    """How many times a bound is exceeded or missed, in two digits wherever it is written (36, 1,200, 3.1e8), and below
    2 as `ratio_text`."""
    if not 2 <= value < math.inf:
        return ratio_text(value)
    two = float(f"{float(f'{value:.6g}'):.2g}")  # six digits first: others differ between processors
    return f"{two:,.7g}".replace("e+0", "e").replace("e+", "e")


def shortened(names: Sequence[str], most: int) -> list[str]:
    """Names of at most `most` characters: the middle of longer ones left out, numbered where they then agree."""
    half = (most - 3) // 2
    short = [name if len(name) <= most else f"{name[:half]}...{name[-half:]}" for name in names]
    meant: dict[str, set[str]] = {}
    for name, text in zip(names, short):
        meant.setdefault(text, set()).add(name)
    order = {name: at for at, name in enumerate(dict.fromkeys(names))}
    return [
        text if len(meant[text]) == 1 else f"{name[: most - 4 - len(str(order[name]))]}...#{order[name]}"
        for name, text in zip(names, short)
    ]


def some(names: Sequence[str], most: int = 12) -> str:
    """The first names, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def gathered(notes: Sequence[str]) -> list[str]:
    """Sentences that begin with the same words before a colon in one line, these words once."""
    groups: dict[str, list[str]] = {}
    for note in notes:
        head, colon, rest = note.partition(": ")
        mergeable = colon and rest.endswith(".")
        groups.setdefault(head + colon if mergeable else note, []).append(rest if mergeable else "")
    return [head + " ".join(filter(None, rest)) for head, rest in groups.items()]


def _text(cell: Cell) -> str:
    """Control characters of whatever is in it, such as a client's name, escaped."""
    from .text import printable  # here, like rich above: `suffice --help` imports this file and needs neither

    return printable(cell if isinstance(cell, str) else cell[0])


def _styled(cell: Cell) -> Text:
    from rich.text import Text

    return Text(_text(cell), "" if isinstance(cell, str) else cell[1])
