"""The threads of a compiled run, which share its blocks of seeds."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import torch

Progress = Callable[[int, int], None]
_NO_MORE = 2**40
"""A number of blocks beyond that of any run."""
_OFTEN = 0.1
"""Seconds between two reports of progress."""


def in_threads(
    code: Any, run: ctypes.Structure, stretch: tuple[int, ...], blocks: int, progress: Progress | None
) -> None:
    """Call `code` once on each of torch's number of threads, which take the stretch's blocks from a common counter.

    So a thread keeps the memory of one block, and all are busy to the last block. `MemoryError` where there is no room.
    """
    taken = ctypes.c_int64(0)

    def call() -> int:  # ctypes releases the interpreter's lock
        return code(ctypes.byref(run), *map(ctypes.c_int64, stretch), ctypes.byref(taken))

    threads = min(torch.get_num_threads(), blocks)
    if blocks == 1:  # a single seed may be done before a thread has started
        failed = call()
    else:
        with ThreadPoolExecutor(threads) as pool:
            try:
                calls = [pool.submit(call) for _ in range(threads)]
                while wait(calls, timeout=_OFTEN).not_done:
                    if progress is not None:
                        progress(max(min(taken.value, blocks) - threads, 0), blocks)
            finally:
                taken.value = _NO_MORE  # what is interrupted ends with the blocks that are under way
        failed = any(each.result() for each in calls)
    if failed:
        raise MemoryError("the kernel's blocks do not fit the memory")
    if progress is not None:
        progress(blocks, blocks)
