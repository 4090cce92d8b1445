"""The figure of a plan at one precision: every client's excess or its bound, and whose gradients it uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from suffice.bounds import Constants, evaluate, find
from suffice.planning.client_plan import ClientPlan, Kind

from .figure import SEPARATOR, Figure
from .style import BLACK, SMALL, short_name

MOST_PANELS, MOST_NAMED = 12, 10
BEYOND = 1.6
"""Curves end at this multiple of the longer plan of a panel."""
POINTS = 241
HOW = ("together", "alone")
PEERS: dict[str, Any] = {"color": BLACK, "linewidth": 1.8}
ALONE: dict[str, Any] = {"color": "0.45", "linestyle": (0, (4, 2)), "linewidth": 1.1}
PRECISION: dict[str, Any] = {"color": BLACK, "linewidth": 0.8, "linestyle": (0, (1, 1.5))}
BARS: dict[str, Any] = {"edgecolor": BLACK, "linewidth": 0.4}
WORDS: dict[Kind, tuple[str, str]] = {
    "exact": (r"$E[e_t]$", "exact"),
    "measured": (r"$E[e_t]$", "mean of paths"),
    "guaranteed": (r"$E[e_t\,1\{\tau\geq t\}]$", "bound"),
}
"""Words for the quantity that the curves show, and for how it is known."""


def plan_figure(
    key: float | str,
    rows: Sequence[ClientPlan],
    constants: Constants | None = None,
    means: Mapping[str, tuple[np.ndarray, np.ndarray]] | None = None,
) -> Figure:
    """One panel per client at one precision, the twelve that gain most where there are more.

    means  by client the mean of simulated paths with peers and alone at t = 0, 1, ..., where plans are measured

    Where a plan has only guarantees, curves are the bounds at the steps of its hitting schedules; without `constants`
    that have the initial excess there are none.
    """
    kind: Kind = "measured" if means else rows[0].recommended
    ranked = sorted(rows, key=lambda row: -(row.gain(kind) or 0))[:MOST_PANELS]
    column = "bound" if kind == "guaranteed" else "excess"
    data: dict[str, dict[str, np.ndarray]] = {}
    panels = []
    for row in sorted(ranked, key=lambda row: row.client):
        times = [_iterations(one) for one in row.both(kind)]
        last = int(BEYOND * max(*(time or 0 for time in times), 1)) + 1
        t = np.unique(np.concatenate((np.linspace(0, last, POINTS), [time or 0 for time in times])).round()).astype(int)
        paths = means[row.name] if means else None
        for at, how in enumerate(HOW):
            curve = _bound(constants, row, at, t) if kind == "guaranteed" else _curve(row.both(kind)[at], paths, at, t)
            if curve is not None:
                data[curve_key(key, row.name, how)] = {"iteration": t, column: curve}
        weights = row.weights if kind == "guaranteed" else row.both(kind)[0].weights
        panel = {"client": row.client, "name": row.name, "epsilon": row.epsilon, "weights": weights.tolist()}
        panels.append(panel | dict(zip(("iterations", "alone"), times)))
    return Figure(
        name="plan",
        title=f"Excess with peers and alone ({WORDS[kind][1]}), and the weights of the clients' gradients",
        data=data,
        units={"iteration": "count", column: "loss"},
        setup={"precision": key, "panels": panels, "names": list(rows[0].names), "kind": kind},
        draw=draw,
        keys=("epsilon", "client", "how"),
    )


def curve_key(epsilon: float | str, name: str, how: str) -> str:
    """The name of a curve among the figure's data."""
    return SEPARATOR.join((epsilon if isinstance(epsilon, str) else repr(epsilon), name.replace(SEPARATOR, "/"), how))


def _iterations(plan: Any) -> float | None:
    """The iterations that a plan takes to the precision; of schedules, the bound of the mean hitting time."""
    if plan is None or not hasattr(plan, "hitting"):
        return plan and plan.iterations
    return plan.hitting["expected_iterations"]


def _curve(plan: Any, paths: tuple[np.ndarray, np.ndarray] | None, at: int, t: np.ndarray) -> np.ndarray:
    """The exact curve or the mean of paths, NaN beyond their end."""
    curve = plan.curve(int(t[-1])) if paths is None else paths[at]
    return np.pad(curve, (0, max(0, int(t[-1]) + 1 - len(curve))), constant_values=np.nan)[t]


def _bound(constants: Constants | None, row: ClientPlan, at: int, t: np.ndarray) -> np.ndarray | None:
    """B_T, with peers or alone; None without the initial excess."""
    plan = row.both("guaranteed")[at]
    if plan is None or constants is None or constants.excess is None:
        return None
    known = {"mu": constants.mu, "beta": constants.beta, "e0": constants.excess}
    values = {name: array[row.client].item() for name, array in known.items()}
    values |= {"q": (row.step_ratio, 1.0)[at], "s2": (row.sufficient_variance, row.local_variance)[at]}
    return np.asarray(evaluate(find("adaptive/theorem-2-constant"), **values, eta=plan.hitting["eta"], T=t))


