"""Run what is missing of a campaign, by processes here or on a cluster, and read what is there.

Each result is one file, whole or absent: a description, a result and a checksum. A damaged or swapped one is absent.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import signal
import time
from collections.abc import Callable, Generator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, as_completed
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib.externals.loky import ProcessPoolExecutor

from suffice.support.errors import InputError
from suffice.support.files import unfinished, write_whole
from suffice.support.numbers import as_whole
from suffice.support.text import csv_text

from .cells import Campaign, Cell, identity
from .cells import compute as compute_cell

Compute = Callable[[Cell], dict[str, Any]]
Answer = tuple[Cell, dict[str, Any], str]
_GO_ON = "results so far are kept, run again to resume"


class Session(NamedTuple):
    """One run: how many cells it computed and found done, and those that `failed` with what went wrong in one line."""

    computed: int
    found: int
    failed: list[tuple[Cell, str]]
    seconds: float


def conduct(
    campaign: Campaign,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    compute: Compute = compute_cell,
) -> Session:
    """Compute every cell that has no result yet; each lands in its own file as soon as it is known.

    jobs       processes of this machine; a single one is this process itself
    scheduler  address of a Dask scheduler, such as tcp://10.0.0.1:8786, whose workers compute instead
    progress   called with (cells answered in this run, cells of this run)
    compute    the result of a cell, JSON-ready, a pure function of it

    A cell that raises or takes its process down is in `failed`, has no file, and is computed again by the next call.
    Results are the same for any number of workers. Raises `InputError` when the folder is held by another run or cannot
    be written, or when no scheduler answers; `KeyboardInterrupt`, with how far the campaign came, on SIGINT.
    """
    jobs = as_whole("jobs", jobs)
    began, failed, done = time.perf_counter(), list[tuple[Cell, str]](), 0
    with _held(campaign):
        todo = [cell for cell in campaign.cells if result(campaign.out, cell) is None]
        found = len(campaign.cells) - len(todo)
        try:
            with closing(_answers(todo, jobs, scheduler, compute)) as answers:
                for done, (cell, answer, error) in enumerate(answers, 1):
                    if error:
                        failed.append((cell, error))
                    else:
                        write_whole(_file(campaign.out, cell), _content(cell, answer))
                    if progress is not None:
                        progress(done, len(todo))
        except KeyboardInterrupt:
            told = f"{found + done - len(failed)} of {len(campaign.cells)} cells done"
            raise KeyboardInterrupt(f"interrupted: {told}; run the same command again to resume") from None
    return Session(computed=len(todo) - len(failed), found=found, failed=failed, seconds=time.perf_counter() - began)


def result(out: Path, cell: Cell) -> dict[str, Any] | None:
    """The stored result of a cell; None when there is none, or its file is damaged or another cell's."""
    try:
        content = _file(out, cell).read_bytes()
        found = json.loads(content)["result"]
        return found if content == _content(cell, found) else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def table(campaign: Campaign) -> str:
    """One CSV row per finished cell, in the order of the definition; nested results as JSON in their column."""
    rows = [cell | found for cell in campaign.cells if (found := result(campaign.out, cell)) is not None]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    flat = lambda value: json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else value  # noqa: E731
    return csv_text([columns, *([flat(row.get(name)) for name in columns] for row in rows)])


def summary(campaign: Campaign) -> list[dict[str, Any]]:
    """Per claim, in the order of the definition: instances, and the worst ratio over all cells with its instance.

    `median_ratio` is the median over the sharpness cells of their medians: what a random instance shows. Ratios are
    measured/bound, inverted for lower bounds; None where no instance met the hypotheses.
    """
    claims = dict[tuple[str, str], list[dict[str, Any]]]()
    for cell in campaign.cells:
        if (found := result(campaign.out, cell)) is not None:
            claims.setdefault((cell["key"], cell["edition"]), []).append(found)
    rows = []
    for (key, edition), found in claims.items():
        worst = max(found, key=lambda row: -np.inf if row["worst_ratio"] is None else row["worst_ratio"])
        medians = [row["median_ratio"] for row in found if row.get("median_ratio") is not None]
        row = {"key": key, "edition": edition, "instances": sum(row["instances"] for row in found)}
        row |= {"worst_ratio": worst["worst_ratio"], "median_ratio": float(np.median(medians)) if medians else None}
        rows.append(row | {"instance": worst["instance"]})
    return rows


