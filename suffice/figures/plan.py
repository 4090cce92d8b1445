"""The figure of a plan from constants: who collaborates with whom, and the predicted curves alone and together."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from suffice.bounds import Constants, evaluate, find
from suffice.planning.client_plan import ClientPlan

from .figure import SEPARATOR, Figure
from .style import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, SMALL, VERMILION, short_name

COLOURS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, BLACK)
MARKS = "osD^vPX"
"""The same curves have these marks, as grey does not tell colours apart."""
MOST_PRECISIONS, MOST_NAMED = 4, 16
BOUND = r"bound of $E[e_T\,1\{\tau\geq T\}]$ (loss)"
POINTS = 121
PATIENCE = 3.0
"""Curves end at this multiple of the longest expected hitting time that is drawn."""


def plan_figure(precisions: Mapping[float | str, Sequence[ClientPlan]], constants: Constants | None) -> Figure:
    """Per precision (four at most, evenly picked) a matrix of similarities with the clusters marked, and the curves.

    precisions  the rows of a plan by precision
    A curve is B_T, the bound of E[e_T 1{tau >= T}], at the step of the hitting schedule, of the clients with the
    largest speed-ups (as many as there are colours). Without the initial excess there are no curves.
    """
    began = time.perf_counter()
    groups = list(precisions.items())
    picked = np.linspace(0, len(groups) - 1, min(len(groups), MOST_PRECISIONS)).round().astype(int)
    data: dict[str, dict[str, np.ndarray]] = {}
    panels = []
    for epsilon, there in (groups[at] for at in picked):
        known = there[0].schedules is not None and constants is not None and constants.excess is not None
        shown = _shown(there) if known else []
        last = PATIENCE * max((row.local.iterations or 1.0 for row in shown), default=1.0)
        T = np.unique(np.concatenate(([0], np.geomspace(1, max(last, 2.0), POINTS).round())))
        for row in shown:
            assert row.schedules is not None
            assert row.local is not None
            for how, part, q, s2 in (
                ("together", row.schedules, row.step_ratio, row.sufficient_variance),
                ("alone", row.local, 1.0, row.local_variance),
            ):
                assert constants is not None
                data[curve_key(epsilon, row.name, how)] = {
                    "iteration": T,
                    "bound": _bound(constants, row.client, T, eta=part.hitting["eta"], q=q, s2=s2),
                }
        panels.append(
            {
                "epsilon": epsilon,
                "similarity": [row.similarity.tolist() for row in there],
                "clusters": [list(row.cluster) for row in there],
                "names": [row.name for row in there],
                "curves": [row.name for row in shown],
            }
        )
    return Figure(
        name="plan",
        edition="stated",
        title="Who collaborates with whom, and the predicted excess loss alone and together",
        data=data,
        units={"iteration": "count", "bound": "loss"},
        setup={"panels": panels},
        seconds=time.perf_counter() - began,
        draw=_draw,
        keys=("epsilon", "client", "how"),
    )


def _shown_as(epsilon: float | str) -> str:
    return epsilon if isinstance(epsilon, str) else f"{epsilon:.3g}"


def _shown(rows: Sequence[ClientPlan]) -> list[ClientPlan]:
    ranked = sorted(rows, key=lambda row: -(row.speedup or 0))[: len(COLOURS)]
    return sorted(ranked, key=lambda row: row.client)


def curve_key(epsilon: float | str, name: str, how: str) -> str:
    """What the data of a curve are called."""
    return SEPARATOR.join((epsilon if isinstance(epsilon, str) else repr(epsilon), name.replace(SEPARATOR, "/"), how))


def _bound(constants: Constants, i: int, T: np.ndarray, *, eta: float, q: float, s2: float) -> np.ndarray:
    assert constants.excess is not None
    values = {"mu": constants.mu[i].item(), "beta": constants.beta[i].item(), "e0": constants.excess[i].item()}
    return np.asarray(evaluate(find("adaptive/theorem-2-constant"), **values, eta=eta, q=q, s2=s2, T=T))


def _draw(figure: Figure, canvas: Any) -> None:
    panels = figure.setup["panels"]
    canvas.set_size_inches(7.0, 2.7 * len(panels))
    axes = canvas.subplots(len(panels), 2, squeeze=False, width_ratios=(1, 1.35))
    for (left, right), panel in zip(axes, panels):
        image = _matrix(left, panel)
        canvas.colorbar(image, ax=left, shrink=0.8, label=r"similarity $\rho_{ik}$")
        _curves(figure, right, panel)


def _matrix(axes: Any, panel: Any) -> Any:
    similarity, names = np.array(panel["similarity"]), panel["names"]
    image = axes.imshow(similarity, vmin=0, vmax=1, cmap="Blues")
    for i, cluster in enumerate(panel["clusters"]):
        # dark cells get a light mark
        tone = ["white" if similarity[i, k] > 0.5 else BLACK for k in cluster]
        axes.scatter(cluster, [i] * len(cluster), s=14, marker="o", c=tone, linewidths=0)
    axes.grid(False)
    level = _shown_as(panel["epsilon"])
    axes.set_title(rf"$\varepsilon$ = {level}: dot: $i$ uses gradients of $k$", loc="left", fontsize=SMALL)
    axes.set_ylabel("client $i$")
    axes.set_xlabel("peer $k$")
    if len(names) <= MOST_NAMED:
        axes.set_xticks(range(len(names)), [short_name(name) for name in names], rotation=90)
        axes.set_yticks(range(len(names)), [short_name(name) for name in names])
    return image


def _curves(figure: Figure, axes: Any, panel: Any) -> None:
    axes.set_xlabel("iteration $T$ (a sample of every client each)")
    axes.set_ylabel(BOUND, fontsize=SMALL)
    if not panel["curves"]:
        axes.text(0.5, 0.5, "no initial excess given", ha="center", va="center", transform=axes.transAxes)
        return
    for name, colour, mark in zip(panel["curves"], COLOURS, MARKS):
        together, alone = (figure.data[curve_key(panel["epsilon"], name, how)] for how in ("together", "alone"))
        axes.plot(
            together["iteration"],
            together["bound"],
            color=colour,
            label=short_name(name),
            marker=mark,
            markersize=3,
            markevery=12,
        )
        axes.plot(alone["iteration"], alone["bound"], color=colour, linestyle=(0, (3, 1.5)), linewidth=1)
    said = "line: together; dashed: alone"
    if not isinstance(panel["epsilon"], str):  # a share of its start is another number for each client
        axes.axhline(panel["epsilon"], color=BLACK, linewidth=0.7, linestyle=(0, (1, 1)))
        said += "; dotted: the precision"
    if len(panel["curves"]) < len(panel["names"]):
        said += f"\nthe {len(panel['curves'])} of {len(panel['names'])} clients that gain most"
    axes.set_xscale("symlog", linthresh=1)
    axes.set_yscale("log")
    axes.set_xlim(left=0)
    axes.set_title(said, loc="left", fontsize=SMALL)
    axes.legend(ncols=4, handlelength=1.6, loc="upper center", bbox_to_anchor=(0.5, -0.26))
