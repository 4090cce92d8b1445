"""cobo-3: who listens to whom in networks of 8 clients, of Federated Clustering, IFCA and CoBo, from kept results."""

from __future__ import annotations

from typing import Any

import numpy as np

from .figure import SEPARATOR, Content, Figure
from .maker import maker
from .network_curves import KEPT
from .network_results import columns_of, saved_results
from .style import COLUMN_WIDTH, headline

RULES = {"FC": "FC", "IFCA": "IFCA", "CoBo, constant": "CoBo"}
OWN = "cobo-silo"


@maker("cobo-3", "Figure 3 of cobo: who listens to whom in networks of 8 clients", **KEPT)
def matrices() -> Content:
    rows = [row for row in saved_results("weights") if row["comparison"] == OWN and row["client"] != "all"]
    data = {
        SEPARATOR.join((words, i, k)): columns_of(
            "weights", ("iteration", "weight"), comparison=OWN, rule=rule, client=i, peer=k
        )
        for rule, words in RULES.items()
        for i, k in dict.fromkeys((row["client"], row["peer"]) for row in rows)
    }
    units = {"iteration": "count", "weight": "1, mean over seeds"}
    setup = {"clients": 1 + max(int(row["client"]) for row in rows), "rules": list(RULES.values())}
    title = "Collaboration weights of networks of 8 clients"
    return Content(title=title, data=data, units=units, setup=setup, keys=("rule", "client", "peer"))


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: a row of matrices for each rule, in shares of its largest weight."""
    rules, n = figure.setup["rules"], figure.setup["clients"]
    times = next(iter(figure.data.values()))["iteration"].astype(int)
    canvas.set_size_inches(COLUMN_WIDTH, 0.9 + 1.05 * len(rules))
    panels = canvas.subplots(len(rules), len(times), squeeze=False)
    image, message = None, ""
    for row, rule in zip(panels, rules):
        shown = np.full((len(times), n, n), np.nan)
        for i in range(n):
            for k in range(n):
                if i != k:
                    shown[:, i, k] = figure.data[SEPARATOR.join((rule, str(i), str(k)))]["weight"]
        largest = np.nanmax(shown)
        for axes, t, matrix in zip(row, times, shown):
            image = axes.imshow(matrix / largest, vmin=0, vmax=1, cmap="cividis", interpolation="nearest")
            axes.grid(False)
            axes.set_xticks([])
            axes.set_yticks([])
            if rule == rules[0]:
                axes.set_title(f"$t = {t}$")
        row[0].set_ylabel(rule)
        message = f"{rule} gives {_inside(shown[-1]):.0f} % of its weight inside clusters in the end"
    canvas.colorbar(image, ax=panels, shrink=0.6, label="weight, share of the rule's largest", ticks=[0, 0.5, 1])
    headline(canvas, message, "Clients 2j and 2j + 1 name the classes alike; means over seeds")


def _inside(matrix: np.ndarray) -> float:
    """Per cent of the weights given to a peer that go to the other client of the pair."""
    pair = np.arange(len(matrix)) // 2
    return 100 * np.nansum(matrix * (pair[:, None] == pair)) / np.nansum(matrix)
