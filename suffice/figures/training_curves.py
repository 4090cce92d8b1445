"""The figure of a training: each client's curve on its test rows, and who listens to whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .figure import SEPARATOR, Figure
from .fit import MOST_NAMED, grouped, matrix
from .style import BLACK, BLUE, headline, short_name


def training_curves_figure(curves: Sequence[Sequence[Any]], weights: np.ndarray | None, algorithm: str) -> Figure:
    """The figure of `Training.curves`, whose last column is drawn, and weights (N, N); clients who learn together are
    neighbours."""
    (_, *columns), *rows = curves
    data: dict[str, dict[str, np.ndarray]] = {}
    for name in dict.fromkeys(row[0] for row in rows):
        values = np.array([row[1:] for row in rows if row[0] == name], dtype=float).T
        data[name.replace(SEPARATOR, "/")] = dict(zip(columns, values))
    order = np.arange(len(data)) if weights is None else grouped(weights)
    units = {column: {"iteration": "1", "test accuracy": "1"}.get(column, "loss") for column in columns}
    return Figure(
        name="training",
        title="Tests of each client's model, and who listens to whom",
        data=data,
        units=units,
        setup={"algorithm": algorithm, "shown": columns[-1], "order": order.tolist(),
               "weights": None if weights is None else weights.tolist()},
        draw=_draw,
        keys=("client",),
    )  # fmt: skip


def _draw(figure: Figure, canvas: Any) -> None:
    names, what, order = list(figure.data), figure.setup["shown"], figure.setup["order"]
    count, weights = len(names), figure.setup["weights"]
    canvas.set_size_inches(7.0, max(3.4, 1.3 + 0.11 * min(count, MOST_NAMED)))
    values = np.array([curve[what] for curve in figure.data.values()])
    first, last = values.mean(0)[[0, -1]]
    message = f"the mean {what} of {count} clients goes from {first:.3g} to {last:.3g}"
    how = "Thin lines are clients, the thick one is their mean"
    headline(canvas, f"By {figure.setup['algorithm']} {message}", how)
    left, *more = canvas.subplots(1, 1 if weights is None else 2, squeeze=False)[0]
    steps = next(iter(figure.data.values()))["iteration"]
    left.plot(steps, values.T, color=BLUE, linewidth=0.5, alpha=0.5)
    left.plot(steps, values.mean(0), color=BLACK, linewidth=1.5)
    left.set(xlabel="iteration", ylabel=what)
    for right in more:
        shown = np.array(weights)[np.ix_(order, order)]
        words = ("gradients of client $k$", "model of client $i$", "weight")
        matrix(right, shown, [short_name(names[k]) for k in order], words, max(float(shown.max()), 1e-9))
