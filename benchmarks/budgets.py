"""Processor time of the commands that users wait for, beside their budgets and, if wanted, beside another checkout."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import suffice as sf

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
EXACT = """
import time
import suffice as sf
from benchmarks.growth import table_of
problem = sf.read(table_of({sites}, {columns}, {rows}))
began = time.process_time()
sf.plan(problem, "{epsilon}")
print(time.process_time() - began)
"""
EXAMPLES = HERE / "examples"
PATIENTS = (str(EXAMPLES / "diabetes_by_age.csv"), "--client", "age_group", "--target", "progression")
HOSPITALS = ("--loss", "logistic", "--regularisation", "0.1", "--epsilon", "10%", "--simulate", "--seeds", "32")
OTHERS = "import matplotlib.figure, matplotlib.backends.backend_pdf, sklearn.datasets, sympy, torch, typer, rich.table"


@dataclass(frozen=True, kw_only=True)
class Command:
    """Words of `suffice`, or a script that prints its time, less the time that imports of others take."""

    goal: float
    words: tuple[str, ...] = ()
    script: str | None = None
    beyond: str | None = None
    cold: bool = False
    long: bool = False


def guaranteed(goal: float, **size: int) -> Command:
    return Command(goal=goal, script=PLAN.format(**size))


def exact(goal: float, **size: Any) -> Command:
    return Command(goal=goal, script=EXACT.format(**size))


COMMANDS = {
    "suffice --help": Command(goal=0.2, words=("--help",)),
    "suffice errata": Command(goal=1, words=("errata",)),
    "suffice theorem": Command(goal=1, words=("theorem",)),
    "suffice theorem, one formula": Command(goal=1, words=("theorem", "adaptive/lemma-2")),
    "suffice predict, 442 rows": Command(goal=1, words=("predict", "fit.json", PATIENTS[0])),
    "suffice fit, 442 rows of 8 sites": Command(goal=1.5, words=("fit", *PATIENTS)),
    "suffice plan, constants of 3 clients": Command(goal=1, words=("plan", str(EXAMPLES / "constants.toml"))),
    "suffice plan, the same rows, beyond torch": Command(goal=1.5, words=("plan", *PATIENTS), beyond="import torch"),
    "suffice demo, full caches": Command(goal=8, words=("demo",)),
    "suffice demo with compilation, beyond others' imports": Command(
        goal=10, words=("demo",), beyond=OTHERS, cold=True
    ),
    "suffice plan --simulate, logistic, 4 hospitals, 32 seeds": Command(
        goal=10, words=("plan", "hospitals.csv", *HOSPITALS)
    ),
    "suffice verify": Command(goal=10, words=("verify",)),
    "suffice verify --effort full": Command(goal=150, words=("verify", "--effort", "full"), long=True),
    "suffice figure all": Command(goal=180, words=("figure", "all", "--out", "pictures"), long=True),
    "guaranteed plan, 400 clients, d = 5": guaranteed(1, N=400, d=5),
    "guaranteed plan, 10 clients, d = 200": guaranteed(3, N=10, d=200),
    "exact plan, 4 clients, 20 columns": exact(10, sites=4, columns=20, rows=100, epsilon="1%"),
    "exact plan, 10 clients, 20 columns, to what rows tell": exact(5, sites=10, columns=20, rows=100, epsilon="noise"),
    "exact plan, 50 clients, 50 columns": exact(10, sites=50, columns=50, rows=200, epsilon="10%"),
    "exact plan, 200 clients, 20 columns": exact(10, sites=200, columns=20, rows=100, epsilon="10%"),
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


def seconds(command: Command, folder: Path, checkout: Path) -> float:
    """The least processor time of a command and its children, or what a script prints; a long command runs once."""
    words = ("-m", "suffice", *command.words) if command.script is None else ("-c", command.script)
    if command.beyond is not None:
        return run(words, folder, checkout, command.cold) - run(("-c", command.beyond), folder, checkout, False)
    return run(words, folder, checkout, command.cold, rounds=1 if command.long else 3)


def run(words: tuple[str, ...], folder: Path, checkout: Path, cold: bool, rounds: int = 3) -> float:
    found = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as empty:
            environment = os.environ | {"PYTHONPATH": str(checkout), "COLUMNS": "80", "OMP_NUM_THREADS": "1"}
            environment |= {"XDG_CACHE_HOME": empty} if cold else {}
            environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its byte code
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            # a printed claim that is refuted ends with 1
            command = (sys.executable, *words)
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode not in (0, 1) or "Traceback" in done.stderr:
            raise RuntimeError(f"{words}: {done.stderr[-500:]}")
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found.append(float(done.stdout) if words[0] == "-c" and done.stdout else spent)
    return min(found)


def table(quick: bool, beside: Path | None = None) -> list[dict[str, Any]]:
    """Rows of seconds, budget and the ratio to another checkout's time in the same run."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        hospitals(folder / "hospitals.csv")
        sf.fit(PATIENTS[0], client=PATIENTS[2], target=PATIENTS[4]).save(folder / "fit.json")
        for what, command in COMMANDS.items():
            if quick and command.long:
                continue
            own = seconds(command, folder, HERE)
            peers = {"other checkout": seconds(command, folder, beside)} if beside else {}
            rows.append(row(what, own, "s", peers=peers, goals={"value": command.goal}))
    return rows