def draw(figure: Figure, canvas: Any) -> None:
    panels, names = figure.setup["panels"], figure.setup["names"]
    across = min(len(panels), 3 if len(panels) <= 9 else 4)
    down = -(-len(panels) // across)
    canvas.set_size_inches(7.0, 0.55 + down * (2.7 if len(names) <= MOST_NAMED else 2.4))
    grid = canvas.subplots(2 * down, across, squeeze=False, height_ratios=[3, 1] * down)
    for at, (above, below) in enumerate(zip(grid[::2].flat, grid[1::2].flat)):
        if at >= len(panels):
            above.set_axis_off()
            below.set_axis_off()
            continue
        _curves(figure, above, panels[at])
        _weights(below, panels[at], names)
        if at % across == 0:
            above.set_ylabel("excess (loss)", fontsize=SMALL)
            below.set_ylabel("weight", fontsize=SMALL)
    _legend(figure, canvas, across)


def _curves(figure: Figure, axes: Any, panel: Any) -> None:
    axes.tick_params(labelsize=SMALL)
    found = [figure.data.get(curve_key(figure.setup["precision"], panel["name"], how)) for how in HOW]
    if None in found:
        axes.set_title(short_name(panel["name"]), loc="left")
        axes.text(0.5, 0.5, "no initial excess given", ha="center", va="center", transform=axes.transAxes)
        return
    epsilon, T = panel["epsilon"], panel["iterations"]
    axes.set_title(f"{short_name(panel['name'])}: {_steps(T)}, alone {_steps(panel['alone'])}", loc="left")
    (t, e), (_, alone) = (list(curve.values()) for curve in found if curve)
    axes.plot(t, alone, **ALONE)
    kept = t <= (t[-1] if T is None else round(T))
    axes.plot(t, e, color=BLACK, linewidth=0.7)
    axes.plot(t[kept], e[kept], **PEERS)
    axes.axhline(epsilon, **PRECISION)
    if T:
        axes.plot([round(T)], e[t == round(T)], "o", color=BLACK, markersize=4.5)
    shown = np.concatenate((e, alone))
    bottom = min(epsilon, float(shown[np.isfinite(shown) & (shown > 0)].min(initial=epsilon)))
    axes.set_yscale("log")
    axes.set_xscale("symlog", linthresh=1, linscale=0.4)
    axes.set(ylim=(0.4 * bottom, 2.5 * float(e[0])), xlim=(0, float(t[-1])))
    axes.set_xlabel("iteration $t$", fontsize=SMALL, labelpad=0)
    axes.minorticks_off()
    for axis in (axes.xaxis, axes.yaxis):  # exponents would be smaller than the text
        axis.set_major_formatter("{x:g}")


def _weights(axes: Any, panel: Any, names: Sequence[str]) -> None:
    weights = np.array(panel["weights"])
    axes.bar(np.arange(len(weights)), weights, width=0.8, color="0.7", **BARS)[panel["client"]].set(facecolor=BLACK)
    axes.set(ylim=(0, max(1e-3, 1.1 * weights.max())), xlim=(-0.7, len(weights) - 0.3))
    axes.tick_params(labelsize=SMALL)
    axes.grid(False)
    if len(names) > MOST_NAMED:
        axes.set_xticks([])
        axes.set_xlabel(f"client 0 to {len(weights) - 1}", fontsize=SMALL)
    else:
        axes.set_xticks(range(len(names)), [short_name(name, 9) for name in names], rotation=90, fontsize=SMALL)


def _legend(figure: Figure, canvas: Any, across: int) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    panels, total = figure.setup["panels"], len(figure.setup["names"])
    what, kind = WORDS[figure.setup["kind"]]
    handles: list[Any] = [
        Line2D([], [], **PEERS, marker="o", markersize=4.5, label=f"{what} with peers, {kind}"),
        Line2D([], [], **ALONE, label=f"alone, {kind}"),
        Line2D([], [], **PRECISION, label="precision"),
        Patch(facecolor="0.7", **BARS, label="weights (own: black)"),
    ]
    said = f"above each panel: {'bounds of the ' * (kind == 'bound')}iterations to the precision with peers, and alone"
    said += "" if len(panels) == total else f"; {len(panels)} of {total} clients, those that gain most"
    ncols = 3 if across > 1 else 1
    canvas.legend(handles=handles, loc="outside upper center", ncols=ncols, title=said, title_fontsize=SMALL)


def _steps(iterations: float | None) -> str:
    return "never" if iterations is None else f"{iterations:.0f}"
