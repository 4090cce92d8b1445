"""The compiled kernel beside what users would run instead, and how it scales."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from suffice.bounds import Continuous
from suffice.simulate import AllForOne, FixedWeights, Local, SampledSimilarity, run
from suffice.simulate.closed_form import closed_excess

from .peers import ALGORITHM, jax_scan, numpy_loops, numpy_vectorised, stream
from .timing import Limits, alternate, one_core, row

SHAPES = ((20, 2), (20, 10), (100, 10), (100, 100))
LONG = 3e8
"""Multiply-adds of one timed call: some 100 ms, beside which the 2 ms of Python around a run do not count."""
NAMES = {torch.float32: "float32", torch.float64: "float64"}


def ours(n: int, d: int, seeds: int, iterations: int, dtype: torch.dtype, kernel: Any = "c") -> Callable[[], Any]:
    problem = stream(n, d, dtype=dtype)
    return lambda: run(
        problem, ALGORITHM, iterations=iterations, eta=0.01 / d, seeds=seeds, grid=[iterations], kernel=kernel
    )


def table(quick: bool) -> list[dict[str, Any]]:
    """Seconds per seed-iteration of every implementation, one core, processor time, in turn."""
    one_core()
    rows, rounds = [], 5 if quick else 15
    for dtype, label in NAMES.items():
        limits = Limits(dtype)
        for n, d in SHAPES:
            work = n * n * (d + 3)
            many = 64  # a whole block of the reference at N = 20
            T = max(10, int(LONG / work / many))
            mine = ours(n, d, many, T, dtype)
            short = max(1, int(3e4 / work))
            peers: dict[str, tuple[Callable[[], Any], int]] = {
                "torch reference": (ours(n, d, many, max(2, T // 60), dtype, "reference"), many * max(2, T // 60)),
            }
            if dtype == torch.float64:
                peers["NumPy, vectorised"] = (numpy_vectorised(n, d, many, max(2, T // 60)), many * max(2, T // 60))
                if not quick or n == 20:
                    peers["NumPy, loops"] = (numpy_loops(n, d, 1, short), short)
            own, draws, flops, *others = alternate(
                mine, *limits.calls, *(call for call, _ in peers.values()), rounds=rounds, clock=time.process_time
            )
            floor = limits.floor(n, d, (draws, flops))
            for (name, (_, units)), other in zip(peers.items(), others):
                rows.append(row(f"all-for-one {label}", (n, d, many), own / many / T, name, other / units, floor=floor))
            if quick and dtype == torch.float64:
                continue
            for seeds in (1, 32) if quick else (1, 32, 1024):
                T_s = max(20 if seeds <= 32 else 2, int(LONG / 4 / work / max(seeds, 8)))
                scan = jax_scan(n, d, seeds, T_s, dtype)
                if scan is None:
                    continue
                a, b = alternate(ours(n, d, seeds, T_s, dtype), scan, rounds=rounds, clock=time.process_time)
                rows.append(row(f"all-for-one {label}", (n, d, seeds), a / seeds / T_s, "JAX", b / seeds / T_s))
    return rows


def scaling(quick: bool) -> list[dict[str, Any]]:
    """Exponents of the cost in T, S and N, from a factor 4 of each (processor time, one core, float32)."""
    one_core()
    base = {"n": 100, "d": 10, "seeds": 32, "iterations": 20}
    exponents = []
    for name in ("iterations", "seeds", "n"):
        small, large = (ours(**(base | {name: base[name] * f}), dtype=torch.float32) for f in (1, 4))
        a, b = alternate(small, large, rounds=3 if quick else 7, clock=time.process_time)
        exponents.append({"name": f"exponent in {name}", "value": math.log(b / a, 4)})
    return exponents


def second_core(quick: bool) -> list[dict[str, Any]]:
    """Wall time with one and two threads: needs two idle cores."""
    many = ours(20, 10, 1024, 20 if quick else 100, torch.float32)

    def with_threads(count: int) -> Callable[[], Any]:
        def call() -> None:
            torch.set_num_threads(count)
            many()

        return call

    one, two = alternate(with_threads(1), with_threads(2), rounds=3 if quick else 9)
    T, n, d = 200, 20, 10
    problem = stream(n, d, batch=2)
    sampled = SampledSimilarity()
    algorithms = (
        ALGORITHM,
        AllForOne(criterion=Continuous(), similarity=sampled, normalised=True, sigma2=1.0),
        Local(),
        FixedWeights(alpha=torch.full((n, n), 1 / n, dtype=torch.float64), name="fedavg, one local step"),
    )

    def figure() -> None:
        for rule in algorithms:
            run(problem, rule, iterations=T, eta=0.01, seeds=1000, kernel="c")

    rounds = 1 if quick else 5
    wall, used = (alternate(figure, rounds=rounds, clock=clock)[0] for clock in (time.perf_counter, time.process_time))
    torch.set_num_threads(1)
    return [
        {"name": "speed-up from the second core", "value": one / two},
        {"name": "4 algorithms, N = 20, d = 10, T = 200, 1000 seeds, float64, 2 threads [s]", "value": wall},
        {"name": "the same, half the processor time of both cores [s]", "value": used / 2},
    ]


MEMORY = """
import json, resource, torch, numpy
from benchmarks.peers import ALGORITHM, stream
from suffice.simulate import run
torch.set_num_threads(1)
usage = lambda: resource.getrusage(resource.RUSAGE_SELF)
before, faults = usage().ru_maxrss, []
problem = stream(1000, 10, dtype=torch.float32)
go = lambda seeds, T: run(problem, ALGORITHM, iterations=T, eta=.001, seeds=seeds, grid=[T], kernel="c")
go(8, 1)
for T in (1, 2):
    start = usage().ru_minflt
    go(SEEDS, T)
    faults.append(usage().ru_minflt - start)
