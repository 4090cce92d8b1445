"""Progress is shown by a bar on stderr, and only on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager


@contextmanager
def progress(label: str, *, after: float = 0.0) -> Generator[Callable[[int, int], None] | None]:
    """A bar on stderr for work that may be long, `after` so many seconds; without a terminal nothing.

    It is drawn when work is reported, by no thread of its own: processes start as copies of this one.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
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
