"""collaboration-graph: who may collaborate with whom among real clients, at three precisions.

scikit-learn's 442 diabetes patients, cut by age into eight clients of 55 or 56: disease progression on the body-mass
index by least squares with an intercept, both standardised over all patients. An arrow k -> i: client k is in the
sufficient cluster of i at the binary threshold of least sufficient variance; the darker, the larger the guaranteed
similarity rho_ik. Similarities and curvatures are exact for these losses. A node's area grows with its cluster, its
colour is the predicted speed-up of client i (bounds of expected iterations from the start 0, alone over together).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.planning.guaranteed.plan import plan_rows
from suffice.planning.plan_row import Row, quotient
from suffice.support.errors import InputError

from .figure import SEPARATOR, Content, Figure
from .maker import maker
from .style import BLACK, COLUMN_WIDTH, SMALL, headline

if TYPE_CHECKING:
    from suffice.simulate import LeastSquares

PRECISIONS = (0.2, 0.1, 0.03)
AGE, BMI = 0, 2


@maker("collaboration-graph", "who collaborates with whom among eight groups of diabetes patients")
def graph(*, clients: int = 8, precisions: Sequence[float] = PRECISIONS) -> Content:
    """clients: groups of ages; precisions: one panel each."""
    problem = patients(clients)
    # as if the largest noise on the hull of the minimisers bounded it everywhere: predictions, not guarantees
    rows = plan_rows(replace(problem.constants(), unbounded=""), list(precisions))
    data = {
        SEPARATOR.join((f"{row.epsilon:g}", row.name)): {
            "peer": np.arange(len(row.names), dtype=float),
            "similarity": np.asarray(row.similarity, dtype=float),
            "member": np.isin(np.arange(len(row.names)), row.cluster).astype(float),
            "speedup": np.full(len(row.names), _gain(row)),
        }
        for row in rows
    }
    return Content(
        title="Sufficient clusters of eight groups of diabetes patients",
        data=data,
        units={
            "peer": "position among the clients",
            "similarity": "1, guaranteed",
            "member": "1 if the peer is in the client's sufficient cluster",
            "speedup": "1, predicted iterations alone over together",
        },
        setup={
            "data": "sklearn.datasets.load_diabetes",
            "clients": list(rows[0].names),
            "precisions": [float(value) for value in precisions],
            "predictor": "bmi",
        },
        keys=("epsilon", "client"),
    )


def _gain(row: Row) -> float:
    """What the sufficient cluster saves, by hitting times: a plan with fixed weights may have other members."""
    alone, together = (plan.hitting["expected_iterations"] for plan in (row.local, row.schedules))
    gain = quotient(alone, together)
    return np.nan if gain is None else gain


def patients(clients: int = 8) -> LeastSquares:
    """Clients named after their ages; `InputError` where two have the same."""
    from sklearn.datasets import load_diabetes

    from suffice.simulate import LeastSquares

    bunch: Any = load_diabetes(scaled=False)
    features, response = np.asarray(bunch.data, dtype=float), np.asarray(bunch.target, dtype=float)
    age, bmi = features[:, AGE], features[:, BMI]
    X = np.column_stack((np.ones(len(bmi)), (bmi - bmi.mean()) / bmi.std()))
    y = (response - response.mean()) / response.std()
    groups = np.array_split(np.argsort(age, kind="stable"), clients)
    names = [f"{age[group].min():.0f}-{age[group].max():.0f}" for group in groups]
    if len(set(names)) < clients:
        raise InputError("clients", clients, "two groups have the same ages: give fewer, about 12 at most")
    return LeastSquares.of([X[group] for group in groups], [y[group] for group in groups], names=names)


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: clients on a circle, the youngest at the top, clockwise."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LogNorm, Normalize

    names, precisions = figure.setup["clients"], figure.setup["precisions"]
    canvas.set_size_inches(2 * COLUMN_WIDTH, 3.0)
    panels = canvas.subplots(1, len(precisions), squeeze=False)[0]
    angle = np.pi / 2 - 2 * np.pi * np.arange(len(names)) / len(names)
    place = np.column_stack((np.cos(angle), np.sin(angle)))
    gains = [curve["speedup"][0] for curve in figure.data.values()]
    least, most = float(np.fmin.reduce(gains, initial=0.99)), float(np.fmax.reduce(gains, initial=2.0))
    shade = ScalarMappable(LogNorm(least, most), "cividis")
    arrows = ScalarMappable(Normalize(0, 1), "Blues")
    for axes, epsilon in zip(panels, precisions):
        count = 0
        for i, name in enumerate(names):
            curve = figure.data[SEPARATOR.join((f"{epsilon:g}", name))]
            for k in np.flatnonzero(curve["member"]):
                if k == i:
                    continue
                count += 1
                axes.annotate(
                    "",
                    place[i],
                    xytext=place[k],
                    arrowprops={
                        "arrowstyle": "-|>,head_width=0.16,head_length=0.3",
                        # two directions of a pair bend apart
                        "connectionstyle": "arc3,rad=0.12",
                        "color": arrows.to_rgba(0.25 + 0.75 * curve["similarity"][k]),
                        "linewidth": 0.9,
                        "shrinkA": 6,
                        "shrinkB": 6,
                    },
                )
            size = 18 + 10 * curve["member"].sum()
            colour = shade.to_rgba(curve["speedup"][0])
            axes.scatter(*place[i], s=size, color=colour, edgecolors=BLACK, linewidths=0.5, zorder=3)
            axes.annotate(name, (1.5, 1.3) * place[i], ha="center", va="center", fontsize=SMALL)
        axes.set_title(rf"$\varepsilon = {epsilon:g}$: {count} of {len(names) * (len(names) - 1)} arrows", loc="left")
        axes.set_aspect("equal")
        axes.set_xlim(-2, 2)
        axes.set_ylim(-1.5, 1.5)
        axes.axis("off")
    bar = canvas.colorbar(shade, ax=list(panels), location="right", shrink=0.8, label="speed-up alone / together")
    ticks = [tick for tick in (0.2, 0.5, 1, 1.5, 2, 2.5, 3, 5, 10) if least <= tick <= most]
    bar.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    bar.ax.minorticks_off()
    most_members = max(int(curve["member"].sum()) for curve in figure.data.values())
    sizes = sorted({1, (1 + most_members) // 2, most_members})
    dots = [
        panels[0].scatter([], [], s=18 + 10 * count, color="0.8", edgecolors=BLACK, linewidths=0.5) for count in sizes
    ]
    shades: Any = arrows.to_rgba(0.25 + 0.75 * np.array((0.1, 0.5, 1)))
    lines = [panels[0].plot([], [], color=shade)[0] for shade in shades]
    words = [f"{count} in its cluster" for count in sizes] + [rf"$\rho_{{ik}} = {rho}$" for rho in (0.1, 0.5, 1)]
    canvas.legend([*dots, *lines], words, loc="outside lower center", ncols=6, handlelength=1.4, columnspacing=1.2)
    headline(
        canvas,
        "The finer the precision, the fewer clients help each other",
        f"{len(names)} clients, by age; an arrow points from a member of a sufficient cluster to whom it helps",
    )
