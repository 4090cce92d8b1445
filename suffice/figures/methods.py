"""The figure of methods compared: the rounds that each needs at each precision."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from suffice.planning.methods import MERGED
from suffice.support.errors import InputError

from .figure import SEPARATOR, Figure
from .style import BLACK, SMALL, headline

ALONE = "Local"
"""It has no rounds."""
MARKS = (("o", BLACK), ("s", "white"), ("D", "0.6"), ("^", BLACK), ("v", "white"), ("P", "0.6"))
"""Shape and filling by precision, told apart without colours."""


def methods_figure(compared: Any) -> Figure:
    """Of a `Comparison` of methods on a problem. Raises `InputError` where it is of constants alone."""
    if not compared.precisions:
        raise InputError("plot", "constants", "a picture of methods needs a problem or data; use --csv for the records")
    began = time.perf_counter()
    shown = {key: [one for one in there if one.name != ALONE] for key, there in compared.precisions.items()}
    data, names = {}, list(dict.fromkeys(_name(one) for there in shown.values() for one in there))
    for key, there in shown.items():
        for one in there:
            ends = [one.time.value, *one.time.error]
            each = one.spent.rounds / one.time.value if one.spent and one.time.value else np.nan
            rounds, low, high = (np.nan if end is None else end * each for end in ends)
            data[f"{key}{SEPARATOR}{_name(one)}"] = {
                "rounds": np.array([rounds]), "low": np.array([low]), "high": np.array([high])
            }  # fmt: skip
    return Figure(
        name="methods",
        edition="stated",
        title=_message(shown),
        data=data,
        units=dict.fromkeys(("rounds", "low", "high"), "count"),
        setup={"names": names, "precisions": list(map(str, compared.precisions)),
               "participation": compared.participation},
        seconds=time.perf_counter() - began,
        draw=_draw,
        keys=("epsilon", "method"),
    )  # fmt: skip


def _name(method: Any) -> str:
    """Methods that are shown at the cheapest of their settings have one line for all precisions."""
    return method.name if method.name in MERGED else ", ".join(filter(None, (method.name, method.setting)))


def _message(shown: Mapping[float | str, Sequence[Any]]) -> str:
    """The method of fewest rounds at the last precision at which any arrives."""
    for key, there in list(shown.items())[::-1]:
        arrived = [one for one in there if one.time.value is not None and one.spent is not None]
        if arrived:
            best = min(arrived, key=lambda one: one.spent.rounds)
            at = key if isinstance(key, str) else f"{key:.3g}"
            name = f"{best.name} ({best.setting})" if best.setting else best.name
            return f"{name} needs the fewest rounds, {best.spent.rounds:.0f}, at precision {at}"
    return "No method arrives at any of these precisions"


def _draw(figure: Figure, canvas: Any) -> None:
    names, precisions = figure.setup["names"], figure.setup["precisions"]
    canvas.set_size_inches(5.4, 1.3 + 0.2 * len(names))
    axes = canvas.subplots()
    spread = 0.5 / max(len(precisions), 1)
    found = [float(curve["rounds"][0]) for curve in figure.data.values()]
    most = np.nanmax([1.0, *found])
    for at, name in enumerate(names):
        axes.axhline(at, color="0.9", linewidth=0.6, zorder=0)
        for j, key in enumerate(precisions):
            curve = figure.data.get(f"{key}{SEPARATOR}{name}")
            if curve is None:
                continue
            y, (shape, filling) = at + spread * (j - (len(precisions) - 1) / 2), MARKS[j % len(MARKS)]
            rounds, low, high = (float(curve[part][0]) for part in ("rounds", "low", "high"))
            if np.isnan(rounds):
                axes.plot(3 * most, y, marker="x", color="0.45", markersize=3.5, linestyle="none")
                continue
            if low < high:
                axes.plot([low, high], [y, y], color=BLACK, linewidth=0.8, zorder=1)
            axes.plot(rounds, y, marker=shape, markerfacecolor=filling, markeredgecolor=BLACK, markersize=4, zorder=2)
    for j, key in enumerate(precisions):
        shape, filling = MARKS[j % len(MARKS)]
        axes.plot([], [], marker=shape, markerfacecolor=filling, markeredgecolor=BLACK, linestyle="none", label=key)
    if np.isnan(found).any():
        axes.plot([], [], marker="x", color="0.45", linestyle="none", label="never")
    axes.set_xscale("log")
    axes.set_yticks(range(len(names)), names, fontsize=SMALL)
    axes.set_ylim(len(names) - 0.5, -0.5)
    label = "rounds until the mean excess over sites is at the precision (sites alone have none)"
    axes.set_xlabel(label, fontsize=SMALL)
    axes.legend(fontsize=SMALL, ncols=len(precisions) + 1, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    share = figure.setup["participation"]
    taking = "" if share == 1 else f" {100 * share:g} % of the sites take part in a round, where a server draws them."
    headline(canvas, f"{figure.title}.", f"Each method is at its best step; lines are two standard errors.{taking}")
