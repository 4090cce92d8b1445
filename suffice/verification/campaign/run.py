"""Run what is missing of a campaign, on this machine's processes or on a cluster's workers."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass

from suffice.support.errors import InputError

from .definition import Campaign
from .folder import Folder
from .keyboard_interrupt import Interrupted, interruptible
from .workers import answers

Progress = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class Session:
    """One run: how many cells it computed, found done, saw fail, and skipped because they had failed before.

    `example` is the first failure of this run, in one line; empty without one.
    """

    computed: int
    found: int
    failed: int
    skipped: int
    seconds: float
    example: str = ""


def conduct(
    campaign: Campaign,
    *,
    jobs: int | None = 1,
    scheduler: str | None = None,
    retry: bool = False,
    progress: Progress | None = None,
) -> Session:
    """Compute every cell that has no result yet; each lands in its own file as soon as it is known.

    jobs       processes on this machine (joblib); None: as `joblib.parallel_config` says, which may be a cluster
    scheduler  address of a Dask scheduler, such as tcp://10.0.0.1:8786, whose workers compute instead
    retry      compute the failed cells again as well; otherwise they are left alone
    progress   called with (cells answered in this run, cells of this run)

    A cell that raises, outgrows its memory or takes its worker down is recorded in failed/ and the rest goes on.
    Results are the same for any number of workers. Raises `InputError` when the folder is held by another run, holds
    another definition or cannot be written, or when no scheduler answers; `Interrupted`, a KeyboardInterrupt that says
    how far it came, on SIGINT, after the processes of this machine have been killed.
    """
    if jobs is not None and jobs < 1:
        raise InputError("jobs", jobs, "give at least 1 process")
    began = time.perf_counter()
    folder = Folder(path=campaign.out)
    with folder.locked():
        folder.claim(campaign)
        missing = [cell for cell in campaign.cells if not folder.done(cell)]
        todo = [cell for cell in missing if retry or not folder.has_failed(cell)]
        found, failed, example = len(campaign.cells) - len(missing), 0, ""
        session = folder.begin_session(jobs=jobs, scheduler=scheduler) if todo else None
        if progress is not None:
            progress(0, len(todo))
        answered = 0
        try:
            # a cluster's workers are not ours to kill
            with interruptible() if scheduler is None and jobs is not None else nullcontext():
                for cell, result, error in answers(todo, jobs, scheduler):
                    if error is None:
                        folder.store(cell, result)
                    else:
                        folder.fail(cell, error)
                        failed += 1
                        example = example or error
                    answered += 1
                    if progress is not None:
                        progress(answered, len(todo))
        except KeyboardInterrupt:
            raise Interrupted(done=found + answered - failed, cells=len(campaign.cells)) from None
        seconds = time.perf_counter() - began
        if session is not None:
            folder.end_session(session, computed=len(todo) - failed, failed=failed, seconds=round(seconds, 3))
    return Session(
        computed=len(todo) - failed,
        found=found,
        failed=failed,
        skipped=len(missing) - len(todo),
        seconds=seconds,
        example=example,
    )
