"""Time our code beside what a user would write instead, alternating runs in one process, medians reported."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from suffice.bounds import Continuous, digits, evaluate, find, write_whole
from suffice.simulate import AllForOne, run

from . import budgets, compiled, fit, gpu, kernels
from .problems import network
from .timing import alternate, row


def bench_bounds() -> list[dict[str, Any]]:
    """Scalar evaluations of Theorem 2's constant row, conditions included, beside 50-digit evaluation."""
    theorem, count = find("adaptive/theorem-2-constant"), 100_000
    eta = np.linspace(0.01, 0.5, count)
    values: dict[str, Any] = {"mu": 0.5, "beta": 1.0, "q": 0.9, "e0": 5.0, "s2": 0.7, "T": 20.0}
    ours, peer = alternate(
        lambda: evaluate(theorem, eta=eta, **values),
        lambda: [digits(theorem, 50, eta=x, **values) for x in eta[:50]],
    )
    return [row("theorem-2-constant", [count], ours / count, "mpmath, 50 digits", peer / 50)]


def bench_simulate() -> list[dict[str, Any]]:
    """Microseconds per seed-iteration of All-for-one (continuous weights) beside loops over clients in NumPy."""
    n, d, seeds, iterations = 20, 10, 256, 20
    problem = network(n, d)
    A, xi = problem.A.numpy(), problem.xi.numpy()
    rng = np.random.default_rng(1)

    def plain() -> None:
        theta = np.ones((n, d))
        for _ in range(iterations):
            noise = rng.normal(size=(n, d)) / np.sqrt(d)
            new = theta.copy()
            for i in range(n):
                gradients = np.stack([2 * A[k] @ (theta[i] + xi[k]) for k in range(n)])
                own = gradients[i]
                r = np.maximum(1 - ((gradients - own) ** 2).sum(1) / (own**2).sum(), 0)
                alpha = r / (r * r).sum()
                new[i] = theta[i] - 0.1 * alpha @ (gradients + noise)
            theta = new

    algorithm = AllForOne(criterion=Continuous())
    ours, peer = alternate(
        lambda: run(problem, algorithm, iterations=iterations, eta=0.1, seeds=seeds, grid=[iterations]), plain
    )
    return [
        row("all-for-one", [n, d, seeds], ours / seeds / iterations, "NumPy, loops over clients", peer / iterations)
    ]


def bench_kernels(quick: bool) -> list[dict[str, Any]]:
    parts = (kernels.memory, kernels.second_core, kernels.table, kernels.scaling)
    return [entry for part in parts for entry in part(quick)]


BENCHES: dict[str, Callable[[bool], list[dict[str, Any]]]] = {
    "bounds": lambda quick: bench_bounds(),
    "simulate": lambda quick: bench_simulate(),
    "figures": kernels.second_core,
    "moments": kernels.moments,
    "kernels": bench_kernels,
    "problems": compiled.table,
    "fit": fit.table,
    "gpu": gpu.table,
    "budgets": budgets.table,
}
DEFAULT = ("budgets", "bounds", "simulate", "kernels", "problems", "moments")


def shown(entry: dict[str, Any]) -> str:
    if "value" in entry:
        return f"{entry['name']:80s} {entry['value']:.3g}"
    floor = "" if entry["floor_fraction"] is None else f"   floor {entry['floor_fraction']:.0%}"
    return (
        f"{entry['name']:24s} {entry['shape']!s:16s} ours {entry['ours_us']:10.3f} us   "
        f"{entry['peer']:28s} {entry['peer_us']:12.2f} us   ratio {entry['ratio']:.3g}{floor}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("which", nargs="?", choices=list(BENCHES), help="all when omitted")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and smaller shapes, about a minute")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--out", type=Path, help="write machine and rows to this JSON file")
    parser.add_argument("--gpu", action="store_true", help="only the GPU kernel and its peers")
    parser.add_argument("--beside", type=Path, help="another checkout, whose commands are timed beside the budgets")
    parser.add_argument("--repetitions", type=int, help="of `fit`: draws of the rows for training")
    arguments = parser.parse_args()
    BENCHES["fit"] = lambda quick: fit.table(quick, arguments.repetitions)
    BENCHES["budgets"] = lambda quick: budgets.table(quick, arguments.beside)
    torch.set_num_threads(1)
    chosen = ("gpu",) if arguments.gpu else (arguments.which,) if arguments.which else DEFAULT
    rows = [entry for name in chosen for entry in BENCHES[name](arguments.quick)]
    if arguments.out:
        whole = {"machine": kernels.machine(), "rows": rows}
        write_whole(arguments.out, json.dumps(whole, indent=1).encode())
    if arguments.json:
        print(json.dumps(rows, indent=2))
        return
    for entry in rows:
        print(shown(entry))


if __name__ == "__main__":
    main()
