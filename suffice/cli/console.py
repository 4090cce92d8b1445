"""Printing: progress on stderr and only on a terminal, JSON that is valid JSON."""

from __future__ import annotations

import json
import re
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE = 10.0
"""After so many seconds, work without a bar says on stderr how long it will take."""


def wrapped(text: str) -> str:
    """Lines that fit a terminal, folded at spaces alone, so that keys stay whole; as it is for a file or a pipe."""
    if not sys.stdout.isatty():
        return text
    width = shutil.get_terminal_size().columns

    def fold(line: str) -> str:
        indent = re.match(r"(\w+ {2,}| *)", line)
        hanging = " " * (indent.end() if indent else 0)
        return textwrap.fill(line, width, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False)

    return "\n".join(map(fold, text.splitlines()))


@contextmanager
def progress(label: str, *, patience: float | None = None) -> Generator[Callable[[int, int], None] | None]:
    """A bar on stderr for work that may be long. Without a terminal nothing, or, once it is seen to take longer
    than `patience` seconds, one line that says how long."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None if patience is None or sys.stderr is None else _forecast(label, patience)
        return
    with _bar(label) as bar:
        task = bar.add_task(label)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def later(label: str, *, after: float = 2.0) -> Generator[Callable[[int, int], None] | None]:
    """As `progress` on a terminal, but nothing is drawn before `after` seconds have passed."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    began = time.monotonic()
    with _bar(label, auto_refresh=False) as bar:
        task = bar.add_task(label, visible=False)
        yield lambda done, total: bar.update(
            task, completed=done, total=total, visible=time.monotonic() - began > after, refresh=True
        )


def _bar(label: str, *, auto_refresh: bool = True) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(label), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=auto_refresh)


def _forecast(label: str, patience: float) -> Callable[[int, int], None]:
    began, said = time.monotonic(), [False]

    def once(done: int, total: int) -> None:
        if said[0] or not 0 < done < total:
            return
        whole = (time.monotonic() - began) * total / done
        if whole > patience:
            said[0] = True
            typer.echo(f"{label}: {done} of {total} done, about {_duration(whole)} in all", err=True)

    return once


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


def echo(line: str, *, err: bool = False) -> None:
    """One line, control characters escaped."""
    from suffice.support.text import printable

    typer.echo(printable(line), err=err)


def print_json(value: Any) -> None:
    """One JSON document; what is infinite or not a number becomes null."""
    from suffice.support.numbers import plain

    text = json.dumps(plain(value), indent=2)
    typer.echo(text.replace("\x7f", r"\u007f"))  # the only control character that json lets through


def listing(lines: Mapping[str, str]) -> None:
    """Names with what they are, aligned, one a line."""
    width = max(map(len, lines))
    room = max(shutil.get_terminal_size().columns, 80) - width - 2
    for name, about in lines.items():
        first, *rest = textwrap.wrap(about, room, break_long_words=False, break_on_hyphens=False) or [""]
        typer.echo("\n".join([f"{name:{width}s}  {first}", *(" " * (width + 2) + line for line in rest)]))
