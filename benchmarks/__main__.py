"""Time our code beside what a user would write instead, alternating runs in one process, medians reported."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from suffice.bounds import digits, evaluate, find
from suffice.support.files import write_whole

from . import budgets, comparison, fit, fit_safety, gpu, growth, kernels, lines, networks, plans
from .timing import alternate, row, shown


def bounds(quick: bool) -> list[dict[str, Any]]:
    """Scalar evaluations of Theorem 2's constant row, conditions included, beside 50-digit evaluation."""
    theorem, count = find("adaptive/theorem-2-constant"), 100_000
    eta = np.linspace(0.01, 0.5, count)
    values: dict[str, Any] = {"mu": 0.5, "beta": 1.0, "q": 0.9, "e0": 5.0, "s2": 0.7, "T": 20.0}
    own, peer = alternate(
        lambda: evaluate(theorem, eta=eta, **values),
        lambda: [digits(theorem, 50, eta=x, **values) for x in eta[:50]],
    )
    peers = {"mpmath, 50 digits": 1e6 * peer / 50}
    return [row("theorem-2-constant, one evaluation", 1e6 * own / count, "us", peers=peers, goals={"value": 1.0})]


BENCHES: dict[str, Callable[[bool], list[dict[str, Any]]]] = {
    "budgets": budgets.table,
    "bounds": bounds,
    "memory": kernels.memory,
    "streams": lambda quick: kernels.table(kernels.STREAMS, quick),
    "problems": lambda quick: kernels.table(kernels.GENERAL, quick),
    "stages": kernels.stages,
    "complexity": kernels.complexity,
    "figure": kernels.figure,
    "moments": kernels.moments,
    "threads": kernels.two_cores,
    "networks": networks.table,
    "fit": fit.table,
    "safety": lambda quick: fit_safety.table(quick) + fit_safety.table(quick, sites=2),
    "plans": plans.table,
    "growth": growth.table,
    "gpu": gpu.table,
}
APART = ("networks", "fit", "safety", "plans", "growth", "gpu")
"""These run only when they are named."""


def main() -> None:
    if sys.argv[1:2] == ["comparison"]:
        comparison.main(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "which", nargs="?", choices=[*BENCHES, "comparison", "lines"], help="all that are timed when omitted"
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds and smaller shapes, about a minute")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--out", type=Path, help="write machine and rows to this JSON file")
    parser.add_argument("--gpu", action="store_true", help="only runs on a GPU beside the CPU")
    parser.add_argument("--beside", type=Path, help="another checkout, whose commands are timed beside the budgets")
    parser.add_argument("--repetitions", type=int, help="of `fit`: draws of the rows for training")
    parser.add_argument("--folder", type=Path, help="of `fit`: a file for each line and draw, so that a run can go on")
    parser.add_argument("--page", type=Path, help="of `fit`: write all lines to this file, in Markdown")
    arguments = parser.parse_args()
    if arguments.which == "lines":
        print(lines.shown())
        return
    BENCHES["fit"] = lambda quick: fit.table(quick, arguments.repetitions, arguments.folder, arguments.page)
    BENCHES["budgets"] = lambda quick: budgets.table(quick, arguments.beside)
    torch.set_num_threads(1)
    whole = [name for name in BENCHES if name not in APART]
    chosen = ["gpu"] if arguments.gpu else [arguments.which] if arguments.which else whole
    rows = [entry for name in chosen for entry in BENCHES[name](arguments.quick)]
    if arguments.out:
        write_whole(arguments.out, json.dumps({"machine": kernels.machine(), "rows": rows}, indent=1).encode())
    print(json.dumps(rows, indent=2) if arguments.json else shown(rows))


if __name__ == "__main__":
    main()
