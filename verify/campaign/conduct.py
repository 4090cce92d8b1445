"""Run what is missing of a campaign, on this machine's processes or on a cluster's workers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from bounds import InputError

from .cells import compute
from .definition import Campaign, Cell
from .folder import Folder

Progress = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class Session:
    """One run: how many cells it computed, found done, saw fail, and skipped because they had failed before."""

    computed: int
    found: int
    failed: int
    skipped: int
    seconds: float


def conduct(
    campaign: Campaign,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    retry: bool = False,
    progress: Progress | None = None,
) -> Session:
    """Compute every cell that has no result yet; each lands in its own file as soon as it is known.

    jobs       processes on this machine (joblib)
    scheduler  address of a Dask scheduler, such as tcp://10.0.0.1:8786, whose workers compute instead
    retry      compute the failed cells again as well; otherwise they are left alone

    A cell that raises is recorded in failed/ and the rest goes on. Results are the same for any number of workers.
    Raises `InputError` when the folder is held by another run, holds another definition, or cannot be written.
    """
    if jobs < 1:
        raise InputError("jobs", jobs, "give at least 1 process")
    began = time.perf_counter()
    folder = Folder(path=campaign.out)
    with folder.locked():
        folder.claim(campaign)
        missing = [cell for cell in campaign.cells if not folder.done(cell)]
        todo = [cell for cell in missing if retry or not folder.has_failed(cell)]
        found, failed = len(campaign.cells) - len(missing), 0
        if progress is not None:
            progress(found, len(campaign.cells))
        for done, (cell, result, error) in enumerate(_answers(todo, jobs, scheduler)):
            if error is None:
                folder.store(cell, result)
            else:
                folder.fail(cell, error)
                failed += 1
            if progress is not None:
                progress(found + done + 1, len(campaign.cells))
        session = Session(
            computed=len(todo) - failed,
            found=found,
            failed=failed,
            skipped=len(missing) - len(todo),
            seconds=time.perf_counter() - began,
        )
        if todo:
            folder.add_session(
                {"computed": session.computed, "failed": failed, "seconds": round(session.seconds, 3), "jobs": jobs,
                 "scheduler": scheduler}
            )  # fmt: skip
    return session


Answer = tuple[Cell, dict[str, Any], str | None]


def _answers(todo: list[Cell], jobs: int, scheduler: str | None) -> Iterator[Answer]:
    if not todo:
        return
    if jobs == 1 and scheduler is None:
        for cell in todo:
            yield attempt(cell)
        return
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    with _workers(scheduler):
        count = -1 if scheduler is not None else min(jobs, len(todo))
        tasks = (delayed(attempt)(cell) for cell in todo)
        try:
            yield from Parallel(n_jobs=count, return_as="generator_unordered")(tasks)  # pyright: ignore
        except TerminatedWorkerError:
            remedy = "results so far are kept; run again to resume, with fewer --jobs if memory ran out"
            raise InputError("worker", "killed", remedy) from None


def _workers(scheduler: str | None) -> AbstractContextManager[Any]:
    if scheduler is None:
        return nullcontext()
    try:
        from dask.distributed import Client  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise InputError("scheduler", scheduler, "Dask is not installed: pip install 'suffice[cluster]'") from None
    from joblib import parallel_config

    try:
        Client(scheduler, timeout=10)
    except (OSError, ValueError) as error:
        raise InputError("scheduler", scheduler, f"no scheduler answers: {error}") from None
    return parallel_config(backend="dask")


def attempt(cell: Cell) -> Answer:
    """The result of a cell, or what went wrong in one line."""
    try:
        return cell, compute(cell), None
    except Exception as error:
        return cell, {}, f"{type(error).__name__}: {error}"
