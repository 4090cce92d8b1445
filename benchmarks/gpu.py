"""Runs on a GPU beside the same on the CPU, and their paths compared: `python -m benchmarks --gpu`."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch

from suffice.simulate import run

from .problems import SAMPLED, Case
from .timing import alternate, row

SEEDS, ITERATIONS = 1024, 200


def table(quick: bool) -> list[dict[str, Any]]:
    """Microseconds of a seed's iteration, (20, 10) in float64, or one row that says why there is none.

    The paths of both are the same to 1e-9, or the comparison ends here.
    """
    if not torch.cuda.is_available():
        return [row("GPU: skipped, torch sees no CUDA device", 0.0)]
    n, d, seeds, T = 20, 10, SEEDS // 8 if quick else SEEDS, ITERATIONS
    case = Case("stream", n, d, dtype=torch.float64)
    here, there = case.problem, case.problem.to(torch.float64, "cuda")

    def on(problem: Any) -> np.ndarray:
        found = run(problem, SAMPLED, iterations=T, eta=case.eta, seeds=seeds, grid=[0, T]).excess
        torch.cuda.synchronize()
        return found

    np.testing.assert_allclose(on(there), on(here), rtol=1e-9)
    cuda, cpu = alternate(lambda: on(there), lambda: on(here), clock=time.perf_counter)
    name = f"{case.name}, {torch.cuda.get_device_name()}"
    return [row(name, 1e6 * cuda / seeds / T, "us", shape=(n, d, seeds), peers={"this CPU": 1e6 * cpu / seeds / T})]
