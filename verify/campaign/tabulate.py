"""The results of a campaign as one tidy table, and the worst ratio of every claim."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from .definition import Campaign
from .folder import Folder


def table(campaign: Campaign) -> str:
    """One CSV row per finished cell, in the order of the definition; nested results as JSON in their column."""
    folder = Folder(path=campaign.out)
    rows = [cell | folder.result(cell) for cell in campaign.cells if folder.done(cell)]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_text(row.get(name)) for name in columns])
    return out.getvalue()


def summary(campaign: Campaign) -> list[dict[str, Any]]:
    """Per claim, in the order of the definition: instances, and the worst ratio over all cells with its instance."""
    folder = Folder(path=campaign.out)
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for cell in campaign.cells:
        if cell["kind"] == "simulate" or not folder.done(cell):
            continue
        result = folder.result(cell)
        row = found.setdefault(
            (cell["key"], cell["edition"]),
            {"key": cell["key"], "edition": cell["edition"], "instances": 0, "worst_ratio": None, "instance": {}},
        )
        row["instances"] += result["instances"]
        ratio = result["worst_ratio"]
        if ratio is not None and (row["worst_ratio"] is None or ratio > row["worst_ratio"]):
            row["worst_ratio"], row["instance"] = ratio, result["instance"]
    return list(found.values())


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, sort_keys=True) if isinstance(value, (dict, list)) else str(value)
