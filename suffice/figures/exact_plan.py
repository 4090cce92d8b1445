"""The figure of exact and measured plans: every client's expected excess, whose gradients it uses."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from suffice.planning.client_plan import ClientPlan, Kind

from .figure import Figure
from .plan import curve_key
from .style import BLACK, SMALL, short_name

MOST_PANELS, MOST_NAMED = 12, 10
BEYOND = 1.6
"""Curves end at this multiple of the longer plan of a panel."""
POINTS = 241
GREY = "0.45"


def exact_plan_figure(
    key: float | str, rows: Sequence[ClientPlan], means: Mapping[str, tuple[np.ndarray, np.ndarray]] | None = None
) -> Figure:
    """One panel per client at one precision, the twelve that gain most where there are more.

    means  by client the mean of simulated paths with peers and alone at t = 0, 1, ..., where plans are measured
    """
    began = time.perf_counter()
    kind: Kind = "measured" if means else "exact"
    ranked = sorted(rows, key=lambda row: -(row.gain(kind) or 0))[:MOST_PANELS]
    data: dict[str, dict[str, np.ndarray]] = {}
    panels = []
    for row in sorted(ranked, key=lambda row: row.client):
        together, alone = row.both(kind)
        times = [one.iterations or 0 for one in (together, alone)]
        last = int(BEYOND * max(*times, 1)) + 1
        t = np.unique(np.concatenate((np.linspace(0, last, POINTS).round(), times))).astype(int)
        both = means[row.name] if means else (together.curve(last), alone.curve(last))
        for how, curve in zip(("together", "alone"), both):
            kept = np.pad(curve, (0, max(0, last + 1 - len(curve))), constant_values=np.nan)  # paths may be shorter
            data[curve_key(key, row.name, how)] = {"iteration": t, "excess": kept[t]}
        panels.append(
            {
                "client": row.client,
                "name": row.name,
                "epsilon": row.epsilon,
                "iterations": together.iterations,
                "alone": alone.iterations,
                "weights": together.weights.tolist(),
            }
        )
    return Figure(
        name="plan",
        edition="stated",
        title=f"Expected excess with peers and alone, {'simulated' if means else 'exactly'}, and the weights of "
        "the clients' gradients",
        data=data,
        units={"iteration": "count", "excess": "loss"},
        setup={
            "precision": key,
            "panels": panels,
            "names": list(rows[0].names),
            "simulated": bool(means),
        },
        seconds=time.perf_counter() - began,
        draw=draw,
        keys=("epsilon", "client", "how"),
    )


def draw(figure: Figure, canvas: Any) -> None:
    panels, names = figure.setup["panels"], figure.setup["names"]
    across = min(len(panels), 3 if len(panels) <= 9 else 4)
    down = -(-len(panels) // across)
    named = len(names) <= MOST_NAMED
    canvas.set_size_inches(7.0, 0.55 + down * (2.7 if named else 2.4))
    grid = canvas.subplots(2 * down, across, squeeze=False, height_ratios=[3, 1] * down)
    for at, panel in enumerate(panels):
        row, column = divmod(at, across)
        above, below = grid[2 * row, column], grid[2 * row + 1, column]
        _curves(figure, above, panel)
        _weights(below, panel, names if named else None)
        if column == 0:
            above.set_ylabel("excess (loss)", fontsize=SMALL)
            below.set_ylabel("weight", fontsize=SMALL)
    for at in range(len(panels), down * across):
        for axes in grid[2 * (at // across) : 2 * (at // across) + 2, at % across]:
            axes.set_axis_off()
    _legend(figure, canvas, across)


def _curves(figure: Figure, axes: Any, panel: Any) -> None:
    together, alone = (
        figure.data[curve_key(figure.setup["precision"], panel["name"], how)] for how in ("together", "alone")
    )
    epsilon, T = panel["epsilon"], panel["iterations"]
    axes.plot(alone["iteration"], alone["excess"], color=GREY, linestyle=(0, (4, 2)), linewidth=1.1)
    t, e = together["iteration"], together["excess"]
    kept = t <= (t[-1] if T is None else T)
    axes.plot(t, e, color=BLACK, linewidth=0.7)
    axes.plot(t[kept], e[kept], color=BLACK, linewidth=1.8)
    axes.axhline(epsilon, color=BLACK, linewidth=0.8, linestyle=(0, (1, 1.5)))
    if T:
        axes.plot([T], e[t == T], "o", color=BLACK, markersize=4.5)
    shown = np.concatenate([one["excess"] for one in (together, alone)])
    shown = shown[np.isfinite(shown) & (shown > 0)]
    axes.set_yscale("log")
    axes.set_xscale("symlog", linthresh=1, linscale=0.4)
    bottom = min(epsilon, float(shown.min(initial=epsilon)))
    axes.set_ylim(0.4 * bottom, 2.5 * float(e[0]))
    axes.set_xlim(0, float(t[-1]))
    axes.tick_params(labelsize=SMALL)
    axes.set_xlabel("iteration $t$", fontsize=SMALL, labelpad=0)
    axes.minorticks_off()
    for axis in (axes.xaxis, axes.yaxis):  # exponents would be smaller than the text
        axis.set_major_formatter("{x:g}")
    axes.set_title(f"{short_name(panel['name'])}: {_steps(T)}, alone {_steps(panel['alone'])}", loc="left")


def _weights(axes: Any, panel: Any, names: Sequence[str] | None) -> None:
    weights, own = np.array(panel["weights"]), panel["client"]
    bars = axes.bar(np.arange(len(weights)), weights, width=0.8, color="0.7", edgecolor=BLACK, linewidth=0.4)
    bars[own].set(facecolor=BLACK)
    axes.set_ylim(0, max(1e-3, 1.1 * weights.max()))
    axes.set_xlim(-0.7, len(weights) - 0.3)
    axes.tick_params(labelsize=SMALL)
    axes.grid(False)
    if names is None:
        axes.set_xticks([])
        axes.set_xlabel(f"client 0 to {len(weights) - 1}", fontsize=SMALL)
    else:
        axes.set_xticks(range(len(names)), [short_name(name, 9) for name in names], rotation=90, fontsize=SMALL)


def _legend(figure: Figure, canvas: Any, across: int) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    panels, total = figure.setup["panels"], len(figure.setup["names"])
    kind = "mean of paths" if figure.setup["simulated"] else "exact"
    handles: list[Any] = [
        Line2D([], [], color=BLACK, linewidth=1.8, marker="o", markersize=4.5, label=rf"$E[e_t]$ with peers, {kind}"),
        Line2D([], [], color=GREY, linestyle=(0, (4, 2)), linewidth=1.1, label=f"alone, {kind}"),
        Line2D([], [], color=BLACK, linewidth=0.8, linestyle=(0, (1, 1.5)), label="precision"),
        Patch(facecolor="0.7", edgecolor=BLACK, linewidth=0.4, label="weights (own: black)"),
    ]
    said = "above each panel: iterations to the precision with peers, and alone"
    said += "" if len(panels) == total else f"; {len(panels)} of {total} clients, those that gain most"
    ncols = 3 if across > 1 else 1
    canvas.legend(handles=handles, loc="outside upper center", ncols=ncols, title=said, title_fontsize=SMALL)


def _steps(iterations: int | None) -> str:
    return "never" if iterations is None else f"{iterations}"
