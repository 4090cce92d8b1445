"""The figure of `sf.collaborators`: who learns with whom, and where the scouts stopped."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from .figure import SEPARATOR, Figure
from .fit import MOST_ACROSS, MOST_NAMED, grouped
from .style import BLUE, headline, short_name


def collaborators_figure(found: Mapping[str, Any]) -> Figure:
    """From `Collaborators.to_dict()`. Clients who learn together are neighbours."""
    began = time.perf_counter()
    weights, names = np.array(found["weights"]), found["clients"]
    order = grouped(weights)
    ordered = [names[k].replace(SEPARATOR, "/") for k in order]
    data = {
        name: {"peer": np.arange(len(names)), "weight": weights[k][order],
               "distance": np.array(found["distance"])[k][order]}
        for name, k in zip(ordered, order)
    }  # fmt: skip
    return Figure(
        name="collaborators",
        edition="stated",
        title="Who learns with whom, by nested scouts",
        data=data,
        units={"peer": "position", "weight": "1", "distance": "loss"},
        setup={key: found[key] for key in ("iterations", "looked_at", "held_out")} | {"names": ordered},
        seconds=time.perf_counter() - began,
        draw=_draw,
        keys=("client",),
    )


def _draw(figure: Figure, canvas: Any) -> None:
    names, count = figure.setup["names"], len(figure.setup["names"])
    weights = np.array([curve["weight"] for curve in figure.data.values()])
    canvas.set_size_inches(7.0, max(3.4, 1.3 + 0.11 * min(count, MOST_NAMED)))
    left, right = canvas.subplots(1, 2, width_ratios=(1.3, 1))
    sizes = (weights > 0).sum(1)
    many = f"{sizes.min()}" if sizes.min() == sizes.max() else f"{sizes.min()} to {sizes.max()}"
    said = "everybody learns alone" if sizes.max() == 1 else f"each learns from {many} clients, itself included"
    headline(canvas, f"Who learns with whom: {said}", "Measured by scouts on rows that they did not see; no guarantee")
    image = left.imshow(weights, cmap="Blues", vmin=0, vmax=max(float(weights.max()), 1e-9))
    canvas.colorbar(image, ax=left, shrink=0.8, label="weight")
    left.grid(False)
    left.set(xlabel="gradients of client $k$", ylabel="model of client $i$")
    if count <= MOST_NAMED:
        left.set_yticks(range(count), [short_name(name) for name in names])
        if count <= MOST_ACROSS:
            left.set_xticks(range(count), [short_name(name) for name in names], rotation=90)
    right.plot(figure.setup["looked_at"], figure.setup["held_out"], color=BLUE, marker="o", markersize=3)
    right.axvline(figure.setup["iterations"], color=BLUE, linewidth=0.8, linestyle=(0, (3, 1.5)))
    right.set(xlabel="iterations of the scouts (dashed: used)", ylabel="mean loss on rows left out")
