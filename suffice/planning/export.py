"""A folder from which a plan can be carried out: plan.json, weights.csv, train.py and, where asked for, rows.csv."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.support.errors import InputError
from suffice.support.files import make_folder, write_whole
from suffice.support.numbers import plain
from suffice.support.text import csv_text

from .client_plan import ClientPlan

if TYPE_CHECKING:
    from suffice.simulate.data.encoding import Coordinates


TRAINER = r'''"""Train by plan.json beside this file: python train.py [DATA.csv] [SEED]; writes models.csv, of each site
a constant and slopes in the units of the columns of DATA.csv: NOTE."""

import csv
import json
import sys
import time
from pathlib import Path

import numpy as np

here, given = Path(__file__).parent, sys.argv[1:]
plan, rng = json.loads((here / "plan.json").read_text(encoding="utf-8")), np.random.default_rng(int((*given, 0, 0)[1]))
of, rows = plan["coordinates"], {site: [] for site in plan["start"]}
with open(given[0] if given else here / "rows.csv", newline="", encoding="utf-8-sig") as file:
    for row in csv.DictReader(file):
        site, label = row[of["client"]], row[of["target"]].strip()
        if site in rows and label.lower() not in ("", "na", "nan"):
            x = [1.0 if name == "(intercept)" else float(row[name]) for name in of["names"]]
            rows[site].append((x, TARGET))
X = [(np.array([x for x, _ in mine]) - MEANS) / SCALES for k, mine in enumerate(rows.values())]
y = [np.array([target for _, target in mine]) for mine in rows.values()]


def loss(k, theta):
    """The loss of client k over all of its rows, with the penalty, in the plan's units."""
    x, target = X[k], y[k]
    return np.mean(LOSS) + plan["regularisation"] / 2 * theta @ theta


def gradient(k, theta):
    """The gradient at theta on a batch of client k's rows, drawn with replacement: all that others use of its data."""
    drawn = rng.integers(len(y[k]), size=plan["batch"])
    x, target = X[k][drawn], y[k][drawn]
    return x.T @ (SLOPE) / plan["batch"] + plan["regularisation"] * theta


def in_units_of_the_file(k, theta):
    slopes, own = of["target_scale"] * theta / SCALES, of["names"].count("(intercept)")
    return [of["target_mean"] - slopes @ np.array(MEANS) + slopes[:own].sum(), *slopes[own:]]


with open(here / "models.csv", "w", newline="", encoding="utf-8") as file:
    csv.writer(file).writerow([of["client"], "(intercept)", *(name for name in of["names"] if name != "(intercept)")])
    for at, row in enumerate(plan["clients"]):
        rule, theta, said = row["measured"] or row["exact"], np.array(plan["start"][row["name"]]), time.monotonic()
        matrix, before = np.array(plan["matrices"].get(rule["matrix"], np.eye(len(theta)))), loss(at, theta)
        whole, done = sum(stage["iterations"] for stage in rule["schedule"]), 0
        for stage in rule["schedule"]:  # one, unless the plan was asked for stages
            for _ in range(stage["iterations"]):
                mean = sum(w * gradient(k, theta) for k, w in enumerate(stage["weights"]) if w)
                theta, done = theta - stage["eta"] * matrix @ mean, done + 1
                if time.monotonic() > said + 2 and done < whole:
                    said = time.monotonic()
                    print(f"{row['name']}: t = {done} of {whole}, loss {loss(at, theta):.4g}", flush=True)
        said = f"T = {whole}, loss {before:.4g} -> {loss(at, theta):.4g}"
        print(f"{row['name']} ({at + 1} of {len(y)}): {said}", flush=True)
        csv.writer(file).writerow([row["name"], *in_units_of_the_file(at, theta)])
'''
"""The text of train.py: plain Python and NumPy, which people read and change."""


def trainer(of: Coordinates, loss: str) -> str:
    """TRAINER for targets, slopes and units of one plan."""
    of_site = "[k]" if np.ndim(of.means) == 2 else ""
    label = "label" if of.positive and isinstance(of.positive[0], str) else "float(label)"
    if loss == "logistic":
        target, slope = f'1.0 if {label} in of["positive"] else -1.0', "-target / (1 + np.exp(target * (x @ theta)))"
        each, note = "np.logaddexp(0, -target * (x @ theta))", "their sum is the log-odds of positive labels"
    else:
        target, slope = '(float(label) - of["target_mean"]) / of["target_scale"]', "2 * (x @ theta - target)"
        each, note = "(x @ theta - target) ** 2", "their sum is the prediction"
    names = {"TARGET": target, "SLOPE": slope, "LOSS": each, "NOTE": note}
    names |= {"MEANS": f'of["means"]{of_site}', "SCALES": f'of["scales"]{of_site}'}
    return re.sub("|".join(names), lambda found: names[found[0]], TRAINER)


def export(
    told: dict[str, Any], plan: Sequence[ClientPlan], problem: Any, folder: str | Path, *, rows: bool
) -> list[Path]:
    """The files written for `told`, the dictionary of a plan with one precision, whose rows are `plan`. The rows that
    it was made from stand in rows.csv, as numbers, with `rows` and wherever columns of levels or of gaps were made of
    them. Raises `InputError`."""
    of: Coordinates | None = getattr(problem, "coordinates", None)
    if of is None:
        raise InputError("out", str(folder), "a trainer reads rows, and this plan has none behind it; use --json")
    lines: list[list[Any]] = [["client", "stage", "iterations", "step", "matrix", *plan[0].names]]
    for row in plan:
        rule = row.to_follow()
        for at, stage in enumerate(rule.stages or (rule,), start=1):
            known = [at, stage.iterations, stage.eta, rule.matrix_name(row.name) or ""]
            lines.append([row.name, *known, *stage.weights.tolist()])
    folder = make_folder(folder, "out")
    text = json.dumps(plain(told), indent=1)
    files = {"plan.json": text, "weights.csv": csv_text(lines), "train.py": trainer(of, told["loss"])}
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
