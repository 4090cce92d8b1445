"""Comparisons of methods as tables: text, CSV."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from suffice.support.files import make_folder, write_whole
from suffice.support.tables import Column, Table, number
from suffice.support.text import csv_text

from ..prices import Prices

ROUNDS = str(Prices.of(None))
COLUMNS = (
    Column("method", lambda one: ", ".join(filter(None, (one.name, one.setting))), numeric=False),
    Column("iterations", lambda one: _time(one)),
    Column("rounds", lambda one: one.spent and _whole(one.spent.rounds)),
    Column("vectors", lambda one: one.spent and _whole(one.spent.down + one.spent.up)),
    Column("gradients", lambda one: one.spent and _whole(one.spent.gradients)),
    Column("batch", lambda one: one.batch, optional=True),
    Column("sites", lambda one: one.sites, optional=True),
    Column("step", lambda one: one.eta, optional=True),
    Column("kB", lambda one: one.spent and (one.spent.bytes_down + one.spent.bytes_up) / 1000, optional=True),
    Column("cost", lambda one: one.cost if one.spent else None, digits=4),
)
RECORDS = (
    Column("method", lambda one: one.method, numeric=False),
    Column("client", lambda one: one.client or "mean", numeric=False),
    Column("eps", lambda one: one.epsilon),
    Column("step", lambda one: one.eta),
    Column("T <=", lambda one: one.rounds, digits=4),
    Column("variance", lambda one: one.variance),
    Column("with", lambda one: " ".join(one.cluster), numeric=False),
    Column("theorem, or what fails", lambda one: one.why_not or one.theorem.partition("/")[2], numeric=False),
)
OF = {
    "constant": " of the excess over the sites' best constants",
    "base rate": " of the excess over the sites' base rates",
    "start": " of the excess at the start",
    "noise": " (what a site's rows can tell)",
    "loss": "",
}
"""By `Precision.of`."""
MOST = 60
"""Promises that are shown."""


def _whole(value: float) -> str:
    """Counts to the unit, which are shorter than 1.23e+04."""
    return f"{value:.0f}" if value < 1e6 else number(value)


def _time(one: Any) -> str:
    value, (low, high) = one.time.value, one.time.error
    if value is None:
        return "never"
    return f"{value}" if one.time.kind == "exact" else f"{value} ({low if low is not None else '?'}-{high or '?'})"


def method_tables(comparison: Any) -> list[Table]:
    """Of each precision the methods, then what covers them; or the records' promises."""
    if comparison.promises:
        shown = [one for one in comparison.promises if one.client is not None or one.epsilon is not None]
        others = [one for one in comparison.promises if one not in shown]
        lines = [f"{one.method}: none; {one.why_not}." for one in others]
        if len(shown) > MOST:
            lines.append(f"{len(shown) - MOST} more rows are in --csv FILE and --json.")
        lines += dict.fromkeys(f"At T {one.theorem} promises {one.promise}." for one in shown if not one.why_not)
        lines.append("tau = min{t: e_t < eps}. The client `mean` stands for the mean over clients.")
        return [
            Table.of(RECORDS, shown[:MOST], title="Records compared: what each promises these constants", lines=lines)
        ]
    tables = []
    for key, methods in comparison.precisions.items():
        at = key if isinstance(key, str) else f"{key:.3g}"
        usual = str(comparison.prices) == ROUNDS and len({one.batch for one in methods}) == 1
        columns = [one for one in COLUMNS if not (usual and one.head in ("batch", "cost"))]
        lines = [
            f"Iterations until the mean excess over sites is at most {at}{OF[comparison.epsilon_of[key]]}; sites: at "
            "their own precision then. In brackets: measured, two standard errors.",
            f"vectors: to and from all sites; by cost: {comparison.prices}; matrix: times a site's, as planned."
            + (f" {100 * comparison.participation:g} % of the sites take part in a round, where a server draws them."
               if comparison.participation < 1 else ""),
            *_theorems(methods),
            *dict.fromkeys(f"{one.name}: {one.time.why_not}." for one in methods if one.excess is None),
        ]  # fmt: skip
        title = f"Methods at their best steps, precision {at}"
        tables.append(replace(Table.of(columns, methods, title=title, lines=lines), named=("method",)))
    return tables


def _theorems(methods: Any) -> list[str]:
    found: dict[str, list[str]] = {}
    for one in methods:
        if one.promise is None:
            said = f"none ({one.covered})"
        else:
            T = "" if one.promise.rounds is None else f", T <= {number(one.promise.rounds, 4)} at the slowest site"
            said = f"{one.promise.theorem} at step {number(one.promise.eta)}{T}"
        names = found.setdefault(said, [])
        if one.name not in names:
            names.append(one.name)
    return [f"Theorem for {', '.join(names)}: {said}." for said, names in found.items()]


def write_methods(path: Path, comparison: Any) -> Path:
    """One line for each method and precision, or for each promise."""
    entries = comparison.to_dict()
    lines = entries["promises"] or entries["methods"]
    heads = list(lines[0])
    make_folder(path.parent, "csv")
    cells = [[_flat(line[head]) for head in heads] for line in lines]
    return write_whole(path, csv_text([heads, *cells]).encode())


def _flat(value: Any) -> Any:
    return "; ".join("" if one is None else str(one) for one in value) if isinstance(value, list) else value
