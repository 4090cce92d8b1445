"""Runs in turn, medians, and the processor's own limits measured in the same process."""

from __future__ import annotations

import ctypes
import os
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from suffice.simulate.kernels import library


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
    """What one core can do in one precision: random normals and multiply-adds by themselves.

    Their rates are measured in turn with what is compared to them (`calls`), as other users of the machine slow both.
    """

    def __init__(self, dtype: torch.dtype) -> None:
        code = library(dtype)
        lanes, rounds, steps = code.lanes(), 5_000, 10_000_000  # 20 ms each
        self.calls = (lambda: code.drain(ctypes.c_int64(rounds)), lambda: code.multiply(ctypes.c_int64(steps)))
        self._normals = rounds * 512 * lanes
        self._flops = 2 * 10 * (lanes if dtype == torch.float32 else lanes // 2) * steps

    def rates(self, seconds: Sequence[float]) -> dict[str, float]:
        """Normals and flops per second from the times of the two calls."""
        return {"normals": self._normals / seconds[0], "flops": self._flops / seconds[1]}

    def floor(self, n: int, d: int, seconds: Sequence[float]) -> float:
        """Seconds per seed-iteration that normals and multiply-adds alone would take."""
        rates = self.rates(seconds)
        return 2 * n * (d + 1) / rates["normals"] + flops(n, d) / rates["flops"]

    def best(self) -> dict[str, float]:
        """The rates in quiet moments: the best of many short runs."""
        times = [[_seconds(call) for _ in range(20)] for call in self.calls]
        return self.rates([min(which) for which in times])


def _seconds(call: Callable[[], Any]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


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
