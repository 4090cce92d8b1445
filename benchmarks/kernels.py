"""The compiled kernels beside what users would run instead, how they scale, and what they take of a machine."""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from suffice.bounds import Continuous
from suffice.simulate import AllForOne, FixedWeights, Local, SampledSimilarity, expected_excess, run
from suffice.simulate.algorithms import TwoStageAllForAll

from . import peers
from .problems import SAMPLED, Case, problem_of, stream
from .timing import WORK, alternate, cores, limits, row, seconds

STREAMS = tuple(
    Case("stream", n, d, dtype=dtype)
    for dtype in (torch.float32, torch.float64)
    for n, d in ((20, 2), (20, 10), (100, 10), (100, 100))
)
GENERAL = tuple(
    Case(kind, n, d, exact)
    for kind, n, d in (("least squares", 20, 10), ("logistic", 4, 14), ("quadratics", 20, 10))
    for exact in (True, False)
)
WHOLE = 64
"""Seeds of a whole block of the reference at N = 20: it and NumPy with arrays of seeds run no more at once."""


def ours(case: Case, seeds: int, iterations: int, kernel: Any = "c") -> Callable[[], Any]:
    return lambda: run(
        case.problem, case.rule, iterations=iterations, eta=case.eta, seeds=seeds, grid=[iterations], kernel=kernel
    )


def enough(make: Callable[[int], Callable[[], Any]], target: float) -> int:
    """Iterations that take about `target` seconds."""
    iterations = 2
    make(iterations)()  # what is made once
    while (took := seconds(make(iterations))) < target / 2 and iterations < 10**5:
        iterations = int(iterations * min(max(target / max(took, 1e-9), 2), 16))
    return iterations


