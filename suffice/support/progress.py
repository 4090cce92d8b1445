"""Progress is shown by a bar on stderr, and only on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

PATIENCE = 10.0
"""After so many seconds, work without a bar says on stderr how long it will take."""


@contextmanager
def progress(
    label: str, *, patience: float | None = None, after: float = 0.0
) -> Generator[Callable[[int, int], None] | None]:
    """A bar on stderr for work that may be long, `after` so many seconds. Without a terminal nothing, or, once it is
    seen to take longer than `patience` seconds, one line that says how long.

    It is drawn when work is reported, by no thread of its own: processes start as copies of this one.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield None if patience is None or sys.stderr is None else _forecast(label, patience)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(label), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    began = time.monotonic()
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task(label, visible=after == 0)

        def report(done: int, total: int) -> None:
            late = time.monotonic() - began >= after
            bar.update(task, completed=done, total=total, visible=late, refresh=late)

        yield report


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