def _file(out: Path, cell: Cell) -> Path:
    return out / "cells" / f"{identity(cell)}.json"


def _content(cell: Cell, answer: dict[str, Any]) -> bytes:
    body = json.dumps({"cell": cell, "result": answer}, sort_keys=True)[:-1].encode()
    return body + b', "sha256": "%s"}\n' % hashlib.sha256(body).hexdigest().encode()


@contextmanager
def _held(campaign: Campaign) -> Generator[None]:
    """A second campaign in the folder is refused; the system frees the lock of a killed process. What that one left
    half-written is deleted."""
    try:
        (campaign.out / "cells").mkdir(parents=True, exist_ok=True)
        with open(campaign.out / "lock", "ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for left in unfinished(campaign.out / "cells", {_file(campaign.out, cell).name for cell in campaign.cells}):
                left.unlink(missing_ok=True)
            yield
    except OSError as error:
        busy = "another campaign is running there" if isinstance(error, BlockingIOError) else ""
        remedy = f"{busy or (error.strerror or 'no folder').lower()}; wait, mend that, or give another folder; {_GO_ON}"
        raise InputError("out", str(campaign.out), remedy) from None


def _attempt(cell: Cell, compute: Compute) -> Answer:
    try:
        return cell, compute(cell), ""
    except Exception as error:
        return cell, {}, _line(error)


def _line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


def _answers(todo: list[Cell], jobs: int, scheduler: str | None, compute: Compute) -> Generator[Answer]:
    """Yield cells, each with its result, or with what went wrong, as they come. A process that dies takes all cells
    without an answer with it. As cells go out in order, those that were under way are the first of them: these are
    computed again one by one, and the rest after."""
    if (jobs == 1 and scheduler is None) or not todo:
        yield from (_attempt(cell, compute) for cell in todo)
        return
    with _workers(min(jobs, len(todo)), scheduler) as workers:
        left = {workers.submit(_attempt, cell, compute): cell for cell in todo}
        for future in as_completed(left):
            error = future.exception()
            if not isinstance(error, BrokenExecutor):  # Dask names a cell that took down worker after worker
                cell = left.pop(future)
                yield (cell, {}, _line(error)) if error else future.result()
    lost = [*left.values()]
    if len(todo) == len(lost) == 1:
        yield lost[0], {}, "its process died, perhaps for lack of memory"
        return
    for part in (*([cell] for cell in lost[:jobs]), lost[jobs:]):
        yield from _answers(part, jobs, scheduler, compute)


@contextmanager
def _workers(jobs: int, scheduler: str | None) -> Generator[Executor]:
    """Processes here, which end a minute after a killed campaign, or those of Dask. Its own executor gives a cell up
    that takes down worker after worker; joblib's waits for it."""
    if scheduler is None:
        ignore = {"initializer": signal.signal, "initargs": (signal.SIGINT, signal.SIG_IGN)}  # this process ends them
        pool = ProcessPoolExecutor(jobs, timeout=60, **ignore)
        try:
            yield pool
        finally:
            pool.shutdown(kill_workers=True)
        return
    try:
        from dask.distributed import Client

        with Client(scheduler or "tcp://", timeout=10, set_as_default=False) as client:
            yield client.get_executor(pure=False)
    except (ImportError, OSError, ValueError, TypeError, CancelledError) as error:
        remedy = f"no answer ({_line(error)}); start it, or install Dask here: pip install '.[cluster]'; {_GO_ON}"
        raise InputError("scheduler", scheduler, remedy) from None