def compared(case: Case, number: int, rounds: int, target: float) -> dict[str, Any]:
    """One case and number of seeds beside its floor and its peers, in turn: microseconds of one seed's step."""
    some = min(number, WHOLE)
    makers: dict[str, tuple[Callable[[int], Callable[[], Any]], int]] = {
        "torch": (lambda T: ours(case, some, T, "reference"), some)
    }
    if case.dtype == torch.float64 and case.exact:
        loops = peers.stream_in_loops if case.kind == "stream" else peers.loops_over_models
        makers["NumPy loops"] = (lambda T: loops(case, T), 1)
    if case.dtype == torch.float64 and case.kind == "stream":
        makers["NumPy arrays"] = (lambda T: peers.stream_vectorised(case, some, T), some)
    T = enough(lambda T: ours(case, number, T), target)
    calls, units = [ours(case, number, T)], [T * number]
    for make, width in makers.values():
        length = enough(make, target)
        calls.append(make(length))
        units.append(length * width)
    names, length = [*makers], max(4, T // 4)
    if scan := peers.jax_scan(case, number, length):  # its length is compiled in
        names, calls, units = [*names, "JAX"], [*calls, scan], [*units, length * number]
    kinds = limits(case.dtype)
    found = alternate(*calls, *kinds.values(), rounds=rounds)
    own, *others = (1e6 * took / unit for took, unit in zip(found, units))
    rates = dict(zip(kinds, found[len(calls) :]))
    floor = sum(1e6 * count * rates[kind] / WORK[kind] for kind, count in case.needs().items())
    goals = {"JAX": 1.2 if number == 1 else 2.0}
    if case.kind == "stream" and number > 1:
        goals["floor"] = 0.55 if case.dtype == torch.float32 else 0.45
    return row(case.name, own, "us", shape=(case.n, case.d, number), peers=dict(zip(names, others)), floor=floor,
               goals=goals)  # fmt: skip


def table(cases: tuple[Case, ...], quick: bool) -> list[dict[str, Any]]:
    cores(1)
    several = (1, 32) if quick and cases is STREAMS else (1, 32, 1024)
    return [compared(case, number, 3 if quick else 9, 0.04 if quick else 0.1) for case in cases for number in several]


def complexity(quick: bool) -> list[dict[str, Any]]:
    """Exponents of the cost, from a factor 4 of each: beyond the goals, something is done too often.

    The best of some short runs, as other users of the machine only add.
    """
    cores(1)
    bases = (
        ("stream float32", Case("stream", 100, 10, dtype=torch.float32), 20),
        ("rows, exact", Case("least squares", 16, 8), 60),
        ("logistic, exact", Case("logistic", 8, 8), 40),
        ("quadratics, exact", Case("quadratics", 16, 8), 60),
    )
    found = []
    for name, case, T in bases:
        larger = {
            "T": (case, 32, 4 * T, 1.05),
            "S": (case, 128, T, 1.05),
            "N": (replace(case, n=4 * case.n), 32, T, 2.05),
            "d": (replace(case, d=4 * case.d), 32, T, 2.05),
        }
        one, *others = alternate(
            ours(case, 32, T), *(ours(*what) for *what, _ in larger.values()), rounds=7 if quick else 15, pick=min
        )
        for (of, (*_, goal)), four in zip(larger.items(), others):
            found.append(row(f"{name}: exponent in {of}", math.log(four / one, 4), goals={"value": goal}))
    return found


def two_cores(quick: bool) -> list[dict[str, Any]]:
    """Wall time with one and two threads: means something on two idle cores alone, so the load stands beside it."""
    cores(2)
    found = []

    def with_threads(call: Callable[[], Any], count: int) -> Callable[[], Any]:
        def threads() -> None:
            torch.set_num_threads(count)
            call()

        return threads

    for case, T in ((STREAMS[1], 100), (GENERAL[0], 10), (GENERAL[3], 40), (GENERAL[4], 10)):
        call = ours(case, 1024, T // 4 if quick else T)
        one, two = alternate(
            with_threads(call, 1), with_threads(call, 2), rounds=3 if quick else 9, clock=time.perf_counter
        )
        found.append(row(f"{case.name}, two threads", 1e3 * two, "ms", shape=(case.n, case.d, 1024),
                         peers={"one thread": 1e3 * one}, goals={"one thread": 1.8}))  # fmt: skip
    return [*found, row("load of the machine", os.getloadavg()[0])]


def figure(quick: bool) -> list[dict[str, Any]]:
    """Figure 2b's shape: four algorithms, N = 20, d = 10, T = 200, 1000 seeds, float64."""
    cores(1)
    T, n, d = 200, 20, 10
    problem, sampled = stream(n, d, batch=2), SampledSimilarity()
    algorithms = (
        SAMPLED,
        AllForOne(criterion=Continuous(), similarity=sampled, normalised=True, sigma2=1.0),
        Local(),
        FixedWeights(alpha=torch.full((n, n), 1 / n, dtype=torch.float64), name="fedavg, one local step"),
    )

    def four() -> None:
        for rule in algorithms:
            run(problem, rule, iterations=T, eta=0.01, seeds=1000, kernel="c")

    (used,) = alternate(four, rounds=1 if quick else 5)
    return [row("figure 2b's shape, half its processor time", used / 2, "s", shape=(n, d, 1000), goals={"value": 2.0})]


def stages(quick: bool) -> list[dict[str, Any]]:
    """All-for-all in two stages with the mean of its models, (20, 10), float64: microseconds of one seed's step."""
    cores(1)
    T, n, d = 40 if quick else 200, 20, 10
    rule = TwoStageAllForAll(Lambda=torch.full((n, n), 1 / n, dtype=torch.float64), first=T // 4, kappa=10.0)
    found = []
    for kind in ("quadratics", "least squares", "logistic"):
        case = Case(kind, n, d)
        calls = (
            lambda kernel=kernel, case=case: run(
                case.problem, rule, iterations=T, eta=case.eta, seeds=WHOLE, grid=[T], kernel=kernel
            )
            for kernel in ("c", "reference")
        )
        own, torch_took = (1e6 * took / (T * WHOLE) for took in alternate(*calls, rounds=3 if quick else 15))
        found.append(row(f"{kind}, two stages", own, "us", shape=(n, d, WHOLE), peers={"torch": torch_took},
                         goals={"torch": 10.0}))  # fmt: skip
    return found


MEMORY = """
import json, resource, torch, numpy
from benchmarks.problems import SAMPLED, stream
from suffice.simulate import run
torch.set_num_threads(1)
usage = lambda: resource.getrusage(resource.RUSAGE_SELF)
before, faults = usage().ru_maxrss, []
problem = stream(1000, 10, dtype=torch.float32)
go = lambda seeds, T: run(problem, SAMPLED, iterations=T, eta=.001, seeds=seeds, grid=[T], kernel="c")
go(8, 1)
for T in (1, 2):
    start = usage().ru_minflt
    go(SEEDS, T)
    faults.append(usage().ru_minflt - start)
print(json.dumps({"peak": 1024 * (usage().ru_maxrss - before), "faults": faults}))
"""


def memory(quick: bool) -> list[dict[str, Any]]:
    """Peak memory beyond what was there after import, over the size of the models; page faults per further step."""
    number = 128 if quick else 1024
    done = subprocess.run(
        [sys.executable, "-c", MEMORY.replace("SEEDS", str(number))], capture_output=True, text=True, check=True
    )
    result, shape = json.loads(done.stdout), (1000, 10, number)
    goals = {} if quick else {"value": 3.0}  # of few seeds the rest is more than their models
    return [
        row("peak memory over models, float32", result["peak"] / (4e4 * number), shape=shape, goals=goals),
        row("page faults of one more iteration", result["faults"][1] - result["faults"][0], shape=shape),
    ]


def moments(quick: bool) -> list[dict[str, Any]]:
    """Exact moments beside a simulation with 10^4 seeds, (20, 10, 200); simulated: 64 of them."""
    cores(1)
    n, d, T, number = 20, 10, 200, 64
    problem, rule = problem_of("quadratics", n, d), FixedWeights(alpha=torch.full((n, n), 1 / n, dtype=torch.float64))
    exact, simulated = alternate(
        lambda: expected_excess(problem, rule, iterations=T, eta=0.01),
        lambda: run(problem, rule, iterations=T, eta=0.01, seeds=number, grid=[T], kernel="reference"),
        rounds=1 if quick else 3,
    )
    peer = "torch, 10^4 seeds"
    return [row("expected excess, exact", 1e6 * exact, "us", shape=(n, d, f"T = {T}"),
                peers={peer: 1e6 * simulated * 1e4 / number}, goals={peer: 100})]  # fmt: skip


def machine() -> dict[str, Any]:
    """What ran, and how busy it was: ratios are compared, never absolute numbers."""
    try:
        with open("/proc/cpuinfo") as file:
            model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "")
    except OSError:
        model = platform.processor()
    best = {  # per second, in quiet moments: the best of many short runs
        str(dtype): {kind: WORK[kind] / min(seconds(call) for _ in range(20)) for kind, call in limits(dtype).items()}
        for dtype in (torch.float32, torch.float64)
    }
    return {
        "date": time.strftime("%Y-%m-%d"),
        "processor": model,
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "numpy": np.__version__,
        "torch": torch.__version__,
        "limits": best,
    }
