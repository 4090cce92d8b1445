"""Blocks of seeds, a few at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from suffice.simulate.threads import one_thread

Progress = Callable[[int, int], None]
Result = TypeVar("Result")


def in_blocks(
    seeds: Sequence[int], size: int, work: Callable[[Sequence[int]], Result], progress: Progress
) -> list[Result]:
    """`work` on blocks of seeds in their order, a few at a time: threads, as the work is inside torch."""
    blocks = [seeds[at : at + size] for at in range(0, len(seeds), size)]
    done: list[Result] = []
    with one_thread(), ThreadPoolExecutor(max_workers=min(os.cpu_count() or 1, len(blocks), 4)) as pool:
        for result in pool.map(work, blocks):
            done.append(result)
            progress(len(done), len(blocks))
    return done
