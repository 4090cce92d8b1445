"""The results of a campaign as one tidy table; the worst ratio of every claim, and where simulations ended."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Sequence
from typing import Any

from suffice.support.tables import ratio_text
from suffice.support.text import csv_text

from .definition import Campaign
from .folder import Folder


def table(campaign: Campaign) -> str:
    """One CSV row per finished cell, in the order of the definition; nested results as JSON in their column."""
    folder = Folder(path=campaign.out)
    rows = [cell | result for cell in campaign.cells if (result := folder.result(cell)) is not None]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return csv_text([columns, *([_flat(row.get(name)) for name in columns] for row in rows)])


def summary(campaign: Campaign) -> list[dict[str, Any]]:
    """Per claim, in the order of the definition: instances, and the worst ratio over all cells with its instance.

    `median_ratio` is the median over the sharpness cells of their medians: what a random instance shows. Ratios are
    measured/bound, inverted for lower bounds; None where no instance met the hypotheses.
    """
    folder = Folder(path=campaign.out)
    found: dict[tuple[str, str], dict[str, Any]] = {}
    medians: dict[tuple[str, str], list[float]] = {}
    for cell in campaign.cells:
        result = None if cell["kind"] == "simulate" else folder.result(cell)
        if result is None:
            continue
        claim = (cell["key"], cell["edition"])
        nothing = {"instances": 0, "worst_ratio": None, "median_ratio": None, "instance": {}}
        row = found.setdefault(claim, dict(zip(("key", "edition"), claim)) | nothing)
        row["instances"] += result["instances"]
        ratio, median = result["worst_ratio"], result.get("median_ratio")
        if ratio is not None and (row["worst_ratio"] is None or ratio > row["worst_ratio"]):
            row["worst_ratio"], row["instance"] = ratio, result["instance"]
        if median is not None:
            medians.setdefault(claim, []).append(median)
            row["median_ratio"] = statistics.median(medians[claim])
    return list(found.values())


def simulations(campaign: Campaign) -> list[dict[str, Any]]:
    """Per problem and algorithm of the finished simulation cells: how many, and the range of their final mean excess.

    `lowest` and `highest` are None where no cell has a finite one.
    """
    folder = Folder(path=campaign.out)
    found: dict[tuple[str, str], list[float | None]] = {}
    for cell in campaign.cells:
        result = folder.result(cell) if cell["kind"] == "simulate" else None
        if result is not None:
            found.setdefault((cell["problem"], cell["algorithm"]), []).append(result["final_excess"])
    rows = []
    for (problem, algorithm), values in found.items():
        finite = [value for value in values if value is not None and math.isfinite(value)]
        ends = {"lowest": min(finite, default=None), "highest": max(finite, default=None)}
        rows.append({"problem": problem, "algorithm": algorithm, "cells": len(values)} | ends)
    return rows


def report(campaign: Campaign) -> str:
    """What is there of a campaign as Markdown: `summary` and `simulations`, or a line where no cell is finished."""
    claims, simulated = summary(campaign), simulations(campaign)
    parts = [markdown(claims)] if claims else []
    if simulated:
        lines = [
            "| problem | algorithm | cells | final mean excess, lowest | highest |",
            "|---|---|--:|--:|--:|",
        ]
        for row in simulated:
            ends = f"{_short(row['lowest'])} | {_short(row['highest'])}"
            lines.append(f"| {row['problem']} | {row['algorithm']} | {row['cells']} | {ends} |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts) or f"No cell of {len(campaign.cells)} is finished.\n"


def markdown(rows: Sequence[dict[str, Any]]) -> str:
    """`summary` as a Markdown table: the instance by its named parameters."""
    lines = ["| claim | instances | worst | median | worst instance |", "|---|--:|--:|--:|---|"]
    for row in rows:
        name = f"`{row['key']}`" + ("" if row["edition"] == "corrected" else f" ({row['edition']})")
        worst = "-" if row["worst_ratio"] is None else ratio_text(row["worst_ratio"], 6)
        numbers = [f"{row['instances']:,}", worst, _short(row["median_ratio"])]
        at = [f"{key} = {_short(value)}" for key, value in row["instance"].items() if isinstance(value, float)]
        lines.append(f"| {name} | {' | '.join(numbers)} | {', '.join(at)} |")
    return "\n".join(lines) + "\n"


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _flat(value: Any) -> Any:
    return json.dumps(value, sort_keys=True) if isinstance(value, (dict, list)) else value
