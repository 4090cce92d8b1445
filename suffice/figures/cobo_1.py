"""cobo-1: CoBo's inner problem at three points (Hashemi, He and Jaggi 2024, Figure 1), computed.

Two clients, f_i(x) = (1/2) |x - mu_i|^2 in the plane. At models x_1, x_2 the weight w_12 of Client-Selection maximises
w <grad f_1(z), grad f_2(z)> over [0, 1] at the midpoint z: it is 1 where the inner product is positive. That is outside
the circle with diameter [mu_1, mu_2] (Thales).

A  both models far away at one point: the gradients agree and the clients connect
B  both at one point near the mean of the minimisers: they disagree and the clients disconnect
C  each on its own side: the midpoint says that they stay apart
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .figure import Figure
from .maker import maker
from .setting import option
from .style import BLACK, BLUE, COLUMN_WIDTH, ORANGE, SMALL, VERMILION, headline

MINIMISERS = np.array([[-1.0, 0.0], [1.0, 0.0]])
MODELS = {
    "A": np.array([[0.6, 3.0], [0.6, 3.0]]),
    "B": np.array([[0.1, 0.55], [0.1, 0.55]]),
    "C": np.array([[-1.6, -0.7], [1.5, -0.5]]),
}
ARROW = 0.3
"""An arrow is so long per unit of the gradient."""
LABELS = {"A": (2.15, 3.2, "right"), "B": (2.15, 1.25, "right"), "C": (0.0, -1.4, "center")}
"""Where a point's words stand, clear of the circle: place and alignment."""
GRADIENTS = ("gradient_x", "gradient_y", "midpoint_gradient_x", "midpoint_gradient_y")
UNITS = (
    {"client": "number", "x": "theta", "y": "theta"}
    | dict.fromkeys(GRADIENTS, "loss / theta")
    | {"inner_product": "loss^2 / theta^2, at the midpoint", "weight": "1, solution of the inner problem"}
)


@maker(
    "cobo-1",
    "Figure 1 of cobo: the inner problem at three points",
    "The paper's diagram is drawn by hand; this one is computed for two quadratics.",
    unpublished="the paper's diagram is drawn by hand, no code makes it",
)
def inner_problem(*, distance: float = option("of the two minimisers", default=2.0)) -> Figure:
    minimisers = distance / 2 * MINIMISERS
    data = {}
    for name, models in MODELS.items():
        at_models, at_midpoint = models - minimisers, models.mean(0) - minimisers
        agreement = float(np.prod(at_midpoint, axis=0).sum())
        numbers = (models, at_models, at_midpoint)
        columns = [np.array([1.0, 2.0]), *np.concatenate(numbers, axis=1).T]
        data[name] = dict(zip(UNITS, (*columns, np.full(2, agreement), np.full(2, float(agreement > 0)))))
    return Figure(
        title="CoBo's inner problem at three points",
        data=data,
        units=UNITS,
        setup={"minimisers": minimisers.tolist(), "curvature": 1.0},
        keys=("point",),
    )


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data; arrows point along the negative gradients."""
    canvas.set_size_inches(COLUMN_WIDTH, 4.2)
    axes = canvas.subplots()
    minimisers = np.array(figure.setup["minimisers"])
    wide = max(2.2, 1.1 * minimisers[1, 0])
    low, high = min(-1.7, 0.5 - wide), max(3.4, wide)
    x, y = np.meshgrid(np.linspace(-wide, wide, 200), np.linspace(low, high, 220))
    mean = sum((x - m[0]) ** 2 + (y - m[1]) ** 2 for m in minimisers) / 4
    axes.contour(x, y, mean, levels=9, colors="0.8", linewidths=0.7)
    agreement = sum((c - minimisers[0][k]) * (c - minimisers[1][k]) for k, c in enumerate((x, y)))
    axes.contourf(x, y, agreement, levels=[-1e9, 0], colors=[ORANGE], alpha=0.18)
    axes.contour(x, y, agreement, levels=[0], colors=[ORANGE], linewidths=1)
    for place, mark, text, beside in (
        (minimisers[0], "*", r"$\mu_1$", (-12, 3)),
        (minimisers[1], "*", r"$\mu_2$", (5, 3)),
        (minimisers.mean(0), "+", r"$\mu$", (3, -9)),
    ):
        axes.plot(*place, mark, color=BLACK, markersize=7 if mark == "*" else 4)
        axes.annotate(text, place, xytext=beside, textcoords="offset points")
    for name, point in figure.data.items():
        _draw_point(axes, name, point)
    axes.set_aspect("equal")
    axes.grid(False)
    axes.set(xlim=(-wide, wide), ylim=(low, high), xlabel=r"$\theta_1$", ylabel=r"$\theta_2$")
    headline(
        canvas,
        "CoBo connects two clients where their gradients at the midpoint agree",
        "Blue arrows descend at the midpoint, dashed red ones at the two models of C. Contours are those of "
        "$(f_1 + f_2)/2$; shaded midpoints disconnect; the product is that of the two gradients at the midpoint",
    )


def _draw_point(axes: Any, name: str, point: Mapping[str, np.ndarray]) -> None:
    models = np.stack([point["x"], point["y"]], axis=1)
    midpoint, apart = models.mean(0), np.ptp(models, axis=0).max() > 0
    arrows = [(midpoint, "midpoint_gradient", BLUE, "-")]
    if apart:  # else the gradients at the models are those at the midpoint
        arrows.insert(0, (models, "gradient", VERMILION, (0, (2, 1))))
    for starts, what, colour, line in arrows:
        look = {"arrowstyle": "-|>", "color": colour, "linestyle": line, "shrinkA": 0, "shrinkB": 0, "linewidth": 1.4}
        ends = starts - ARROW * np.stack([point[f"{what}_x"], point[f"{what}_y"]], axis=1)
        for start, end in zip(np.broadcast_to(starts, ends.shape), ends):
            axes.annotate("", end, xytext=start, arrowprops=look)
    axes.plot(*models.T, "o", color=BLACK, markersize=4, zorder=4)
    if apart:
        axes.plot(*models.T, ":", color="0.4", linewidth=0.8)
        axes.plot(*midpoint, "o", color="white", markeredgecolor=BLUE, markersize=4, zorder=5)
    weight, product = point["weight"][0], point["inner_product"][0]
    x_at, y_at, side = LABELS[name]
    axes.annotate(
        f"{name}: $w_{{12}} = {weight:.0f}$, product {product:.2g}".replace("-", "\N{MINUS SIGN}"),
        midpoint,
        xytext=(x_at, y_at),
        ha=side,
        fontsize=SMALL,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
        arrowprops={"arrowstyle": "-", "color": "0.5", "linewidth": 0.5, "shrinkB": 4},
    )
