"""The tables and figures of the papers that train networks, redone smaller: `python -m benchmarks comparison`.

A comparison is a split with algorithms. Every algorithm gets the same budget: three step sizes are tried on the
rows held out of seed 0, and the best one runs on seeds 1 to 5. A run is a cell of a campaign, one small file in the
folder: what was stopped goes on, and `--scheduler` names a Dask cluster, whose workers need this checkout and
SUFFICE_DATA. The means are written as CSV, from which docs/networks.md is made.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import suffice as sf
from suffice.simulate import Diverged, Local
from suffice.support.errors import InputError
from suffice.verification.campaign import Campaign, conduct
from suffice.verification.campaign.cells import Cell
from suffice.verification.campaign.run import result as stored

from .comparison_data import SPLITS, Clients, module_of, needs, place
from .comparison_rules import rule_of, step_of, tries

SEEDS, POINTS = (1, 2, 3, 4, 5), 20
ALONE = 300
"""The anchors of FLIX and Scafflix are trained for so many iterations, each client by itself."""
SAMPLINGS = ("none", "constant", "time", "mixed")
ADAPTIVE = (
    "All-for-one binary",
    "All-for-one continuous",
    "Local",
    "FedAvg",
    "Ditto",
    "CoBo",
    "WGA-BC",
    "APFL",
    "Oracle",
)
COBO = ("Local", "FedAvg", "Fine-tuned FedAvg", "Ditto", "Ditto, pull=0.1", "IFCA")


def _personal(
    alphas: Sequence[float], *, p: Sequence[float] = (), tau: Sequence[int] = (), alpha: float
) -> tuple[str, ...]:
    """FedAvg, FLIX at the first two alphas, Scafflix at all with p = 0.2; and it with other p, and tau clients a round.

    alpha is that of the last two."""
    every = [*(f"FLIX, alpha={a}" for a in alphas[:2]), *(f"Scafflix, alpha={a} p=0.2" for a in alphas)]
    return ("FedAvg", *every, *(f"Scafflix, alpha={alpha} p={value}" for value in p),
            *(f"Scafflix, alpha={alpha} p=0.2 tau={count}" for count in tau))  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One split, how long it is trained and at which steps, and the rules that are compared.

    rounds  of communication, in place of iterations: FLIX takes one step in each, FedAvg five and Scafflix 1/p
    alone   the step size with which anchors are trained
    kept    fractions of the iterations after which collaboration weights are kept
    """

    split: str
    iterations: int
    rules: tuple[str, ...]
    batch: int = 16
    steps: tuple[float, ...] = (0.03, 0.1, 0.3)
    momentum: float = 0.0
    rounds: bool = False
    alone: float = 0.1
    kept: tuple[float, ...] = ()

    def length(self, rule: str) -> int:
        if not self.rounds or rule.startswith("FLIX"):
            return self.iterations
        return round(self.iterations / (float(rule.split("p=")[1].split()[0]) if "p=" in rule else 0.2))


COMPARISONS = {
    "adaptive-mnist": Comparison(split="mnist-labels", iterations=300, rules=ADAPTIVE),
    "adaptive-fashion": Comparison(
        split="fashion-labels", iterations=150, rules=ADAPTIVE, steps=(0.01, 0.03, 0.1), momentum=0.9
    ),
    "cobo-silo": Comparison(
        split="fashion-permuted", iterations=800,
        rules=(*COBO, "FC", *(f"CoBo, {how}" for how in SAMPLINGS), "Oracle"), kept=(0.01, 0.1, 1.0),
    ),
    "cobo-devices": Comparison(
        split="fashion-devices", iterations=200, rules=(*COBO, "CoBo, constant", "Oracle"), kept=(0.02, 0.1, 1.0)
    ),
    "scafflix-fashion": Comparison(
        split="fashion-dirichlet", iterations=60, batch=20, rounds=True,
        rules=_personal((0.1, 0.3, 0.5, 0.7, 0.9), alpha=0.3, p=(0.1, 0.5), tau=(1, 5, 10, 20)),
    ),
    "scafflix-plays": Comparison(
        split="plays", iterations=30, batch=20, rounds=True, steps=(0.1, 0.3, 1.0), alone=1.0,
        rules=_personal((0.3, 0.1, 0.9), alpha=0.3),
    ),
}  # fmt: skip
HEART = "adaptive-heart"
NAMES = (*COMPARISONS, HEART)


