"""The figure of a fit: which site listens to which, what each gains, who is like whom, which candidates it averaged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from .figure import SEPARATOR, Figure
from .style import BLACK, BLUE, SMALL, VERMILION, short_name

MOST_NAMED, MOST_ACROSS = 60, 20
UNITS = {"peer": "position", "influence": "1", "distance": "chance", "gain": "loss", "gain_se": "loss"}


def fit_figure(fit: Mapping[str, Any]) -> Figure:
    """The figure of the object of `suffice fit --json`. Sites are ordered so that those who listen to each other are
    neighbours."""
    clients: Sequence[Mapping[str, Any]] = fit["clients"]
    names, count = [client["name"] for client in clients], len(clients)
    shares = np.array([[client["weights"].get(name, 0.0) for name in names] for client in clients])
    order, far = grouped(shares).tolist(), np.full((count, count), np.nan)
    known = fit["rule"].get("distances") or {"compared": [], "distances": []}
    at = [names.index(name) for name in known["compared"]]
    if known["distances"]:
        far[np.ix_(at, at)] = known["distances"]
    data = {}
    for k in order:
        gains = (np.full(count, clients[k][key], dtype=float) for key in ("gain", "gain_se"))  # of None they are NaN
        columns = (np.arange(count), shares[k][order], far[k][order], *gains)
        data[names[k].replace(SEPARATOR, "/")] = dict(zip(UNITS, columns))
    return Figure(
        name="fit",
        title="Which site listens to which, what it gains, who is like whom, and what was averaged",
        data=data,
        units=UNITS,
        setup={
            "names": list(data),
            "families": dict(sorted(fit["rule"]["families"].items(), key=lambda entry: entry[1])),
            "network_gain": fit["rule"]["network_gain"],
        },
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


def matrix(axes: Any, values: np.ndarray, names: Sequence[str], words: tuple[str, str, str], most: float,
           colours: str = "Blues", aspect: str = "equal", **scale: Any) -> None:  # fmt: skip
    """A matrix of clients in colours with their scale, and names where there is room.

    words  what is said along it, beside it and at the scale
    """
    along, down, label = words
    image = axes.imshow(values, aspect=aspect, cmap=colours, vmin=0, vmax=most)
    axes.figure.colorbar(image, ax=axes, shrink=0.8, label=label, **scale)
    axes.grid(False)
    axes.set(xlabel=along, ylabel=down)
    if len(names) <= MOST_NAMED:
        axes.set_yticks(range(len(names)), names)
    if len(names) <= MOST_ACROSS:
        axes.set_xticks(range(len(names)), names, rotation=90)


def _draw(figure: Figure, canvas: Any) -> None:
    names, families, curves = figure.setup["names"], figure.setup["families"], figure.data.values()
    shares, far = (np.array([curve[what] for curve in curves]) for what in ("influence", "distance"))
    gain, error = (np.array([curve[what][0] for curve in curves]) for what in ("gain", "gain_se"))
    count, compared = len(names), bool(np.isfinite(far).any())
    canvas.set_size_inches(9.0 if compared else 7.0, max(3.4, 1.3 + 0.11 * min(count, MOST_NAMED)))
    left, middle, right, *more = canvas.subplots(1, 3 + compared, width_ratios=(1.5, 1, 0.9, 1.5)[: 3 + compared])
    at, short = np.arange(count), [short_name(name) for name in names]
    how: dict[str, Any] = {"aspect": "auto", "location": "top", "extend": "max"}
    for axes in more:
        axes.set(xticks=[], yticks=[])
        matrix(axes, far, short, ("of site $k$", "from site $i$", "distance (below 1: alike)"), 2, "Blues_r", **how)
    off = shares[~np.eye(count, dtype=bool)] if count > 1 else shares
    words = ("of site $k$", "on the model of site $i$", "influence (own: darkest)")
    matrix(left, shares, short, words, max(float(off.max()) * 1.5, 1e-9), **how)
    known, network = np.isfinite(gain), figure.setup["network_gain"]
    colours = np.where(gain > 2 * error, BLUE, np.where(gain < -2 * error, VERMILION, BLACK))
    for y, value, half, colour in zip(at[known], gain[known], 2 * error[known], colours[known]):
        middle.errorbar(value, y, xerr=half, fmt="o", markersize=3, linewidth=0.8, color=str(colour))
    middle.axvline(0, color=BLACK, linewidth=0.7)
    if network is not None:
        middle.axvline(network, color=BLUE, linewidth=0.8, linestyle=(0, (3, 1.5)))
    middle.set_ylim(count - 0.5, -0.5)
    if count <= MOST_NAMED:
        middle.set_yticks(at, short)
        for y in at[~known] if count > 1 else ():
            middle.text(0.5, y, "not known", transform=middle.get_yaxis_transform(), ha="center", va="center",
                        fontsize=SMALL, color="0.45")  # fmt: skip
    # a power of ten stands in the label, since matplotlib's own would stand on it
    largest = np.nanmax(np.abs([0.0, *gain, network or 0.0]))
    power = int(np.floor(np.log10(largest))) if largest > 0 else 0
    unit = "" if -3 < power < 4 else f" in $10^{{{power}}}$"
    if unit:
        middle.xaxis.set_major_formatter(lambda value, _: f"{value / 10.0**power:g}")
    middle.set_xlabel(f"gain per new row{unit}\n+- 2 se (loss); dashed: all sites", fontsize=SMALL)
    right.barh(range(len(families)), list(families.values()), color=BLUE)
    right.set_yticks(range(len(families)), list(families), fontsize=SMALL)
    right.set_xlabel("weight of the\ncandidates", fontsize=SMALL)
