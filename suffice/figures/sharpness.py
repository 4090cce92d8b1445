"""sharpness: measured/bound of every theorem over random instances, the worst and the median one.

A ratio of 1 is attained; above 1 the bound is violated. Random draws alone, without the instances made to be sharp
and without the searches of `suffice verify`: what a bound gives away where nobody looked for its edge. Claims that say
"at least" show bound/measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .figure import Figure
from .maker import Progress, maker
from .setting import option
from .style import BLACK, BLUE, COLUMN_WIDTH, SKY, SMALL, VERMILION, headline

LEAST = 1e-3
"""Smaller ratios are drawn at the left edge, as arrows."""
ROWS = 10
"""So many claims are shown, or all that are exceeded."""


@maker("sharpness", "worst and median measured/bound of each claim")
def sharpness(
    *,
    instances: int = option("random draws of each family of a corrected statement", default=100),
    progress: Progress,
) -> Figure:
    from suffice.verification.campaign.cells import sharpness as computed
    from suffice.verification.claims import all_claims

    theorems = [claim.theorem for claim in all_claims()]
    keys = [theorem.key for theorem in theorems if theorem.edition == "corrected" and not theorem.superseded_by]
    rows = []
    for done, key in enumerate(keys, 1):
        rows.append({"key": key, "edition": "corrected"} | computed(key=key, instances=instances, root=0))
        progress(done, len(keys))
    return _content(rows, {"instances per family": instances})


def _content(rows: Sequence[dict[str, Any]], setup: dict[str, Any]) -> Figure:
    units = {"instances": "count", "worst_ratio": "measured/bound", "median_ratio": "measured/bound"}
    data = {
        row["key"] + ("" if row["edition"] == "corrected" else f" ({row['edition']})"): {
            column: np.array([row[column]], dtype=float) for column in units
        }
        for row in rows
        if row["worst_ratio"] is not None
    }
    return Figure(
        title="Worst and median measured/bound per claim", data=data, units=units, setup=setup, keys=("theorem",)
    )


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: claims that are exceeded, then those that no instance comes near."""
    worst = {key: float(curve["worst_ratio"][0]) for key, curve in figure.data.items()}
    above = [key for key in worst if worst[key] > 1 + 1e-9]
    keys = sorted(worst, key=lambda key: (key not in above, worst[key]))[: max(ROWS, len(above))]
    labels = [key if len(key) < 40 else key.replace("/", "/\n") for key in keys]  # a long one has two lines
    canvas.set_size_inches(2 * COLUMN_WIDTH, 1.4 + (0.3 if "\n" in "".join(labels) else 0.19) * len(keys))
    axes = canvas.subplots()
    at = -np.arange(len(keys))
    median = np.array([figure.data[key]["median_ratio"][0] for key in keys])
    low, high = np.clip(median, LEAST, 1e3), np.clip([worst[key] for key in keys], LEAST, 1e3)
    axes.axvline(1, color=BLACK, linewidth=0.8)
    axes.hlines(at, low, high, color=SKY, linewidth=1)
    beyond, broken = median < LEAST, np.isin(keys, above)
    for x, some, mark, label, colour in (
        (low, ~beyond, "|", "median instance", BLUE),
        (low, beyond, "<", f"median below {LEAST:g}", BLUE),
        (high, ~broken & (high > LEAST), "o", "worst instance", BLUE),
        (high, broken, "X", "exceeded", VERMILION),
    ):
        if some.any():
            axes.plot(x[some], at[some], mark, color=colour, label=label, markersize=6 if mark == "|" else None)
    axes.set(xscale="log", xlim=(LEAST * 0.8, max(1.6, 1.3 * float(np.nanmax(high)))))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_yticks(at, labels, fontsize=SMALL)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("measured / bound (1: the bound is attained)")
    near = sum(abs(ratio - 1) < 0.01 for ratio in worst.values())
    message = f"{near} of {len(worst)} bounds are attained to 1 % by random instances"
    message += f", {len(above)} exceeded" if above else ""
    words = f"The {len(keys)} that stay furthest below are shown. An arrow goes on to the left; the CSV has all of them"
    headline(canvas, message, words)
    canvas.legend(loc="outside lower center", ncols=4)
