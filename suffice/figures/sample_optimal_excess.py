"""sample-optimal-excess: excess of All-for-one and All-for-all against samples, from 10 to 1000 agents.

The settings, methods and bounds of sample-optimal-speedup (clusters and a continuum of our own: the paper's experiment
is in an appendix not available here). Solid: exact excess. Dashed, in the colour of what they bound: the upper bounds
that chose peers and step. Dotted: the lower bound for agent 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .figure import SEPARATOR, Content, Figure
from .maker import Progress, maker
from .sample_optimal_speedup import COLOURS, MARKERS, METHODS, NAMES, OURS, PRECISION, SETTINGS, legend, speedup
from .setting import option
from .style import COLUMN_WIDTH, headline

AGENTS = (10, 100, 1000)


@maker("sample-optimal-excess", "sample-optimal: excess loss against samples, 10 to 1000 agents", **OURS)
def excess(
    *,
    agents: Sequence[int] = option("numbers of agents, multiples of 5, a column each", default=AGENTS),
    progress: Progress,
) -> Content:
    title = "Excess of All-for-one and All-for-all against samples, 10 to 1000 agents"
    return replace(speedup.compute(agents=agents, precision=PRECISION, progress=progress), title=title)


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: a column of panels per number of agents, a row per setting."""
    agents = figure.setup["agents"]
    canvas.set_size_inches(2 * COLUMN_WIDTH, 4.2)
    panels = canvas.subplots(2, len(agents), sharex=True, sharey=True, squeeze=False)
    for row, setting in enumerate(SETTINGS):
        for axes, n in zip(panels[row], agents):
            for method in METHODS:
                curve = figure.data[SEPARATOR.join((setting, str(n), method))]
                if method == "lower bound":
                    axes.plot(curve["rounds"], curve["excess"], ":", color=COLOURS[method])
                    continue
                look: dict[str, Any] = {
                    "marker": MARKERS[method],
                    "markersize": 3,
                    "markevery": (METHODS.index(method) * 4, 15),
                }
                axes.plot(curve["rounds"], curve["excess"], color=COLOURS[method], **look)
                axes.plot(curve["rounds"], curve["bound"], "--", color=COLOURS[method], linewidth=1)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_ylim(bottom=1e-6)
            axes.set_title(f"{NAMES[setting]}, $N = {n}$", loc="left")
        panels[row, 0].set_ylabel("excess (loss)")
    for axes in panels[-1]:
        axes.set_xlabel("samples of each agent")
    alone, together = (
        figure.data[SEPARATOR.join((SETTINGS[0], str(agents[-1]), method))]["excess"][-1] for method in METHODS[:2]
    )
    where = f"{agents[-1]} agents in {NAMES[SETTINGS[0]]}"
    headline(
        canvas, f"With as many samples each, All-for-one has 1/{alone / together:.3g} of the excess alone: {where}"
    )
    legend(panels[0, 0], canvas)
