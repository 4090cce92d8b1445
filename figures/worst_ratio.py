"""Worst ratio of every claim of a campaign: how sharp each bound was seen to be."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from bounds import InputError

from .figure import Figure
from .style import BLUE, COLUMN_WIDTH, VERMILION


def worst_ratios(name: str, rows: Sequence[dict[str, Any]]) -> Figure:
    """`rows` as `verify.campaign.summary` gives them; claims without counted instances are left out."""
    began = time.perf_counter()
    kept = [row for row in rows if row["worst_ratio"] is not None]
    if not kept:
        raise InputError("campaign", name, "no claim has results yet")
    data = {
        f"{row['key']} ({row['edition']})": {
            "instances": np.array([float(row["instances"])]),
            "worst_ratio": np.array([row["worst_ratio"]]),
        }
        for row in kept
    }
    return Figure(
        name=f"{name}-worst-ratios",
        edition="stated",
        title="Worst measured/bound per claim",
        data=data,
        units={"instances": "1", "worst_ratio": "1"},
        setup={"campaign": name},
        seconds=time.perf_counter() - began,
        draw=_draw,
    )


def _draw(figure: Figure, canvas: Any) -> None:
    names = list(figure.data)
    ratio = np.array([figure.data[label]["worst_ratio"][0] for label in names])
    canvas.set_size_inches(2 * COLUMN_WIDTH, 0.6 + 0.14 * len(names))
    axes = canvas.subplots()
    at = np.arange(len(names))[::-1]
    shown = np.clip(ratio, 1e-3, 1e3)
    axes.axvline(1, color="black", linewidth=0.8)
    holds = ratio <= 1 + 1e-9
    axes.plot(shown[holds], at[holds], "o", color=BLUE, markersize=3, label="bound respected")
    if not holds.all():
        axes.plot(shown[~holds], at[~holds], "X", color=VERMILION, markersize=4, label="bound exceeded")
    axes.set_xscale("log")
    axes.set_yticks(at, names, fontsize=5)
    axes.set_ylim(-1, len(names))
    axes.set_xlabel("worst measured / bound over all instances")
    axes.legend(loc="lower left")
