"""who-helps-whom: how much collaboration shortens the way to a precision, by heterogeneity and precision.

N = 20 clients, R_i = |theta - theta_i|^2 in R^10 (mu = beta = 2), minimisers theta_i = theta + v N(0, I), variances
1. For each spread v and precision eps, as in the plan of client 0: the size of its sufficient cluster at the best
binary threshold, and the ratio of expected hitting times of eps, alone over together (bounds of both, Corollary 1,
corrected), from an excess of ten times the larger of 1 and eps. Below 1 collaboration does not pay: its step limit is
smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.bounds import (
    Binary,
    best_threshold,
    evaluate,
    find,
    sufficient_cluster,
    tight_variance,
)

from .figure import Content, Figure
from .maker import Progress, maker
from .style import COLUMN_WIDTH, SMALL, count_ticks, headline

MU = 2.0
SPREADS = tuple(np.geomspace(1e-3, 1, 49).tolist())
PRECISIONS = tuple(np.geomspace(1e-5, 10, 61).tolist())
LEVELS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)


@maker("who-helps-whom", "cluster size and speed-up by spread of the optima and precision", least={"seeds": 1})
def helpers(
    *,
    clients: int = 20,
    features: int = 10,
    sigma2: float = 1.0,
    spreads: Sequence[float] = SPREADS,
    precisions: Sequence[float] = PRECISIONS,
    seeds: Sequence[int] = range(25),
    progress: Progress,
) -> Content:
    """Medians over draws of minimisers, one a seed; sigma2: variance of each client's gradients."""
    import torch

    from suffice.simulate import Randomness, Stream

    spreads, epsilon = sorted(set(spreads)), np.unique(precisions)
    offsets = (
        Randomness(seeds=torch.as_tensor(seeds))
        .normal(iteration=0, stream=Stream.DATA, clients=clients, features=features)
        .numpy()
    )
    distance2 = ((offsets - offsets[:, :1]) ** 2).sum(-1)  # (draws, N)
    found = np.empty((len(spreads), len(seeds), len(epsilon), 2))
    for row, v in enumerate(spreads):
        # 1 - |grad R_0 - grad R_k|^2 / (2 mu eps), the gradients 2 v (theta_k - theta_0) apart everywhere
        similarity = np.maximum(1 - 4 * v**2 * distance2[:, None] / (2 * MU * epsilon[:, None]), 0)
        found[row] = _gain(similarity, epsilon, np.full(clients, sigma2))
        progress(row + 1, len(spreads))
    middle = np.median(found, axis=1)
    return Content(
        title="Cluster size and speed-up by heterogeneity and precision",
        data={
            f"{v:.6g}": {
                "epsilon": epsilon,
                "size": middle[row, :, 0],
                "speedup": middle[row, :, 1],
            }
            for row, v in enumerate(spreads)
        },
        units={"epsilon": "loss", "size": "clients, median over draws", "speedup": "1, median over draws"},
        setup={
            "clients": clients,
            "features": features,
            "sigma2": sigma2,
            "draws": len(seeds),
            "seeds": [min(seeds), max(seeds)],
        },
        keys=("spread",),
    )


def _gain(similarity: np.ndarray, precisions: np.ndarray, sigma2: np.ndarray) -> np.ndarray:
    """Size of the cluster and speed-up (..., E, 2) from client 0's similarities (..., E, N), variances (N,)."""
    threshold = np.asarray(best_threshold(similarity=similarity, sigma2=sigma2))
    s2, size = np.empty_like(threshold), np.empty_like(threshold)
    for at in np.ndindex(threshold.shape):
        rule = Binary(threshold=threshold[at])
        s2[at] = tight_variance(rule, similarity=similarity[at], sigma2=sigma2)
        size[at] = sufficient_cluster(rule, similarity=similarity[at]).sum()
    q = Binary(threshold=threshold).step_ratio(1 / len(sigma2))
    together, alone = _iterations(s2, q, precisions), _iterations(sigma2[0], 1.0, precisions)
    return np.stack([size, alone / together], axis=-1)


def _iterations(s2: Any, q: Any, eps: np.ndarray) -> Any:
    """E[tau] of Corollary 1 at its step, from ten times the larger of 1 and eps; mu = beta."""
    eta = np.minimum(q / MU, eps / s2)
    e0 = 10 * np.maximum(eps, 1)
    return evaluate(find("adaptive/corollary-1-expected-time"), eta=eta, mu=MU, beta=MU, q=q, s2=s2, eps=eps, e0=e0)


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: size of the cluster left, speed-up right."""
    from matplotlib.colors import LogNorm

    canvas.set_size_inches(2 * COLUMN_WIDTH, 2.9)
    left, right = canvas.subplots(1, 2, sharey=True, gridspec_kw={"wspace": 0.06})
    spreads = np.array([float(name) for name in figure.data])
    curves = list(figure.data.values())
    epsilon = np.asarray(curves[0]["epsilon"])
    size, speedup = (np.array([curve[what] for curve in curves]) for what in ("size", "speedup"))
    # 1 is neutral, so the map has two branches of one length; contours carry the values where colours are grey
    most = max(float(np.nanmax(speedup)), 1 / float(np.nanmin(speedup)), 2.0)
    # a contour of fewer cells than one in a hundred is a speck
    beyond = {level: np.mean(speedup < level if level < 1 else speedup > level) for level in LEVELS}
    levels = [level for level, share in beyond.items() if 0.01 < share < 1]
    ratios = [tick for tick in LEVELS if 1 / most <= tick <= most]
    for axes, values, label, norm, ticks in (
        (left, size, "clients in the sufficient cluster", None, count_ticks(figure.setup["clients"])),
        (right, speedup, "iterations alone / together", LogNorm(1 / most, most), ratios),
    ):
        image = axes.pcolormesh(
            epsilon, spreads, values, norm=norm, cmap="RdBu" if norm else "cividis", shading="nearest", rasterized=True
        )
        bar = canvas.colorbar(image, ax=axes, label=label, ticks=ticks)
        bar.ax.set_yticklabels([f"{tick:g}" for tick in ticks])
        bar.ax.minorticks_off()
        axes.grid(False)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(r"precision $\varepsilon$ (loss)")
    # expected entry of a peer: eps = 4 E|xi_0 - xi_k|^2 / (2 mu) = 2 d v^2
    shown = 2 * figure.setup["features"] * spreads**2
    for axes in (left, right):
        axes.plot(shown, spreads, "--", color="white" if axes is left else "0.25", linewidth=1.2)
        axes.set_xlim(epsilon[0], epsilon[-1])
    left.set_ylabel(r"spread $v$ of minimisers ($\theta$)")
    headline(
        canvas,
        "The closer the optima and the coarser the precision, the more clients help",
        r"Dashed lines show the mean precision $\varepsilon = 2 d v^2$ at which a peer enters, contours the speed-up",
    )
    lines = right.contour(epsilon, spreads, speedup, levels=levels, colors="black", linewidths=0.7)
    for label in right.clabel(lines, fmt=lambda level: f"{level:g}", fontsize=SMALL):
        label.set_rotation(0)
    # in grey a loss looks like a gain
    if (lost := np.argwhere(speedup < 0.9)).size:
        row, column = np.median(lost, axis=0).astype(int)
        right.annotate("slower", (epsilon[column], spreads[row]), ha="center", va="center", fontsize=SMALL)
