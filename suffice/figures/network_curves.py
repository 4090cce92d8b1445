"""adaptive-3-networks, cobo-2, scafflix-2 and scafflix-3: accuracies of networks on held-back rows, from kept results.

The splits, sizes and what differs from the papers are in docs/networks.md; what is drawn here is the mean of the runs
over seeds with its standard error, kept as CSV in `networks`: `python -m benchmarks comparison --write
suffice/figures/networks` renews it, which takes much longer than drawing.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from .adaptive_2 import BROWN, LOOKS
from .figure import SEPARATOR, Figure, joined
from .maker import maker
from .style import BLACK, BLUE, COLUMN_WIDTH, GREEN, ORANGE, PURPLE, SKY, VERMILION, headline

UNITS = {
    "iteration": "count",
    "round": "rounds of communication so far, mean over seeds",
    "accuracy": "per cent of held-back rows, mean over clients and seeds",
    "accuracy_se": "per cent, standard error of that mean",
}
KEPT: Any = {
    "differs": "Networks, data and runs are smaller than the paper's, so that a processor does them in minutes: "
    "Fashion-MNIST, or plays by speaking role, stand for data that were not at hand. docs/networks.md says how.",
    "unpublished": "its numbers are those of docs/networks.md, which are of one edition",
}
MORE: Mapping[str, tuple[str, Any]] = {
    "Fine-tuned FedAvg": (GREEN, ":"),
    "Ditto, pull=0.1": (BROWN, ":"),
    "IFCA": (SKY, (0, (4, 1))),
    "FC": (PURPLE, ":"),
    "CoBo, constant": LOOKS["CoBo"],
    "FLIX": (VERMILION, "--"),
    "Scafflix": (BLUE, "-"),
}
SEVERAL = ((BLUE, "-"), (VERMILION, (0, (6, 1))), (GREEN, (0, (3, 1))), (ORANGE, (0, (5, 1, 1, 1))), (BLACK, ":"))
MARKERS = "os^Dv"
"""The markers of the curves of one rule with several values of its number."""


@cache
def saved_results(name: str) -> tuple[Mapping[str, str], ...]:
    """The rows of ends, curves or weights, as texts."""
    text = files("suffice.figures").joinpath(f"networks/{name}.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


def columns_of(name: str, wanted: tuple[str, ...], **where: Any) -> dict[str, np.ndarray]:
    """Columns of the rows whose cells are those of `where`."""
    rows = [row for row in saved_results(name) if all(row[key] == str(value) for key, value in where.items())]
    return {column: np.array([float(row[column] or "nan") for row in rows]) for column in wanted}


def rules_of(name: str, comparison: str) -> list[str]:
    """The rules of a comparison, in the order of the file."""
    return list(dict.fromkeys(row["rule"] for row in saved_results(name) if row["comparison"] == comparison))


def _content(title: str, panels: Mapping[str, tuple[str, Mapping[str, str]]], across: str) -> Figure:
    """panels: of each title a comparison, and its rules with their words; those without results are left out."""
    panels = {panel: pair for panel, pair in panels.items() if rules_of("curves", pair[0])}
    comparisons = {panel: comparison for panel, (comparison, _) in panels.items()}
    seeds = min(int(row["seeds"]) for row in saved_results("ends") if row["comparison"] in comparisons.values())
    return Figure(
        title=title,
        data={
            joined(panel, words): columns_of("curves", tuple(UNITS), comparison=comparison, rule=rule)
            for panel, (comparison, rules) in panels.items()
            for rule, words in rules.items()
        },
        units=UNITS,
        setup={"across": across, "comparisons": comparisons, "runs": seeds},
        keys=("panel", "rule"),
    )


def _all(comparison: str, *without: str) -> tuple[str, dict[str, str]]:
    return comparison, {rule: rule for rule in rules_of("curves", comparison) if rule not in without}


@maker("adaptive-3-networks", "Figure 3 of adaptive, networks: accuracies on MNIST and Fashion-MNIST", **KEPT)
def adaptive() -> Figure:
    panels = {"MNIST": _all("adaptive-mnist"), "Fashion-MNIST": _all("adaptive-fashion")}
    return _content("Networks of 20 clients in two clusters of classes: accuracy", panels, "iteration")


@maker("cobo-2", "Figures 2b and 6 of cobo: accuracies of networks in clusters", **KEPT)
def cobo() -> Figure:
    rest = ("CoBo, none", "CoBo, time", "CoBo, mixed")
    panels = {"8 clients": _all("cobo-silo", *rest), "80 clients": _all("cobo-devices", *rest)}
    return _content("Networks of clients in clusters: accuracy", panels, "iteration")


@maker("scafflix-2", "Figure 2 of scafflix: Scafflix, FLIX and FedAvg against rounds", **KEPT)
def scafflix_beside_others() -> Figure:
    def rules(alpha: str) -> dict[str, str]:
        return {"FedAvg": "FedAvg", f"FLIX, alpha={alpha}": "FLIX", f"Scafflix, alpha={alpha} p=0.2": "Scafflix"}

    fashion, plays = ("scafflix-fashion", rules("0.1")), ("scafflix-plays", rules("0.3"))
    panels = {"Fashion-MNIST, alpha = 0.1": fashion, "Plays, alpha = 0.3": plays}
    return _content("Scafflix beside FLIX and FedAvg: accuracy against rounds", panels, "round")


@maker("scafflix-3", "Figure 3 of scafflix: personalisation, clients in a round, communication", **KEPT)
def scafflix_numbers() -> Figure:
    own = "scafflix-fashion"
    panels = {
        "alpha": (own, {f"Scafflix, alpha={a} p=0.2": f"alpha = {a}" for a in (0.1, 0.3, 0.5, 0.7, 0.9)}),
        "clients a round": (own, {f"Scafflix, alpha=0.3 p=0.2 tau={n}": f"tau = {n}" for n in (1, 5, 10, 20)}),
        "p": (own, {f"Scafflix, alpha=0.3 p={p}": f"p = {p}" for p in (0.1, 0.2, 0.5)}),
    }
    return _content("Scafflix with other alpha, clients in a round and p: accuracy", panels, "round")


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: a panel for each split, lines with bands of two standard errors."""
    panels, across, best = figure.setup["comparisons"], figure.setup["across"], []
    most = max(sum(name.startswith(panel) for name in figure.data) for panel in panels)
    canvas.set_size_inches(2 * COLUMN_WIDTH, 3.0 + 0.15 * (most if len(panels) > 2 else (most + 1) // 2))
    for axes, panel in zip(canvas.subplots(1, len(panels), squeeze=False)[0], panels):
        own = {name.split(SEPARATOR)[1]: curve for name, curve in figure.data.items() if name.startswith(panel)}
        last = {rule.removesuffix(", constant"): curve["accuracy"][-1] for rule, curve in own.items()}
        for at, ((rule, curve), label) in enumerate(zip(own.items(), last)):
            known = {**LOOKS, **MORE}
            colour, line = known[rule] if rule in known else SEVERAL[at]
            x, y, error = (curve[column] for column in (across, "accuracy", "accuracy_se"))
            marks = {} if rule in known else {"marker": MARKERS[at], "markevery": (at, 5)}  # tell them apart in grey
            axes.plot(x, y, color=colour, linestyle=line, label=label, **marks)
            axes.fill_between(x, y - 2 * error, y + 2 * error, color=colour, alpha=0.12, linewidth=0)
        lowest, highest = min(last.values()), max(np.nanmax(curve["accuracy"]) for curve in own.values())
        axes.set_ylim(max(0, lowest - 0.5 * (highest - lowest) - 2), highest + 1)
        axes.set_title(panel, loc="left")
        axes.set_xlabel("rounds of communication" if across == "round" else "iteration")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=2 if len(panels) < 3 else 1)
        last.pop("Oracle", None)  # it was told the clusters
        ahead = max(last, key=last.__getitem__)
        best.append(f"{ahead} ({panel.partition(',')[0]}, {last[ahead]:.1f} %)")
    canvas.axes[0].set_ylabel("accuracy in per cent")
    words = f"Lines are means over clients and {figure.setup['runs']} seeds, and bands are two standard errors"
    told = " without being told the clusters" * any(name.endswith("Oracle") for name in figure.data)
    headline(canvas, f"What ends best{told}: {', '.join(best)}", words)
