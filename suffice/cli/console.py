"""Printing: tables on stdout, progress on stderr and only on a terminal, JSON that is valid JSON."""

from __future__ import annotations

import json
import math
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

WIDE = 132
NARROW = 100
PATIENCE = 10.0
"""Seconds after which work that nobody watches says on stderr how long it will take."""


def console() -> Console:
    """Standard output; a fixed width when it is not a terminal, so that tables are not squeezed in logs."""
    # No markup: quantities such as E[tau] are full of brackets.
    # Never narrower than the tables need: a terminal wraps lines, but rich would cut numbers.
    watched = sys.stdout is not None and sys.stdout.isatty()
    width = max(shutil.get_terminal_size().columns, NARROW) if watched else WIDE
    return Console(markup=False, emoji=False, width=width)


@contextmanager
def progress(label: str, *, patience: float | None = None) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on stderr for work that may be long. When nobody is watching nothing, or, once it is seen to take longer
    than `patience` seconds, one line that says how long."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None if patience is None or sys.stderr is None else _forecast(label, patience)
        return
    columns = (TextColumn(label), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _forecast(label: str, patience: float) -> Callable[[int, int], None]:
    began, told = time.monotonic(), [False]

    def told_once(done: int, total: int) -> None:
        if told[0] or not 0 < done < total:
            return
        whole = (time.monotonic() - began) * total / done
        if whole > patience:
            told[0] = True
            typer.echo(f"{label}: {done} of {total} done, about {_duration(whole)} in all", err=True)

    return told_once


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


def print_json(value: Any) -> None:
    """One JSON document; what is infinite or not a number becomes null."""
    typer.echo(json.dumps(_plain(value), indent=2))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def table(title: str, *columns: str, numeric: tuple[str, ...] = ()) -> Table:
    """A plain table; columns named in `numeric` are right-aligned."""
    made = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for at, column in enumerate(columns):
        made.add_column(
            column,
            justify="right" if column in numeric else "left",
            overflow="fold",
            no_wrap=at == 0 or column in numeric,
        )
    return made


def listing(lines: Mapping[str, str]) -> None:
    """Names with what they are, aligned, one a line."""
    width = max(map(len, lines))
    for name, about in lines.items():
        typer.echo(f"{name:{width}s}  {about}")


def number(value: float | None, digits: int = 3) -> str:
    """A short number for a table cell; a dash for what is absent."""
    return "-" if value is None or not math.isfinite(value) else f"{value:.{digits}g}"
