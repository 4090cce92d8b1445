"""Run what is missing of a campaign, by processes here or on a cluster, and read what is there.

Each result is one file, whole or absent: a description, a result and a checksum. A damaged or swapped one is absent.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import signal
import statistics
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config

from suffice.support.errors import InputError
from suffice.support.files import unfinished, write_whole
from suffice.support.text import csv_text

from .cells import Cell
from .cells import compute as compute_cell
from .definition import Campaign, identity

Compute = Callable[[Cell], dict[str, Any]]
Answer = tuple[Cell, dict[str, Any], str]
"""A cell with its result, or with what went wrong."""
_GO_ON = "results so far are kept, run again to resume"


@dataclass(frozen=True, kw_only=True)
class Session:
    """One run: how many cells it computed and found done, and those that `failed` with what went wrong in one line."""

    computed: int
    found: int
    failed: tuple[tuple[Cell, str], ...]
    seconds: float


class Interrupted(KeyboardInterrupt):
    """A campaign that SIGINT ended."""


def conduct(
    campaign: Campaign,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    compute: Compute = compute_cell,
) -> Session:
    """Compute every cell that has no result yet; each lands in its own file as soon as it is known.

    jobs       processes of this machine
    scheduler  address of a Dask scheduler, such as tcp://10.0.0.1:8786, whose workers compute instead
    progress   called with (cells answered in this run, cells of this run)
    compute    the result of a cell, JSON-ready, a pure function of it

    A cell that raises or takes its process down is in `failed`, has no file, and is computed again by the next call.
    Results are the same for any number of workers. Raises `InputError` when the folder is held by another run or cannot
    be written, or when no scheduler answers; `Interrupted` on SIGINT.
    """
    if jobs < 1:
        raise InputError("jobs", jobs, "give at least 1 process")
    began, failed, done = time.perf_counter(), list[tuple[Cell, str]](), 0
    with _held(campaign):
        todo = [cell for cell in campaign.cells if result(campaign.out, cell) is None]
        found = len(campaign.cells) - len(todo)
        try:
            with _workers(jobs, scheduler if todo else None) as count:
                for done, (cell, answer, error) in enumerate(_answers(todo, count, compute), 1):
                    if error:
                        failed.append((cell, error))
                    else:
                        _store(campaign.out, cell, answer)
                    if progress is not None:
                        progress(done, len(todo))
        except KeyboardInterrupt:
            told = f"{found + done - len(failed)} of {len(campaign.cells)} cells done"
            raise Interrupted(f"interrupted: {told}; run the same command again to resume") from None
    seconds = time.perf_counter() - began
    return Session(computed=len(todo) - len(failed), found=found, failed=tuple(failed), seconds=seconds)


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
    claims: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for cell in campaign.cells:
        if cell["kind"] != "simulate" and (found := result(campaign.out, cell)) is not None:
            claims.setdefault((cell["key"], cell["edition"]), []).append(found)
    rows = []
    for (key, edition), found in claims.items():
        worst = max(found, key=lambda one: -float("inf") if one["worst_ratio"] is None else one["worst_ratio"])
        medians = [one["median_ratio"] for one in found if one.get("median_ratio") is not None]
        about = {"key": key, "edition": edition, "instances": sum(one["instances"] for one in found)}
        ratios = {"worst_ratio": worst["worst_ratio"], "median_ratio": statistics.median(medians) if medians else None}
        rows.append(about | ratios | {"instance": worst["instance"]})
    return rows


def _file(out: Path, cell: Cell) -> Path:
    return out / "cells" / f"{identity(cell)}.json"


def _content(cell: Cell, answer: dict[str, Any]) -> bytes:
    body = json.dumps({"cell": cell, "result": answer}, sort_keys=True)[:-1].encode()
    return body + b', "sha256": "%s"}\n' % hashlib.sha256(body).hexdigest().encode()


def _store(out: Path, cell: Cell, answer: dict[str, Any]) -> None:
    try:
        write_whole(_file(out, cell), _content(cell, answer))
    except OSError as error:
        raise InputError("out", str(out), f"{(error.strerror or 'no file').lower()}; {_GO_ON}") from None


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
            fcntl.flock(lock, fcntl.LOCK_UN)
    except BlockingIOError:
        remedy = "another campaign is running there; wait, or give --out"
        raise InputError("out", str(campaign.out), remedy) from None
    except OSError as error:
        raise InputError("out", str(campaign.out), f"{(error.strerror or 'no folder').lower()}; give another") from None


def _attempt(cell: Cell, compute: Compute) -> Answer:
    try:
        return cell, compute(cell), ""
    except Exception as error:
        return cell, {}, " ".join(f"{type(error).__name__}: {error}".split())


def _answers(todo: Sequence[Cell], count: int, compute: Compute) -> Iterator[Answer]:
    """As they become known. When a process dies, the cells that may have been under way are computed one by one: these
    are among the first, as cells go out in order and at most twice as many as there are processes."""
    left = {identity(cell): cell for cell in todo}

    def answered(cells: Sequence[Cell], jobs: int) -> Iterator[Answer]:
        # the processes start here, and leave SIGINT to the campaign's own
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            tasks = (delayed(_attempt)(cell, compute) for cell in cells)
            answers = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(tasks)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for answer in answers:
            del left[identity(answer[0])]
            yield answer

    suspects = 0
    while left:
        try:  # one job would be this process itself
            yield from (
                answered(list(left.values())[:1], max(count, 2)) if suspects else answered([*left.values()], count)
            )
        except BrokenExecutor:
            if suspects:
                yield left.pop(next(iter(left))), {}, "its process died, perhaps for lack of memory"
            suspects = suspects or 2 * count + 1
        suspects = max(suspects - 1, 0)


@contextmanager
def _workers(jobs: int, scheduler: str | None) -> Generator[int]:
    """joblib's backend within the block, and its processes. Workers of other versions might give other digits."""
    if scheduler is None:
        yield jobs
        return
    try:
        from dask.distributed import Client

        with Client(scheduler or "tcp://", timeout=10) as client, parallel_config(backend="dask") as config:
            client.wait_for_workers(1, timeout=600)
            seen = client.get_versions(packages=["suffice", "numpy", "scipy", "torch"])
            if any(there["packages"] != seen["client"]["packages"] for there in seen["workers"].values()):
                remedy = "a worker has other versions of Python or packages than this process; give both the same"
                raise InputError("scheduler", scheduler, remedy)
            count = max(2, sum(client.nthreads().values()))  # one job would be this process itself
            config["backend"].effective_n_jobs = lambda _: count
            yield count
    except ImportError:
        raise InputError("scheduler", scheduler, "without Dask: pip install '.[cluster]' in a checkout") from None
    except InputError:
        raise
    except (OSError, ValueError, TypeError, CancelledError) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError("scheduler", scheduler, f"no answer ({reason}); {_GO_ON}") from None
