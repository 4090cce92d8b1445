"""bound-against-measured-all: every corrected theorem that a claim checks, sharp beside ill-conditioned instances.

Each row is one theorem. The filled mark is the largest measured/bound (bound/measured for lower bounds) over the
claim's sharp instances, chosen because the bound is nearly attained there; the open mark is the median over its random
instances, the bar their range. Where a theorem takes mu and beta, the random instances are those with a condition
number beta/mu of at least 10; elsewhere all of them. Only instances that meet the hypotheses count. They are those of
`suffice verify`, without its search and its engines of other kinds: worst ratios there are at least as large.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.support.errors import InputError

from .figure import Content, Figure
from .maker import Progress, maker
from .style import BLUE, COLUMN_WIDTH, SMALL, VERMILION, headline

if TYPE_CHECKING:
    from suffice.verification import Claim, Evidence

CONDITION = 10.0
ROW = 0.112
"""Each theorem takes so many inches."""
LEAST = 1e-4
"""Smaller ratios are drawn at the edge, as arrows."""
COLUMNS = ("sharp", "sharp_instances", "low", "median", "high", "instances", "conditioned")


@maker("bound-against-measured-all", "measured over bound for every theorem")
def all_bounds(*, draws: int = 96, keys: tuple[str, ...] = (), progress: Progress) -> Content:
    """keys: some theorems (all when empty); draws: per family."""
    from suffice.verification.claims import all_claims

    claims = [claim for claim in all_claims() if claim.theorem.guarantee and not claim.theorem.superseded_by]
    claims = [claim for claim in claims if claim.families and (not keys or claim.theorem.key in keys)]
    data: dict[str, dict[str, np.ndarray]] = {}
    for done, claim in enumerate(claims):
        row = _row(claim, draws)
        if row is not None:
            data[claim.theorem.key] = {column: np.array([value]) for column, value in zip(COLUMNS, row)}
        progress(done + 1, len(claims))
    if not data:
        raise InputError("keys", list(keys), "no corrected claim of this name measures instances")
    return Content(
        title="Measured over bound for every theorem, sharp and ill-conditioned",
        data=data,
        units={
            "sharp": "1, largest ratio over sharp instances; NaN if there are none",
            "sharp_instances": "count",
            "low": "1, least ratio over random instances",
            "median": "1, median over random instances",
            "high": "1, largest ratio over random instances",
            "instances": "count, random instances",
            "conditioned": f"1 if these have beta/mu >= {CONDITION:g}",
        },
        setup={"draws_per_family": draws, "seed": 0, "condition": CONDITION},
        keys=("theorem",),
    )


def _row(claim: Claim, draws: int) -> tuple[float, ...] | None:
    """Values of `COLUMNS`; None where no instance met the hypotheses."""
    sharp, ordinary, stiff = [np.empty(0)], [np.empty(0)], [np.empty(0)]
    takes = {parameter.name for parameter in claim.theorem.parameters}
    for family in claim.families:
        if family.sharp is not None:
            sharp.append(_ratios(claim, family.evidence(family.sharp()))[0])
        ratios, condition = _ratios(claim, family.evidence(family.draw(draws, seed=0)))
        ordinary.append(ratios)
        stiff.append(ratios[condition >= CONDITION])
    best, drawn, conditioned = (np.concatenate(parts) for parts in (sharp, ordinary, stiff))
    by_condition = {"mu", "beta"} <= takes and len(conditioned) > 0
    drawn = conditioned if by_condition else drawn
    if len(best) + len(drawn) == 0:
        return None
    spread = (drawn.min(), np.median(drawn), drawn.max()) if len(drawn) else (np.nan,) * 3
    most = best.max() if len(best) else np.nan
    return (*map(float, (most, len(best), *spread, len(drawn), by_condition)),)


def _ratios(claim: Claim, evidence: Evidence) -> tuple[np.ndarray, np.ndarray]:
    """Ratio and condition number (0 if unknown) of the instances that met the hypotheses."""
    counted = evidence.counted(claim.theorem)
    condition = np.zeros(counted.shape)
    if {"mu", "beta"} <= set(evidence.arguments):
        with np.errstate(divide="ignore"):
            condition = np.broadcast_to(evidence.arguments["beta"] / evidence.arguments["mu"], counted.shape)
    return evidence.ratio(claim.theorem)[counted], condition[counted]


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: two columns of rows."""
    columns = two_columns(list(figure.data))
    rows = max(map(len, columns))
    canvas.set_size_inches(2 * COLUMN_WIDTH, 1.4 + ROW * rows)
    panels = canvas.subplots(1, len(columns), squeeze=False)[0]
    for axes, lines in zip(panels, columns):
        none = {column: [np.nan] for column in COLUMNS}  # a heading
        shown = [figure.data.get(name, none) for name, _ in lines]
        row = {column: np.array([float(each[column][0]) for each in shown]) for column in COLUMNS}
        at = -np.arange(len(lines))
        axes.hlines(at, np.maximum(row["low"], LEAST), row["high"], color=VERMILION, linewidth=0.9, alpha=0.7)
        for shape, stiff in (("s", True), ("o", False)):
            these = (row["median"] > LEAST) & ((row["conditioned"] > 0) == stiff)
            axes.plot(row["median"][these], at[these], shape, color=VERMILION, markerfacecolor="white", markersize=3,
                      markeredgewidth=0.8)  # fmt: skip
        under = row["low"] < LEAST
        axes.plot(np.full(under.sum(), LEAST), at[under], "<", color=VERMILION, markersize=3)
        axes.plot(row["sharp"], at, "o", color=BLUE, markersize=2.6)
        axes.axvline(1, color="black", linewidth=0.7)
        axes.set_xscale("log")
        axes.set_xlim(LEAST / 1.3, 1.6)
        label_rows(axes, lines, rows)
    blank = panels[0]
    handles = [
        blank.plot([], [], "o", color=BLUE, markersize=2.6)[0],
        blank.plot([], [], "s-", color=VERMILION, markerfacecolor="white", markersize=3)[0],
        blank.plot([], [], "o-", color=VERMILION, markerfacecolor="white", markersize=3)[0],
        blank.plot([], [], "<", color=VERMILION, markersize=3)[0],
    ]
    stiff = rf"$\beta/\mu \geq {figure.setup['condition']:g}$: median, range"
    words = ["sharp instance", stiff, "random: median, range", f"range below {LEAST:g} (no median: it too)"]
    canvas.legend(handles, words, loc="outside lower center", ncols=4, handlelength=1.6, columnspacing=1.0)
    best = [curve["sharp"][0] for curve in figure.data.values() if np.isfinite(curve["sharp"][0])]
    near = sum(ratio > 0.99 for ratio in best)
    message = f"{near} of the {len(best)} bounds with a sharp instance are attained there to 1 %"
    headline(
        canvas,
        message,
        "A bound that is attained at 1 cannot be improved there; a random instance says what it gives away",
    )


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
