"""Who computes the cells: this process, processes of this machine (joblib), or the workers of a Dask cluster."""

from __future__ import annotations

import platform
import socket
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError
from functools import cache
from importlib.metadata import version
from typing import Any

from suffice.simulate.kernel_choice import here
from suffice.support.errors import InputError

from .cells import compute
from .definition import Cell, identity
from .keyboard_interrupt import ignore_sigint

Answer = tuple[Cell, dict[str, Any], str | None]
"""A cell with its result, or with what went wrong."""

PATIENCE = 600
"""Seconds to wait for the first worker of a cluster; a queue may be longer, then run again."""
_DIED = "worker died while computing it, perhaps for lack of memory"


def answers(todo: list[Cell], jobs: int | None, scheduler: str | None) -> Iterator[Answer]:
    """The answer of every cell, in the order in which they become known."""
    if not todo:
        return iter(())
    if scheduler is not None:
        return _on_cluster(todo, scheduler)
    if jobs == 1:
        return map(attempt, todo)
    return _on_processes(todo, jobs)


def attempt(cell: Cell) -> Answer:
    """The result of a cell, or what went wrong in one line."""
    try:
        return cell, compute(cell), None
    except Exception as error:
        return cell, {}, " ".join(f"{type(error).__name__}: {error}".split())


def _on_processes(todo: list[Cell], jobs: int | None) -> Iterator[Answer]:
    """joblib's processes. When one dies, the cells that were under way are computed one by one, to find the culprit."""
    left = {identity(cell): cell for cell in todo}
    while left:
        sent: list[Cell] = []
        try:
            for answer in _parallel(_noted(list(left.values()), sent), jobs):
                del left[identity(answer[0])]
                yield answer
        except BrokenExecutor:
            for cell in sent:
                if identity(cell) in left:
                    del left[identity(cell)]
                    yield _alone(cell)


def _noted(cells: list[Cell], sent: list[Cell]) -> Iterator[Cell]:
    for cell in cells:
        sent.append(cell)
        yield cell


def _parallel(cells: Iterator[Cell], jobs: int | None) -> Iterator[Answer]:
    from joblib import Parallel, delayed

    # Cells go out one by one: a result is kept as soon as it is known, and little is lost with a process.
    tasks = (delayed(attempt)(cell) for cell in cells)
    with ignore_sigint():  # the first cells go out, and the processes start, here
        return Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(tasks)


def _alone(cell: Cell) -> Answer:
    try:
        return next(iter(_parallel(iter([cell]), 2)))  # one job would be this process itself
    except BrokenExecutor:
        return cell, {}, _DIED


def _on_cluster(todo: list[Cell], scheduler: str) -> Iterator[Answer]:
    """Dask's workers. Cells of a worker that died are given to others; after several deaths the cell has failed.

    Workers of other versions are refused: their digits may differ, and a pickle may not be read there.
    """
    try:
        from dask.distributed import Client, as_completed
    except ImportError:
        raise InputError(
            "scheduler", scheduler, "Dask is not installed: pip install '.[cluster]' in a checkout"
        ) from None
    if not scheduler:
        raise InputError("scheduler", scheduler, "give an address such as tcp://10.0.0.1:8786")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Dask's own table of versions
            client = Client(scheduler, timeout=10)
    except (OSError, ValueError, TypeError) as error:
        raise InputError("scheduler", scheduler, f"no scheduler answers: {error}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise InputError("scheduler", scheduler, f"no worker came within {PATIENCE} s") from None
        try:
            packages = [name for name in versions() if name not in ("python", "kernel")]
            for worker, about in client.get_versions(packages=packages)["workers"].items():
                python = ".".join(about["host"]["python"].split(".")[:2])
                _check_versions(
                    scheduler, worker, {"python": python, **{name: about["packages"][name] for name in packages}}
                )
            keys = [f"cell-{identity(cell)}" for cell in todo]
            futures = client.map(_answer, todo, key=keys, pure=False, compute=attempt)
            cell_of = {future.key: cell for future, cell in zip(futures, todo)}
            ended = as_completed(futures)
            for future in ended:
                if future.status == "finished":
                    # waits, when the result was lost with its worker and is computed again
                    worker, there, answer = future.result()
                    _check_versions(scheduler, worker, there)  # it may have joined later
                    yield answer
                elif future.status == "error":
                    yield cell_of[future.key], {}, _death(scheduler, future.exception())
                elif future.status == "cancelled":
                    raise CancelledError
                else:
                    ended.add(future)  # it had ended, and its worker has died since
                    continue
                future.release()
        except (OSError, CancelledError):
            remedy = "the connection is lost; results so far are kept, run again to resume"
            raise InputError("scheduler", scheduler, remedy) from None


def _death(scheduler: str, error: BaseException) -> str:
    """Why there is no answer of a cell; an error that is not the cell's own is raised as `InputError`."""
    from dask.distributed import KilledWorker

    if isinstance(error, KilledWorker):
        return f"{_DIED}: {type(error).__name__}"
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    raise InputError("scheduler", scheduler, f"its workers cannot compute a cell: {reason[:500]}")


@cache
def versions() -> dict[str, str]:
    """Of what a result depends on in this process: Python's first two numbers, the compiled kernel, and packages."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"python": python, "kernel": here()} | {
        name: version(name) for name in ("suffice", "numpy", "scipy", "torch")
    }


def _answer(cell: Cell, *, compute: Callable[[Cell], Answer]) -> tuple[str, dict[str, str], Answer]:
    """On a worker: who it is, its versions, and the answer."""
    return socket.gethostname(), versions(), compute(cell)


def _check_versions(scheduler: str, worker: str, there: dict[str, str | None]) -> None:
    here = versions()
    for name, found in there.items():
        if found != here[name]:
            remedy = f"its worker {worker} has {name} {found}, this process {here[name]}; give both the same"
            raise InputError("scheduler", scheduler, remedy)
