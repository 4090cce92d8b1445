"""Blocks of seeds, a few at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from .maker import Progress


def in_blocks(
    seeds: Sequence[int], size: int, work: Callable[[Sequence[int]], dict[str, np.ndarray]], progress: Progress
) -> dict[str, np.ndarray]:
    """The arrays of `work` for blocks of seeds, joined along the seeds' axis 1; a few run at a time, in threads."""
    from suffice.simulate.threads import one_thread

    blocks = [seeds[at : at + size] for at in range(0, len(seeds), size)]
    done: list[dict[str, np.ndarray]] = []
    with one_thread(), ThreadPoolExecutor(max_workers=min(os.cpu_count() or 1, len(blocks), 4)) as pool:
        for found in pool.map(work, blocks):
            done.append(found)
            progress(len(done), len(blocks))
    return {name: np.concatenate([found[name] for found in done], axis=1) for name in done[0]}


def part_of(progress: Progress, index: int, parts: int) -> Progress:
    """The progress of one of several parts that are as long."""
    return lambda done, total: progress(index * total + done, parts * total)
