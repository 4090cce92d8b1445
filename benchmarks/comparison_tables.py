"""What the runs of the published comparisons say, as three small CSV files: ends, curves and collaboration weights."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from suffice.support.files import make_folder, write_whole

from .comparison import COMPARISONS, HEART, best, cells_run, results

ENDS = (
    "comparison", "rule", "seeds", "step", "iterations", "accuracy", "accuracy_se", "gain", "gain_se", "deviation",
    "loss", "loss_se", "train_accuracy", "train_loss", "improved", "cpu_seconds", "by_seed",
)  # fmt: skip
CURVES = ("comparison", "rule", "iteration", "round", "accuracy", "accuracy_se")
WEIGHTS = ("comparison", "rule", "iteration", "client", "peer", "weight")
Row = dict[str, Any]


def write(folder: Path, out: Path) -> None:
    """The CSV files of all comparisons whose runs are in `folder`, into the folder `out`; others are left out."""
    make_folder(out, "write")
    parts: dict[str, tuple[tuple[str, ...], list[Row]]] = {
        "ends": (ENDS, []), "curves": (CURVES, []), "weights": (WEIGHTS, []),
    }  # fmt: skip
    for name in COMPARISONS:
        wanted = cells_run(name, best(folder, name))
        if not wanted or len(list(results(folder / name / "run", wanted))) < len(wanted):
            continue
        runs = _by_rule(folder, name)
        for rule, (step, found) in runs.items():
            alone = runs.get("Local", (0, []))[1]
            parts["ends"][1].append({"comparison": name, "rule": rule, "step": step} | _end(found, alone))
            parts["curves"][1].extend({"comparison": name, "rule": rule} | row for row in _curve(found))
            parts["weights"][1].extend({"comparison": name, "rule": rule} | row for row in _weights(found))
    parts["ends"][1].extend(_heart(folder))
    for name, (columns, rows) in parts.items():
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: _short(value) for key, value in row.items()} for row in rows)
        write_whole(out / f"{name}.csv", text.getvalue().encode())


def _by_rule(folder: Path, name: str) -> dict[str, tuple[float, list[Row]]]:
    """The step and the runs of each rule, by seed."""
    found: dict[str, tuple[float, list[Row]]] = {}
    order = list(COMPARISONS[name].rules)
    cells = sorted(cells_run(name, best(folder, name)), key=lambda cell: (order.index(cell["rule"]), cell["seed"]))
    for cell, result in results(folder / name / "run", cells):
        if not result.get("diverged"):
            found.setdefault(cell["rule"], (cell["options"]["eta"], []))[1].append(result | {"seed": cell["seed"]})
    return found


def _end(found: list[Row], alone: list[Row]) -> Row:
    """Means over seeds with standard errors; gains are over Local, seed by seed."""
    row: Row = {"seeds": len(found), "iterations": found[0]["iterations"][-1]}
    row["accuracy"], row["accuracy_se"] = _mean([run["accuracy"][-1] for run in found])
    row["loss"], row["loss_se"] = _mean([run["loss"] for run in found])
    row["train_accuracy"], _ = _mean([run["train accuracy"] for run in found])
    row["train_loss"], _ = _mean([run["train loss"] for run in found])
    row["deviation"], _ = _mean([np.std(run["clients"]) for run in found])
    row["by_seed"] = " ".join(f"{run['accuracy'][-1]:.4g}" for run in found)
    row["cpu_seconds"], _ = _mean([run["seconds"] for run in found])
    base = {run["seed"]: np.array(run["clients"]) for run in alone}
    pairs = [(np.array(run["clients"]), base[run["seed"]]) for run in found if run["seed"] in base]
    if pairs:
        row["gain"], row["gain_se"] = _mean([(own - local).mean() for own, local in pairs])
        row["improved"], _ = _mean([100 * (own > local).mean() for own, local in pairs])
    return row


def _curve(found: list[Row]) -> Iterator[Row]:
    for at, iteration in enumerate(found[0]["iterations"]):
        accuracy, error = _mean([run["accuracy"][at] for run in found])
        rounds, _ = _mean([run["rounds"][at] for run in found])
        yield {"iteration": iteration, "round": rounds, "accuracy": accuracy, "accuracy_se": error}


def _weights(found: list[Row]) -> Iterator[Row]:
    """Of every pair in the mean over seeds; of many clients the share of right pairs, with `all` for both."""
    for at, (iteration, _) in enumerate(found[0].get("right pairs", [])):
        right, _ = _mean([run["right pairs"][at][1] for run in found])
        yield {"iteration": iteration, "client": "all", "peer": "all", "weight": right}
    for at, (iteration, first) in enumerate(found[0].get("weights", [])):
        mean = np.mean([run["weights"][at][1] for run in found], axis=0)
        for i, k in zip(*np.nonzero(~np.eye(len(first), dtype=bool))):
            yield {"iteration": iteration, "client": i, "peer": k, "weight": mean[i, k]}


def _heart(folder: Path) -> Iterator[Row]:
    for _, result in results(folder / HEART / "run", cells_run(HEART, {})):
        for rule, values in result["rules"].items():
            yield {
                "comparison": HEART, "rule": rule, "seeds": result["seeds"], "accuracy": values["test_accuracy"],
                "accuracy_se": values["test_accuracy_sd"] / result["seeds"] ** 0.5,
                "loss": 10 ** values["test_log10_loss"], "train_accuracy": values["train_accuracy"],
                "train_loss": 10 ** values["train_log10_loss"],
            }  # fmt: skip


def _mean(values: list[Any]) -> tuple[float, float]:
    """With its standard error, which one seed does not have."""
    array = np.asarray(values, dtype=float)
    return float(array.mean()), float(array.std(ddof=1) / len(array) ** 0.5) if len(array) > 1 else np.nan


def _short(value: Any) -> Any:
    return f"{value:.4g}" if isinstance(value, float) else value
