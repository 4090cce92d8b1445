"""Processor time of the commands that users wait for, beside their budgets and, if wanted, beside another checkout."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from .timing import row

HERE = Path(__file__).resolve().parent.parent
PLAN = """
import time
import numpy as np, suffice as sf
from suffice.simulate import Quadratics
N, d, rng = {N}, {d}, np.random.default_rng(0)
root = rng.normal(size=(N, d, d))
problem = Quadratics.of(np.eye(d) / 3 + root @ root.transpose(0, 2, 1) / d, rng.normal(size=(N, d)) / 10, sigma2=1.0)
sf.plan(Quadratics.of(np.ones((2, 1, 1)), np.ones((2, 1)), sigma2=1.0).constants(), epsilon=0.1)
began = time.process_time()
sf.plan(problem.constants(), epsilon=0.01)
print(time.process_time() - began)
"""
HOSPITALS = ("--loss", "logistic", "--regularisation", "0.1", "--epsilon", "10%", "--simulate", "--seeds", "32")
SHORT: dict[str, tuple[float, tuple[str, ...]]] = {
    "suffice --help": (0.2, ("--help",)),
    "suffice errata": (1, ("errata",)),
    "suffice demo": (8, ("demo",)),
    "suffice plan --simulate, logistic, 4 hospitals, 32 seeds": (10, ("plan", "hospitals.csv", *HOSPITALS)),
    "suffice verify": (10, ("verify",)),
}
LONG: dict[str, tuple[float, tuple[str, ...]]] = {
    "suffice verify --effort full": (150, ("verify", "--effort", "full")),
    "suffice figure all": (180, ("figure", "all", "--out", "pictures")),
}


def hospitals(path: Path) -> None:
    """A table of the shape of UCI heart disease: 740 rows of four hospitals, 13 predictors and a label."""
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        print("client", *(f"x{j}" for j in range(13)), "target", sep=",", file=file)
        for hospital, rows in enumerate((303, 261, 46, 130)):
            x = rng.normal(size=(rows, 13))
            label = x @ np.linspace(-1, 1, 13) + 0.3 * hospital + 2 * rng.normal(size=rows) > 0
            for values, target in zip(x.round(3).tolist(), label.astype(int)):
                print(f"hospital {hospital + 1}", *values, target, sep=",", file=file)


def seconds(command: tuple[str, ...], folder: Path, checkout: Path, rounds: int) -> float:
    """The least processor time of a command and its children; of `PLAN`, what it prints."""
    found = []
    environment = os.environ | {"PYTHONPATH": str(checkout), "COLUMNS": "80"}
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        # a printed claim that is refuted ends with 1
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode not in (0, 1) or "Traceback" in done.stderr:
            raise RuntimeError(f"{command}: {done.stderr[-500:]}")
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found.append(float(done.stdout) if command[1] == "-c" else spent)
    return min(found)


def table(quick: bool, beside: Path | None = None) -> list[dict[str, Any]]:
    """Rows of seconds, budget and the ratio to another checkout's time in the same run."""
    commands = {
        name: (goal, (sys.executable, "-m", "suffice", *words)) for name, (goal, words) in (SHORT | LONG).items()
    } | {
        f"guaranteed plan, {n} clients, d = {d}": (goal, (sys.executable, "-c", PLAN.format(N=n, d=d)))
        for n, d, goal in ((400, 5, 1.0), (10, 200, 3.0))
    }
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        hospitals(folder / "hospitals.csv")
        for what, (goal, command) in commands.items():
            if quick and what in LONG:
                continue
            rounds = 1 if what in LONG else 3
            own = seconds(command, folder, HERE, rounds)
            peers = {"other checkout": seconds(command, folder, beside, rounds)} if beside else {}
            rows.append(row(what, own, "s", peers=peers, goals={"value": goal}))
    return rows
