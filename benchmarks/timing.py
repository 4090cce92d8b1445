"""Runs in turn, medians, and the processor's own limits measured in the same process."""

from __future__ import annotations

import ctypes
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch

from suffice.simulate.kernels.library import call, recipe

ALLOWED = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
WORK = {"normal": 2**24, "word": 2**27, "logistic": 2**23, "multiply_add": 10 * 2**26}
"""Functions of limits.c, and how many numbers one timed call makes: some 20 ms."""


def alternate(
    *calls: Callable[[], Any],
    rounds: int = 5,
    clock: Callable[[], float] = time.process_time,
    pick: Callable[[list[float]], float] = statistics.median,
) -> list[float]:
    """Median seconds of each call, or what `pick` makes of them, run in turn after one warm-up."""
    for each in calls:
        each()
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for which, each in zip(times, calls):
            which.append(seconds(each, clock))
    return [pick(which) for which in times]


def seconds(each: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> float:
    began = clock()
    each()
    return clock() - began


def cores(count: int) -> None:
    """Pin this process to so many cores and torch to as many threads: processor time compares what runs on one."""
    if ALLOWED:
        os.sched_setaffinity(0, ALLOWED[:count])
    torch.set_num_threads(count)


@cache
def limits(dtype: torch.dtype) -> dict[str, Callable[[], Any]]:
    """What one core can do in one precision, by itself: calls that make `WORK` numbers of each kind.

    They are timed in turn with what is compared to them, as other users of the machine slow both.
    """
    compiler, flags, _ = recipe(dtype)
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder, "limits.so")
        call([compiler, *flags, str(Path(__file__).with_name("limits.c")), "-o", str(built), "-lm"])
        code = ctypes.CDLL(str(built))
    return {kind: lambda each=code[kind], count=count: each(ctypes.c_int64(count)) for kind, count in WORK.items()}


def row(
    name: str,
    value: float,
    unit: str = "",
    *,
    shape: Sequence[Any] = (),
    peers: Mapping[str, float] | None = None,
    floor: float | None = None,
    goals: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """One line of the table: a value, how many times as much peers took, and the share of it that is the floor.

    goals   what the value, as "value", may be at most, and what the floor's share ("floor") and ratios must reach
    """
    shares = {peer: other / value for peer, other in (peers or {}).items()}
    found = shares | ({} if floor is None else {"floor": floor / value})
    goals = {what: goal for what, goal in (goals or {}).items() if what == "value" or what in found}
    missed = [what for what, goal in goals.items() if (value > goal if what == "value" else found[what] < goal)]
    return {"name": name, "shape": list(shape), "value": value, "unit": unit, "ratios": shares,
            "floor": found.get("floor"), "goals": goals, "missed": missed}  # fmt: skip


def shown(rows: Sequence[dict[str, Any]]) -> str:
    """All rows as one table in Markdown; what a column does not apply to stays empty."""
    peers = list(dict.fromkeys(peer for entry in rows for peer in entry.get("ratios", ())))
    lines = [["", "N, d, seeds", "ours", "of the floor", *(f"x {peer}" for peer in peers), "goals", "missed"]]
    for entry in rows:
        entry = row(entry["name"], entry["value"]) | entry
        share, ratios, goals = entry["floor"], entry["ratios"], entry["goals"]
        lines.append([
            entry["name"],
            ", ".join(map(str, entry["shape"])),
            f"{entry['value']:.3g} {entry['unit']}".strip(),
            "" if share is None else f"{share:.0%}",
            *(f"{ratios[peer]:.3g}" if peer in ratios else "" for peer in peers),
            ", ".join(f"at most {goal:g}" if what == "value" else f"{what} {goal:g}" for what, goal in goals.items()),
            ", ".join("value" if what == "value" else what for what in entry["missed"]),
        ])  # fmt: skip
    widths = [max(map(len, column)) for column in zip(*lines)]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in lines)
