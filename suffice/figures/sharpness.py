"""sharpness: measured/bound of every theorem over random instances, the worst and the median one.

A ratio of 1 is attained; above 1 the bound is violated. Random draws alone, without the instances made to be sharp
and without the searches of `suffice verify`: what a bound gives away where nobody looked for its edge. Claims that say
"at least" show bound/measured. `worst_ratios` draws the results of any campaign.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.support.errors import InputError

from .figure import Content, Figure
from .maker import Progress, maker
from .style import BLACK, BLUE, COLUMN_WIDTH, SKY, SMALL, VERMILION

LEAST = 1e-3
"""Smaller ratios are drawn at the left edge, as arrows."""
ROW = 0.112
"""Each claim takes so many inches."""


@maker("sharpness", "worst and median measured/bound of each claim")
def sharpness(*, instances: int = 100, progress: Progress) -> Content:
    """The corrected statements on `instances` random draws per family."""
    from suffice.verification.campaign import sharpness_of
    from suffice.verification.claims import all_claims

    theorems = [claim.theorem for claim in all_claims()]
    keys = [theorem.key for theorem in theorems if theorem.edition == "corrected" and not theorem.superseded_by]
    rows = []
    for done, key in enumerate(keys):
        rows.append({"key": key, "edition": "corrected"} | sharpness_of(key, instances=instances))
        progress(done + 1, len(keys))
    return _content(rows, {"instances per family": instances})


def worst_ratios(name: str, rows: Sequence[dict[str, Any]]) -> Figure:
    """`rows` as `suffice.verification.campaign.summary` gives them; claims without counted instances are left out."""
    content = _content(rows, {"campaign": name})
    return Figure(**vars(content), name=f"{name}-sharpness", edition="stated", seconds=0.0, draw=draw)


def _content(rows: Sequence[dict[str, Any]], setup: dict[str, Any]) -> Content:
    kept = [row for row in rows if row["worst_ratio"] is not None]
    if not kept:
        raise InputError("campaign", setup.get("campaign", "none"), "no claim has results yet; run the campaign first")
    data = {
        row["key"] + ("" if row["edition"] == "corrected" else f" ({row['edition']})"): {
            "instances": np.array([float(row["instances"])]),
            "worst_ratio": np.array([row["worst_ratio"]]),
            "median_ratio": np.array([math.nan if row["median_ratio"] is None else row["median_ratio"]]),
        }
        for row in kept
    }
    return Content(
        title="Worst and median measured/bound per claim",
        data=data,
        units={"instances": "count", "worst_ratio": "measured/bound", "median_ratio": "measured/bound"},
        setup=setup,
        keys=("theorem",),
    )


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: two columns of claims, paper by paper."""
    from matplotlib.ticker import FuncFormatter

    columns = two_columns(list(figure.data))
    rows = max(map(len, columns))
    canvas.set_size_inches(2 * COLUMN_WIDTH, 0.8 + ROW * rows)
    panels = canvas.subplots(1, len(columns), squeeze=False)[0]
    for axes, lines in zip(panels, columns):
        worst = np.array([figure.data[key]["worst_ratio"][0] if key else np.nan for key, _ in lines])
        median = np.array([figure.data[key]["median_ratio"][0] if key else np.nan for key, _ in lines])
        at = -np.arange(len(lines))
        fits = worst <= 1 + 1e-9
        low, high = np.clip(median, LEAST, 1e3), np.clip(worst, LEAST, 1e3)
        axes.axvline(1, color=BLACK, linewidth=0.8)
        axes.hlines(at, low, high, color=SKY, linewidth=0.8)
        beyond = median < LEAST
        axes.plot(low[~beyond], at[~beyond], "|", color=BLUE, markersize=4, label="median")
        if beyond.any():
            axes.plot(low[beyond], at[beyond], "<", color=BLUE, markersize=3, label=f"median below {LEAST:g}")
        fits &= worst >= LEAST
        axes.plot(high[fits], at[fits], "o", color=BLUE, markersize=2.5, label="worst (none: below too)")
        if (above := worst > 1 + 1e-9).any():
            axes.plot(high[above], at[above], "X", color=VERMILION, markersize=4, label="exceeded")
        axes.set_xscale("log")
        axes.set_xlim(LEAST * 0.8, max(1.6, 1.3 * float(np.nanmax(high))))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        label_rows(axes, lines, rows)
    entries = {label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels())}
    canvas.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=4)


def label_rows(axes: Any, lines: Sequence[tuple[str, str]], rows: int) -> None:
    """Labels of (key, label) down the side, at 0, -1, ... of as many `rows`; headings are bold."""
    axes.set_ylim(-rows + 0.4, 0.6)
    axes.set_yticks(-np.arange(len(lines)), [text for _, text in lines], fontsize=SMALL)
    axes.tick_params(axis="y", length=0, pad=1)
    axes.margins(y=0)
    for label, (key, _) in zip(axes.get_yticklabels(), lines):
        label.set_fontweight("normal" if key else "bold")
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("measured / bound")


def two_columns(keys: list[str]) -> list[list[tuple[str, str]]]:
    """(key, label) line by line, a heading (no key) per paper; a paper stays whole in one of at most two columns."""
    papers: dict[str, list[tuple[str, str]]] = {}
    for key in keys:
        paper, _, result = key.partition("/")
        papers.setdefault(paper, [("", paper)]).append((key, result))
    blocks = list(papers.values())
    if len(keys) < 20 or len(blocks) == 1:
        return [[line for block in blocks for line in block]]
    cut = min(range(1, len(blocks)), key=lambda at: max(sum(map(len, blocks[:at])), sum(map(len, blocks[at:]))))
    return [[line for block in part for line in block] for part in (blocks[:cut], blocks[cut:])]
