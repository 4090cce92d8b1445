"""How far work has come: a bar on stderr, and only on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE = 10.0
"""After so many seconds, work without a bar says on stderr how long it will take."""


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
            print(f"{label}: {done} of {total} done, about {_duration(whole)} in all", file=sys.stderr)

    return once


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
