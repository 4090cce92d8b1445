"""Ctrl-C during a campaign: the processes that compute end at once, and what they had finished is kept."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import NoReturn


class Interrupted(KeyboardInterrupt):
    """A campaign that SIGINT ended: `done` of its `cells` have a result."""

    def __init__(self, *, done: int, cells: int) -> None:
        super().__init__(f"interrupted: {done} of {cells} cells done; run the same command again to resume")
        self.done, self.cells = done, cells


@contextmanager
def interruptible() -> Generator[None]:
    """Within the block SIGINT kills joblib's processes, then raises KeyboardInterrupt; later ones do nothing.

    joblib asks `pgrep` for the processes to kill. A terminal, and `timeout`, signal the whole group and may do so
    twice: `pgrep` dies of it, and joblib then waits until the cells under way have been computed. Elsewhere than in the
    main thread, or where the program handles SIGINT in its own way, nothing is changed.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is not signal.default_int_handler:
        yield
        return

    def interrupt(*_: object) -> NoReturn:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # inherited by `pgrep`
        _kill_workers()
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def ignore_sigint() -> Generator[None]:
    """Processes and threads that the block starts do not receive SIGINT: it is for the campaign's own to answer it.

    One that comes meanwhile is delivered afterwards.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _kill_workers() -> None:
    from joblib.externals.loky.backend.process import LokyProcess

    for process in multiprocessing.active_children():
        if isinstance(process, LokyProcess) and process.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