print(json.dumps({"peak": 1024 * (usage().ru_maxrss - before), "faults": faults}))
"""


def memory(quick: bool) -> list[dict[str, Any]]:
    """Peak memory beyond what was there after import, over the size of the models; page faults per further step."""
    seeds = 128 if quick else 1024
    done = subprocess.run(
        [sys.executable, "-c", MEMORY.replace("SEEDS", str(seeds))], capture_output=True, text=True, check=True
    )
    result = json.loads(done.stdout)
    return [
        {"name": f"peak memory over models, (1000, 10, {seeds}), float32", "value": result["peak"] / (4e4 * seeds)},
        {"name": "page faults of one more iteration", "value": result["faults"][1] - result["faults"][0]},
    ]


def moments(quick: bool) -> list[dict[str, Any]]:
    """Exact moments in closed form beside a simulation with 10^4 seeds, (20, 10, 200); simulated: 64 of them."""
    from .problems import network

    one_core()
    n, d, T, seeds = 20, 10, 200, 64
    problem, rule = network(n, d), FixedWeights(alpha=torch.full((n, n), 1 / n, dtype=torch.float64))
    exact, simulated = alternate(
        lambda: closed_excess(problem, rule, iterations=T, eta=0.1),
        lambda: run(problem, rule, iterations=T, eta=0.1, seeds=seeds, grid=[T], kernel="reference"),
        rounds=1 if quick else 3,
        clock=time.process_time,
    )
    return [row("expected excess", (n, d, T), exact, "torch simulation, 10^4 seeds", simulated * 1e4 / seeds)]


def machine() -> dict[str, Any]:
    """What ran, and how busy it was: ratios are compared, never absolute numbers."""
    import os
    import platform

    try:
        with open("/proc/cpuinfo") as file:
            model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "")
    except OSError:
        model = platform.processor()
    limits = {label: Limits(dtype).best() for dtype, label in NAMES.items()}
    return {
        "date": time.strftime("%Y-%m-%d"),
        "processor": model,
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "numpy": np.__version__,
        "torch": torch.__version__,
        "limits": limits,
    }
