"""best-threshold: optimal lambda, and the sufficient variance of each criterion, against precision.

N = 20 clients at distances from client 0 that grow geometrically, R_i = |theta - theta_i|^2 in R^10 (mu = beta = 2),
variances 1: rho_k = (1 - 4 |theta_0 - theta_k|^2 / (2 mu eps))_+, exactly. Definition 2's variance is
1 / sum_k psi(rho_k) / sigma_k^2; "tight" is the largest variance of the binary weights themselves over all
similarities r >= rho, never above it, at the same threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.bounds import (
    Binary,
    Continuous,
    QuadraticCertificate,
    Sharp,
    best_threshold,
    sufficient_variance,
    tight_variance,
)
from suffice.support.errors import InputError

from .figure import Content, Figure
from .maker import maker
from .style import BLACK, BLUE, COLUMN_WIDTH, GREEN, ORANGE, SMALL, VERMILION, headline

FEATURES = 10
MU = 2.0
PRECISIONS = tuple(np.geomspace(1e-5, 100, 400).tolist())
LOOKS: dict[str, tuple[str, Any]] = {
    "binary, best lambda": (BLUE, "--"),
    "binary, tight": (BLUE, "-"),
    "binary, lambda = 1/2": (ORANGE, (0, (1, 1))),
    "continuous": (VERMILION, (0, (6, 1.5))),
    "sharp": (GREEN, (0, (4, 1, 1, 1))),
}


@maker("best-threshold", "best binary threshold and its sufficient variance against the precision")
def thresholds(
    *, clients: int = 20, nearest: float = 0.01, spread: float = 1.0, precisions: Sequence[float] = PRECISIONS
) -> Content:
    """nearest, spread: distances of the nearest and of the furthest peer's minimiser."""
    if not 0 < nearest <= spread:
        raise InputError("nearest", nearest, f"give a distance above 0, at most that of the furthest, {spread:g}")
    epsilon, sigma2 = np.unique(precisions), np.ones(clients)
    similarity = _similarities(epsilon, np.geomspace(nearest, spread, clients - 1))
    best = np.asarray(best_threshold(similarity=similarity, sigma2=sigma2))
    chosen, half = Binary(threshold=best[:, None]), Binary(threshold=0.5)
    values = {
        "binary, best lambda": sufficient_variance(chosen, similarity=similarity, sigma2=sigma2),
        "binary, tight": np.array(
            [tight_variance(Binary(threshold=t), similarity=rho, sigma2=sigma2) for t, rho in zip(best, similarity)]
        ),
        "binary, lambda = 1/2": sufficient_variance(half, similarity=similarity, sigma2=sigma2),
        "continuous": sufficient_variance(Continuous(), similarity=similarity, sigma2=sigma2),
        "sharp": sufficient_variance(Sharp(), similarity=similarity, sigma2=sigma2),
    }
    data = {
        name: {
            "epsilon": epsilon,
            "variance": np.asarray(variance, dtype=float),
            "threshold": best if "lambda = 1/2" not in name and "binary" in name else np.full(len(epsilon), np.nan),
        }
        for name, variance in values.items()
    }
    data["binary, lambda = 1/2"]["threshold"] = np.full(len(epsilon), 0.5)
    return Content(
        title="Best binary threshold and sufficient variance against precision",
        data=data,
        units={"epsilon": "loss", "variance": "loss^2 / theta^2", "threshold": "1, NaN where there is none"},
        setup={
            "clients": clients,
            "features": FEATURES,
            "distances": [nearest, spread],
            "sigma2": 1.0,
            "mu": MU,
        },
        keys=("criterion",),
    )


def _similarities(precisions: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """rho_0k (precisions, N) of peers at these distances."""
    xi = np.zeros((1 + len(distances), FEATURES))
    xi[1:, 0] = -distances
    certificate = QuadraticCertificate(A=np.tile(np.eye(FEATURES), (len(xi), 1, 1)), xi=xi)
    return np.stack([certificate.similarity(np.full(len(xi), 2 * MU * eps))[0] for eps in precisions])


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: variances above, the best threshold below."""
    canvas.set_size_inches(COLUMN_WIDTH, 3.8)
    above, below = canvas.subplots(2, 1, sharex=True, height_ratios=[2, 1])
    for name, (colour, line) in LOOKS.items():
        curve = figure.data[name]
        label = name.replace("lambda", r"$\lambda$")
        above.plot(curve["epsilon"], curve["variance"], linestyle=line, color=colour, label=label)
    n = figure.setup["clients"]
    for value, words, place, side in ((1.0, "alone", 0.98, "right"), (1 / n, "everybody alike", 0.02, "left")):
        above.axhline(value, color=BLACK, linewidth=0.7, linestyle=(0, (1, 2)))
        above.text(place, value, words, ha=side, va="bottom", fontsize=SMALL, transform=above.get_yaxis_transform())
    curve = figure.data["binary, best lambda"]
    below.plot(curve["epsilon"], curve["threshold"], color=BLUE)
    above.set_xscale("log")
    above.set_yscale("log")
    above.set_xlim(curve["epsilon"][0], curve["epsilon"][-1])
    below.set_ylim(0, 1.05)
    above.set_ylabel(r"variance (loss$^2$/$\theta^2$)")
    below.set_ylabel(r"best $\lambda$")
    below.set_xlabel(r"precision $\varepsilon$ (loss)")
    canvas.legend(*above.get_legend_handles_labels(), loc="outside lower center", ncols=2, columnspacing=1.0)
    message = (
        "The best threshold changes with the precision" if np.ptp(curve["threshold"]) > 0 else "One threshold is best"
    )
    headline(canvas, message, "The variance is the sufficient variance of each criterion")