def cells_tried(name: str) -> list[Cell]:
    """The tries of every rule on the rows held out of seed 0."""
    about = COMPARISONS[name]
    return [_cell(name, rule, options, 0) for rule in about.rules for options in tries(rule, about.steps)]


def cells_run(name: str, chosen: Mapping[str, dict[str, Any]]) -> list[Cell]:
    if name == HEART:
        return [{"kind": "module", "module": __name__, "comparison": HEART}]
    return [_cell(name, rule, options, seed) for seed in SEEDS for rule, options in chosen.items()]


def _cell(name: str, rule: str, options: dict[str, Any], seed: int) -> Cell:
    about = {key: value for key, value in vars(COMPARISONS[name]).items() if key != "rules"}
    about = {key: list(value) if isinstance(value, tuple) else value for key, value in about.items()}
    own = {"comparison": name, "rule": rule, "options": options, "seed": seed}
    return {"kind": "module", "module": __name__, **own, "about": about}


@lru_cache(maxsize=2)
def problem_of(split: str, seed: int, batch: int, held: bool) -> tuple[sf.Neural, Clients]:
    """The network of all clients; `held`: the rows held out are in the place of those for tests."""
    own = SPLITS[split](seed)
    problem = sf.Neural.of(
        module_of(split, own.outputs), *own.train, batch=batch, seed=seed, validation=own.held,
        test=own.held if held else own.test,
    )  # fmt: skip
    return problem, own


@lru_cache(maxsize=2)
def anchors(split: str, seed: int, batch: int, eta: float) -> Any:
    """(N, d): every client's model after it was trained alone."""
    problem, _ = problem_of(split, seed, batch, seed == 0)
    more = {"seeds": range(seed, seed + 1), "root": 1, "models": True, "grid": [ALONE]}
    trace = sf.run(problem, Local(), iterations=ALONE, eta=eta, **more)
    return problem.start.new_tensor(trace.models[0])


def compute(cell: Cell) -> dict[str, Any]:
    """The result of one run: accuracies in per cent on a grid, mean of the clients, and each client's at the end."""
    began = time.process_time()
    if cell["comparison"] == HEART:
        return _heart() | {"seconds": time.process_time() - began}
    rule, options, seed = cell["rule"], cell["options"], cell["seed"]
    about = Comparison(rules=(rule,), **cell["about"])
    problem, clients = problem_of(about.split, seed, about.batch, seed == 0)
    length = about.length(rule)
    fixed = anchors(about.split, seed, about.batch, about.alone) if about.rounds and rule != "FedAvg" else None
    options = options | {"period": 5} if about.rounds else options
    algorithm = rule_of(rule, options, problem, clients.clusters, length, fixed)
    grid = np.unique(np.linspace(0, length, POINTS + 1).round().astype(int)).tolist()
    kept = [max(1, round(share * length)) for share in about.kept]
    weighs = bool(kept) and seed > 0 and rule.startswith(("CoBo", "IFCA", "FC"))
    setting: dict[str, Any] = {"iterations": length, "eta": step_of(rule, options), "momentum": about.momentum}
    try:
        trace = sf.run(
            problem, algorithm, **setting, seeds=range(seed, seed + 1), models=True,
            grid=sorted({*grid, *kept}) if weighs else grid, weights=[seed] if weighs else None,
        )  # fmt: skip
    except Diverged:
        return {"diverged": True, "accuracy": [0.0], "seconds": time.process_time() - began}
    accuracy, loss = (100 * trace.metrics["test accuracy"][0], trace.metrics["test loss"][0])
    trained = replace(problem, test=problem.data).metrics(problem.start.new_tensor(trace.models))
    result = {
        "iterations": trace.iterations.tolist(),
        "rounds": _rounds(trace, algorithm, problem.clients),
        "accuracy": accuracy.mean(1).round(3).tolist(),
        "clients": accuracy[-1].round(2).tolist(),
        "loss": float(loss[-1].mean()),
        "train accuracy": 100 * float(trained["test accuracy"].mean()),
        "train loss": float(trained["test loss"].mean()),
        "vectors sent": float(trace.vectors_sent[-1]),
        "gradients": float(trace.oracle_calls[-1]),
        "seconds": time.process_time() - began,
    }
    if weighs:
        same = np.equal.outer(clients.clusters, clients.clusters)
        apart = ~np.eye(len(same), dtype=bool)
        shown = [trace.weights[0, list(trace.iterations).index(t)] for t in kept]
        result["right pairs"] = [[t, float((on(w) == same)[apart].mean())] for t, w in zip(kept, shown)]
        if len(same) <= 8:
            result["weights"] = [[t, np.round(w, 3).tolist()] for t, w in zip(kept, shown)]
    return result


