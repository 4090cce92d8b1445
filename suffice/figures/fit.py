"""The figure of a fit: which site listens to which, what each gains, who is like whom, which candidates it averaged."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from .figure import SEPARATOR, Figure
from .style import BLACK, BLUE, SMALL, VERMILION, short_name

MOST_NAMED, MOST_ACROSS = 60, 20


def fit_figure(fit: Mapping[str, Any]) -> Figure:
    """From the object of `suffice fit --json`. Sites are ordered so that those who listen to each other are
    neighbours."""
    began = time.perf_counter()
    clients: Sequence[Mapping[str, Any]] = fit["clients"]
    names = [client["name"] for client in clients]
    shares = np.array([[client["weights"].get(name, 0.0) for name in names] for client in clients])
    order = grouped(shares).tolist()
    ordered = [names[k].replace(SEPARATOR, "/") for k in order]

    def numbers(key: str) -> np.ndarray:
        return np.array([np.nan if clients[k][key] is None else clients[k][key] for k in order], dtype=float)

    gain, error, far = numbers("gain"), numbers("gain_se"), np.full((len(names), len(names)), np.nan)
    known = fit["rule"].get("distances") or {"compared": [], "distances": []}
    at = [names.index(name) for name in known["compared"]]
    if known["distances"]:
        far[np.ix_(at, at)] = known["distances"]
    data = {
        name: {"peer": np.arange(len(names)), "influence": shares[k][order], "distance": far[k][order],
               "gain": np.full(len(names), gain[at]),
               "gain_se": np.full(len(names), error[at])}
        for at, (name, k) in enumerate(zip(ordered, order))
    }  # fmt: skip
    return Figure(
        name="fit",
        edition="stated",
        title="Which site listens to which, what it gains, who is like whom, and what was averaged",
        data=data,
        units={"peer": "position", "influence": "1", "distance": "chance", "gain": "loss", "gain_se": "loss"},
        setup={
            "names": ordered,
            "families": dict(sorted(fit["rule"]["families"].items(), key=lambda entry: entry[1])),
            "network_gain": fit["rule"]["network_gain"],
        },
        seconds=time.perf_counter() - began,
        draw=_draw,
        keys=("site",),
    )


def grouped(shares: np.ndarray) -> np.ndarray:
    """An order of the sites (N,) in which those with mutual influence (N, N) are neighbours: average linkage."""
    if len(shares) < 3:
        return np.arange(len(shares))
    mutual = (shares + shares.T) / 2
    off = mutual[~np.eye(len(mutual), dtype=bool)]
    apart = np.clip(off.max() - mutual, 0.0, None)
    np.fill_diagonal(apart, 0.0)
    return leaves_list(linkage(squareform(apart, checks=False), "average"))


def _draw(figure: Figure, canvas: Any) -> None:
    names, families = figure.setup["names"], figure.setup["families"]
    shares = np.array([curve["influence"] for curve in figure.data.values()])
    gain = np.array([curve["gain"][0] for curve in figure.data.values()])
    error = np.array([curve["gain_se"][0] for curve in figure.data.values()])
    count = len(names)
    far = np.array([curve["distance"] for curve in figure.data.values()])
    compared = bool(np.isfinite(far).any())
    canvas.set_size_inches(9.0 if compared else 7.0, max(3.4, 1.3 + 0.11 * min(count, MOST_NAMED)))
    left, middle, right, *more = canvas.subplots(1, 3 + compared, width_ratios=(1.5, 1, 0.9, 1.5)[: 3 + compared])
    for axes in more:
        image = axes.imshow(far, aspect="auto", cmap="Blues_r", vmin=0, vmax=2)
        canvas.colorbar(image, ax=axes, location="top", shrink=0.8, extend="max", label="distance (below 1: alike)")
        axes.grid(False)
        axes.set(xlabel="of site $k$", ylabel="from site $i$", xticks=[], yticks=[])
    off = shares[~np.eye(count, dtype=bool)] if count > 1 else shares
    image = left.imshow(shares, aspect="auto", cmap="Blues", vmin=0, vmax=max(float(off.max()) * 1.5, 1e-9))
    canvas.colorbar(image, ax=left, location="top", shrink=0.8, extend="max", label="influence (own: darkest)")
    left.grid(False)
    left.set(xlabel="of site $k$", ylabel="on the model of site $i$")
    at = np.arange(count)
    known = np.isfinite(gain)
    colours = np.where(gain > 2 * error, BLUE, np.where(gain < -2 * error, VERMILION, BLACK))
    for y, value, half, colour in zip(at[known], gain[known], 2 * error[known], colours[known]):
        middle.errorbar(value, y, xerr=half, fmt="o", markersize=3, linewidth=0.8, color=str(colour))
    middle.axvline(0, color=BLACK, linewidth=0.7)
    if figure.setup["network_gain"] is not None:
        middle.axvline(figure.setup["network_gain"], color=BLUE, linewidth=0.8, linestyle=(0, (3, 1.5)))
    middle.set_ylim(count - 0.5, -0.5)
    for y in at[~known] if 1 < count <= MOST_NAMED else ():
        middle.text(0.5, y, "not known", transform=middle.get_yaxis_transform(), ha="center", va="center",
                    fontsize=SMALL, color="0.45")  # fmt: skip
    # a power of ten stands in the label, since matplotlib's own would stand on it
    largest = np.nanmax(np.abs([0.0, *gain, figure.setup["network_gain"] or 0.0]))
    power = int(np.floor(np.log10(largest))) if largest > 0 else 0
    unit = ""
    if not -3 < power < 4:
        middle.xaxis.set_major_formatter(lambda value, _: f"{value / 10.0**power:g}")
        unit = f" in $10^{{{power}}}$"
    middle.set_xlabel(f"gain per new row{unit}\n+- 2 se (loss); dashed: all sites", fontsize=SMALL)
    if count <= MOST_NAMED:
        short = [short_name(name) for name in names]
        for axes in (left, middle, *more):
            axes.set_yticks(at, short)
            if axes is not middle and count <= MOST_ACROSS:
                axes.set_xticks(at, short, rotation=90)
    right.barh(range(len(families)), list(families.values()), color=BLUE)
    right.set_yticks(range(len(families)), list(families), fontsize=SMALL)
    right.set_xlabel("weight of the\ncandidates", fontsize=SMALL)
