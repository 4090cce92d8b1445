"""Runs in turn, medians, and the processor's own limits measured in the same process."""

from __future__ import annotations

import ctypes
import os
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from simulate.kernels import library


def alternate(
    *calls: Callable[[], Any], rounds: int = 5, clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Median seconds of each call, run in turn after one warm-up."""
    for call in calls:
        call()
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for which, call in zip(times, calls):
            began = clock()
            call()
            which.append(clock() - began)
    return [statistics.median(which) for which in times]


def one_core() -> None:
    """Pin this process to one core, so that every peer runs on one and processor time compares them."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    torch.set_num_threads(1)


class Limits:
    """Normals per second and flops per second of one core, the best of many short runs.

    At least 1e9 single-precision normals per second are assumed, whatever this generator reaches.
    """

    def __init__(self, dtype: torch.dtype) -> None:
        code, single = library(dtype), dtype == torch.float32
        lanes, rounds, steps = code.lanes(), 60, 100_000

        def best(call: Callable[[], Any]) -> float:
            return min(alternate(call, rounds=1, clock=time.process_time)[0] for _ in range(30))

        self.own_normals = rounds * 512 * lanes / best(lambda: code.drain(ctypes.c_int64(rounds)))
        self.normals = max(self.own_normals, 1e9) if single else self.own_normals
        width = lanes if single else lanes // 2
        self.flops = 2 * 10 * width * steps / best(lambda: code.multiply(ctypes.c_int64(steps)))

    def floor(self, n: int, d: int) -> float:
        """Seconds per seed-iteration that normals and multiply-adds alone would take."""
        return 2 * n * (d + 1) / self.normals + flops(n, d) / self.flops


def flops(n: int, d: int) -> int:
    """Two residuals and the gradient's sum for each pair, half a Gram matrix, and features from normals."""
    return 7 * n * n * d + 2 * n * d * (d + 1)


def row(
    name: str,
    shape: Sequence[Any],
    ours: float,
    peer: str,
    other: float,
    *,
    floor: float | None = None,
    threads: int = 1,
) -> dict[str, Any]:
    """One line, in seconds per unit of work."""
    return {
        "name": name,
        "shape": list(shape),
        "ours_us": 1e6 * ours,
        "peer": peer,
        "peer_us": 1e6 * other,
        "ratio": other / ours,
        "floor_fraction": None if floor is None else floor / ours,
        "threads": threads,
    }
