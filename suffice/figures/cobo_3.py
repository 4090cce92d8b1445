"""cobo-3: who listens to whom in networks of 8 clients, of Federated Clustering, IFCA and CoBo, from kept results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .figure import Figure, joined
from .maker import maker
from .network_curves import KEPT, columns_of, saved_results
from .style import COLUMN_WIDTH, headline

RULES = {"FC": "FC", "IFCA": "IFCA", "CoBo, constant": "CoBo"}
OWN = "cobo-silo"


@maker("cobo-3", "Figure 3 of cobo: who listens to whom in networks of 8 clients", **KEPT)
def matrices() -> Figure:
    rows = [row for row in saved_results("weights") if row["comparison"] == OWN and row["client"] != "all"]
    data = {
        joined(words, i, k): columns_of("weights", ("iteration", "weight"), comparison=OWN, rule=rule, client=i, peer=k)
        for rule, words in RULES.items()
        for i, k in dict.fromkeys((row["client"], row["peer"]) for row in rows)
    }
    return Figure(
        title="Collaboration weights of networks of 8 clients",
        data=data,
        units={"iteration": "count", "weight": "1, mean over seeds"},
        setup={"clients": 1 + max(int(row["client"]) for row in rows), "rules": list(RULES.values())},
        keys=("rule", "client", "peer"),
    )


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: a row of matrices for each rule, in shares of its largest weight."""
    rules = figure.setup["rules"]
    canvas.set_size_inches(COLUMN_WIDTH, 0.9 + 1.05 * len(rules))
    times = next(iter(figure.data.values()))["iteration"].astype(int)
    shown = {rule: pair_weights(figure, rule) for rule in rules}
    shares = {rule: matrices / np.nanmax(matrices) for rule, matrices in shown.items()}
    draw_matrices(canvas, shares, times, "weight, share of the rule's largest")
    last, pair = shown[rules[-1]][-1], np.arange(figure.setup["clients"]) // 2
    inside = 100 * np.nansum(last * (pair[:, None] == pair)) / np.nansum(last)
    message = f"{rules[-1]} gives {inside:.0f} % of its weight inside clusters in the end"
    headline(canvas, message, "Clients 2j and 2j + 1 name the classes alike; means over seeds")


def pair_weights(figure: Figure, *key: Any) -> np.ndarray:
    """The weights of all pairs whose curves begin with `key`, (times, N, N); NaN on the diagonal."""
    n = figure.setup["clients"]
    pairs = [(i, k) for i in range(n) for k in range(n) if i != k]
    weights = np.array([figure[(*key, *pair)]["weight"] for pair in pairs]).T
    found = np.full((len(weights), n, n), np.nan)
    found[:, *np.transpose(pairs)] = weights
    return found


def draw_matrices(canvas: Any, rows: Mapping[str, np.ndarray], times: np.ndarray, label: str) -> None:
    """A row of matrices with entries from 0 to 1 by its name, a column for each time."""
    panels = canvas.subplots(len(rows), len(times), squeeze=False)
    for row, (name, matrices) in zip(panels, rows.items()):
        for axes, matrix in zip(row, matrices):
            axes.imshow(matrix, vmin=0, vmax=1, cmap="cividis", interpolation="nearest")
            axes.grid(False)
            axes.set(xticks=[], yticks=[])
        row[0].set_ylabel(name)
    for axes, t in zip(panels[0], times):
        axes.set_title(f"$t = {t}$")
    canvas.colorbar(panels[0, 0].images[0], ax=panels, shrink=0.6, label=label, ticks=[0, 0.5, 1])
