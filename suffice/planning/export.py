"""A folder from which a plan can be carried out: plan.json, weights.csv, train.py and, where asked for, rows.csv."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.support.errors import InputError
from suffice.support.files import make_folder, write_whole
from suffice.support.numbers import plain
from suffice.support.text import csv_text

from .federated import followed
from .plan_row import Row

if TYPE_CHECKING:
    from suffice.simulate.data.standardisation import Coordinates


TRAINER = r'''"""Train by plan.json beside this file: python train.py [DATA.csv] [SEED]; writes models.csv."""

import csv
import json
import sys
from pathlib import Path

import numpy as np

here, arguments = Path(__file__).parent, sys.argv[1:]
plan = json.loads((here / "plan.json").read_text(encoding="utf-8"))
of, batch, logistic = plan["coordinates"], plan["batch"], plan["loss"] == "logistic"
names, sites, models = of["names"], list(plan["start"]), np.array(list(plan["start"].values()))
rng = np.random.default_rng(int(arguments[1]) if arguments[1:] else 0)


def target(label):
    if not logistic:
        return (float(label) - of["target_mean"]) / of["target_scale"]
    texts = any(isinstance(one, str) for one in of["positive"])
    return 1.0 if (label if texts else float(label)) in of["positive"] else -1.0


rows = {site: [] for site in sites}
with open(arguments[0] if arguments else here / "rows.csv", newline="", encoding="utf-8-sig") as file:
    for row in csv.DictReader(file):
        if row[of["client"]] in rows and row[of["target"]].strip().lower() not in ("", "na", "nan"):
            x = [1.0 if name == "(intercept)" else float(row[name]) for name in names]
            rows[row[of["client"]]].append([*x, target(row[of["target"]].strip())])
data = [np.array(rows[site]) for site in sites]
means, scales = (np.broadcast_to(of[key], models.shape) for key in ("means", "scales"))


def gradient(k, theta):
    """Of a batch of client k's rows, drawn with replacement, at another client's model: all that sees its data."""
    drawn = data[k][rng.integers(len(data[k]), size=batch)]
    X, y = (drawn[:, :-1] - means[k]) / scales[k], drawn[:, -1]
    slope = -y / (1 + np.exp(y * (X @ theta))) if logistic else 2 * (X @ theta - y)
    return X.T @ slope / batch + plan["regularisation"] * theta


for i, row in enumerate(plan["clients"]):
    rule = row["measured"] or row["exact"]
    matrix = np.eye(len(names)) if rule["matrix"] is None else np.array(plan["matrices"][rule["matrix"]])
    for stage in rule["schedule"]:  # one, unless the plan was asked for stages
        weights = np.array(stage["weights"])
        for _ in range(stage["iterations"]):
            mean = sum(weights[k] * gradient(k, models[i]) for k in np.flatnonzero(weights))
            models[i] -= stage["eta"] * matrix @ mean
with open(here / "models.csv", "w", newline="", encoding="utf-8") as file:
    csv.writer(file).writerows([[of["client"], *names], *([site, *model] for site, model in zip(sites, models))])
'''
"""What train.py holds: plain Python and NumPy, that people read and change."""


def export(told: dict[str, Any], plan: Sequence[Row], problem: Any, folder: str | Path, *, rows: bool) -> list[Path]:
    """The files written for `told`, the dictionary of a plan with one precision, whose rows are `plan`. The rows that
    it was made from stand in rows.csv, as numbers, with `rows` and wherever columns of levels or of gaps were made of
    them. Raises `InputError`."""
    of: Coordinates | None = getattr(problem, "coordinates", None)
    if of is None:
        raise InputError("out", str(folder), "a trainer reads rows, and this plan has none behind it; use --json")
    lines: list[list[Any]] = [["client", "stage", "iterations", "step", "matrix", *plan[0].names]]
    for row in plan:
        rule = followed(row)
        for at, stage in enumerate(rule.stages or (rule,), start=1):
            known = [at, stage.iterations, stage.eta, rule.matrix_name(row.name) or ""]
            lines.append([row.name, *known, *stage.weights.tolist()])
    folder = make_folder(folder, "out")
    text = json.dumps(plain(told), indent=1)
    files = {"plan.json": text, "weights.csv": csv_text(lines), "train.py": TRAINER}
    if rows or of.fills or any("=" in name for name in of.names):
        files["rows.csv"] = csv_text(_table(problem, of))
    return [write_whole(folder / name, content.encode()) for name, content in files.items()]


def _table(problem: Any, of: Coordinates) -> list[list[Any]]:
    """The rows in the units of their columns, those of levels and gaps as 0 and 1."""
    first = int(bool((problem.data.X[:, 0] == 1).all()))
    means, scales = (np.broadcast_to(one, (problem.clients, len(of.names))) for one in (of.means, of.scales))
    table: list[list[Any]] = [[of.client, of.target, *of.names[first:]]]
    for name, (X, y), mean, scale in zip(problem.names, problem.data.blocks(), means, scales):
        values = (X * scale + mean)[:, first:].tolist()
        if of.positive:
            no = "other" if isinstance(of.positive[0], str) else min(of.positive) - 1
            answers = [of.positive[0] if one > 0 else no for one in y.tolist()]
        else:
            answers = (y * of.target_scale + of.target_mean).tolist()
        table += [[name, answer, *row] for answer, row in zip(answers, values)]
    return table
