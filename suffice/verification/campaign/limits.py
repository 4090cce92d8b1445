"""What a worker may use: one thread, and memory that is known before a cell starts and enforced while it runs.

A worker takes about 0.3 GiB for the libraries. A cell's arrays are estimated when the file is read and refused above
`ARRAYS`; should an estimate be wrong, the system refuses what goes beyond `ALLOWANCE`, and the cell
is recorded as failed.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from suffice.simulate.threads import one_thread

GIB = 2**30
ARRAYS = 1 * GIB
"""Largest estimate of a cell's arrays that a campaign file may ask for."""
ALLOWANCE = 2 * GIB
"""What a cell may allocate beyond what its process holds already."""
POINTS = 11
"""A simulation cell records so many iterations."""


def footprint(cell: Mapping[str, Any]) -> float:
    """Bytes that the arrays of a simulation cell take at their peak, estimated from above.

    Measured by algorithm, in arrays of 8 bytes: up to 25 of (N, N + d) and 30 of (N, d, d); of (N, N, d) 2, or
    15 where models are compared in pairs; of (N, N, d, d) 4 where dissimilarities are computed. The trace is
    (seeds, points, N), once more as it is averaged.
    """
    n, d = float(cell.get("clients", 8)), float(cell.get("features", 2))
    models = 18 if cell["algorithm"] in ("cobo", "federated-clustering") else 4
    hessians = 6 if cell["algorithm"] in ("all-for-one-fixed", "all-for-all") else 0
    arrays = 30 * n * (n + d) + models * n**2 * d + 30 * n * d**2 + hessians * n**2 * d**2
    return 8 * (arrays + 2 * cell["seeds"] * POINTS * n)


@contextmanager
def bounded() -> Generator[None]:
    """One thread and at most `ALLOWANCE` more memory for the block, as far as the system can enforce it (Linux)."""
    with one_thread(), _libraries().limit(limits=1), _memory():
        yield


@cache
def _libraries() -> Any:
    """The linear algebra that is loaded: finding it takes milliseconds, so once per process."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def _memory() -> Generator[None]:
    """Allocations that fail raise MemoryError (NumPy) or RuntimeError (torch), which a cell survives as a failure."""
    held = Path("/proc/self/statm")
    if not held.exists():
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = int(held.read_text().split()[5]) * os.sysconf("SC_PAGE_SIZE") + ALLOWANCE
    allowed = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(wanted, *allowed) if allowed else wanted, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