def _rounds(trace: sf.Trace, algorithm: Any, clients: int) -> list[float]:
    """Of communication so far: a participant receives a model in each, and sends one."""
    return (trace.vectors_sent / 2 / (getattr(algorithm, "participants", None) or clients)).tolist()


def on(weights: np.ndarray) -> np.ndarray:
    """Which weights count as collaboration: those above half of the largest one that a client gives a peer, or of 1/2.

    CoBo's are in [0, 1]; those of IFCA and FC are shares, 1/N and more."""
    return weights > weights.max(1, keepdims=True).clip(None, 1) / 2


def _heart() -> dict[str, Any]:
    """The figure of the hospitals, whose run "Table 2" is compared with the paper's numbers."""
    made = sf.figure("adaptive-3-heart", data=place("heart"))
    wanted = ("test_accuracy", "test_accuracy_sd", "train_accuracy", "test_log10_loss", "train_log10_loss")
    rules = {name.partition(" | ")[2]: curve for name, curve in made.data.items() if name.startswith("Table 2 |")}
    return {"rules": {rule: {key: float(curve[key][-1]) for key in wanted} for rule, curve in rules.items()},
            "seeds": made.setup["runs"]}  # fmt: skip


def results(folder: Path, cells: Sequence[Cell]) -> Iterator[tuple[Cell, dict[str, Any]]]:
    """Those that are there."""
    for cell in cells:
        if (found := stored(folder, cell)) is not None:
            yield cell, found


def best(folder: Path, name: str) -> dict[str, dict[str, Any]]:
    """Of each rule what has the best accuracy on the rows held out, the first of equals.

    In the mean of the last quarter of the records: where clients average now and then, accuracies go up and down.
    """
    found: dict[str, tuple[float, dict[str, Any]]] = {}
    for cell, result in results(folder / name / "tried", cells_tried(name) if name != HEART else ()):
        score = float(np.mean(result["accuracy"][-POINTS // 4 :]))
        if cell["rule"] not in found or score > found[cell["rule"]][0]:
            found[cell["rule"]] = (score, cell["options"])
    return {rule: options for rule, (_, options) in found.items()}


def carry_out(folder: Path, name: str, *, jobs: int = 1, scheduler: str | None = None) -> None:
    """What is missing of a comparison: first the tries, then the runs of what was chosen."""
    parts = [("run", lambda: cells_run(name, best(folder, name)))]
    for needed in ("heart",) if name == HEART else needs(COMPARISONS[name].split):
        place(needed)
    if name != HEART:
        parts.insert(0, ("tried", lambda: cells_tried(name)))
    for part, cells_of in parts:
        cells = tuple(cells_of())
        campaign = Campaign(name=f"{name}-{part}", out=folder / name / part, cells=cells)
        session = conduct(campaign, jobs=jobs, scheduler=scheduler, compute=compute)
        line = f"{name}, {part}: {session.computed} computed, {session.found} found, {session.seconds:.0f} s"
        print(line, flush=True)
        if session.failed:
            raise InputError(f"cells of {campaign.name}", len(session.failed), session.failed[0][1])


def main(words: Sequence[str]) -> None:
    """`python -m benchmarks comparison`."""
    from .comparison_tables import write

    parser = argparse.ArgumentParser(prog="python -m benchmarks comparison", description=__doc__)
    parser.add_argument("--data", type=Path, help="the folder with the data, in place of SUFFICE_DATA")
    parser.add_argument("--out", type=Path, default=Path("out/comparison"), help="the folder of the runs")
    parser.add_argument("--only", choices=NAMES, help="one comparison; all when omitted")
    parser.add_argument("--jobs", type=int, default=1, help="processes of this machine")
    parser.add_argument("--scheduler", help="address of a Dask scheduler, whose workers compute instead")
    parser.add_argument("--write", type=Path, help="the folder of the CSV files, by default that of the runs")
    given = parser.parse_args(words)
    if given.data is not None:
        os.environ["SUFFICE_DATA"] = str(given.data)
    failed = False
    for name in [given.only] if given.only else NAMES:
        try:
            carry_out(given.out, name, jobs=given.jobs, scheduler=given.scheduler)
        except InputError as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed = True
    write(given.out, given.write or given.out)
    if failed:
        raise SystemExit(2)
