"""adaptive-1: size of client 1's sufficient cluster against the precision (Philippenko et al., Figure 1).

N = 20 clients, least squares with H = I in R^10 (R_i = |theta - theta_i|^2, mu = 2), minimisers
theta_i = theta + v N(0, I). A client enters at one exact precision, so every curve is a step function
given by its 20 jumps; so are the quantiles over draws: the median size reaches j where the median of
the j-th smallest entry precision lies.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.bounds import InputError, QuadraticCertificate, entry_precisions

from .figure import Content, Figure
from .maker import Progress, maker
from .style import BLUE, COLUMN_WIDTH, GREEN, ORANGE, SMALL, VERMILION

CLIENTS, FEATURES = 20, 10
SPREADS = {0.001: (BLUE, "o"), 0.01: (VERMILION, "s"), 0.1: (ORANGE, "D"), 1.0: (GREEN, "^")}
DRAWS = 1000
MU = 2.0
BAND = (0.05, 0.95)


@maker(
    "adaptive-1", "Figure 1 of adaptive: size of a client's sufficient cluster against the precision", unpublished=""
)
def sufficient_cluster(edition: str, *, draws: int = DRAWS, progress: Progress) -> Content:
    """The figure in one edition.

    stated     exact certificate, exact mu, threshold lambda -> 0 (the largest sufficient cluster)
    published  the released script: b^2 = 2 |xi_i - xi_k|^2 (half the exact value), mu estimated from 10^4 samples
    """
    import torch

    from suffice.simulate import Randomness, Stream

    if draws < 2:
        raise InputError("draws", draws, "give at least 2 draws, for the spread")
    offsets = Randomness(seeds=torch.arange(draws)).normal(
        iteration=0, stream=Stream.DATA, clients=CLIENTS, features=FEATURES
    )
    unit = _entries(offsets.numpy(), edition)  # (draws, N) at v = 1, sorted; precisions scale with v^2
    data: dict[str, dict[str, np.ndarray]] = {}
    for done, v in enumerate(SPREADS):
        entry = v**2 * unit
        curves = {
            f"v={v:g}": entry[0],
            f"v={v:g} median": np.quantile(entry, 0.5, axis=0, method="inverted_cdf"),
            # few members at the 5 % quantile of size: late entries
            f"v={v:g} 5%": np.quantile(entry, BAND[1], axis=0, method="inverted_cdf"),
            f"v={v:g} 95%": np.quantile(entry, BAND[0], axis=0, method="inverted_cdf"),
        }
        for name, jumps in curves.items():
            data[name] = {"epsilon": jumps, "size": np.arange(1, CLIENTS + 1, dtype=float)}
        progress(done + 1, len(SPREADS))
    return Content(
        title=f"Sufficient cluster of client 1, {_RULES[edition]}",
        data=data,
        units={"epsilon": "loss, the size holds from this precision on", "size": "clients"},
        setup={
            "clients": CLIENTS,
            "features": FEATURES,
            "spreads": list(SPREADS),
            "draws": draws,
            "seeds": [0, draws - 1],
            "seeded_draw": 0,
            "rule": _RULES[edition],
            "bands": list(BAND),
        },
    )


_RULES = {"stated": "exact certificate", "published": "rule of the released code"}


def _entries(offsets: np.ndarray, edition: str) -> np.ndarray:
    """Sorted precisions (draws, N) at which clients enter client 1's cluster, for xi = offsets (draws, N, d)."""
    distance2 = ((offsets - offsets[:, :1]) ** 2).sum(-1)
    if edition == "published":
        # 1 - b^2 / (2 mu eps) >= 0 with b^2 = 2 |xi_i - xi_k|^2
        return np.sort(2 * distance2 / (2 * estimated_mu(len(offsets))[:, None]), axis=1)
    # A = I: M = 0 and v = 2 (xi_i - xi_k), so the exact similarity is 1 - 4 |xi_i - xi_k|^2 / (2 mu eps).
    # The seeded draw goes through the general certificate; the tests hold the two together.
    entries = 4 * distance2 / (2 * MU)
    identity = np.broadcast_to(np.eye(FEATURES), (CLIENTS, FEATURES, FEATURES))
    certificate = QuadraticCertificate(A=identity, xi=-offsets[0])
    entries[0] = entry_precisions(certificate, mu=np.full(CLIENTS, MU), threshold=0.0)[0]
    return np.sort(entries, axis=1)


def estimated_mu(draws: int) -> np.ndarray:
    """2 lambda_min of the second-moment matrix of 10^4 standard normal rows, (draws,)."""
    import torch

    from suffice.simulate import Randomness, Stream

    from .regression import sampled_curvatures

    randomness = Randomness(seeds=torch.arange(draws))
    normal = randomness.normal(iteration=1, stream=Stream.DATA, clients=FEATURES, features=FEATURES).numpy()
    uniform = randomness.uniform(iteration=2, stream=Stream.DATA, clients=1, features=FEATURES).numpy()[:, 0]
    return sampled_curvatures(normal, uniform)[:, 0]


def size_at(curve: Any, epsilon: float) -> int:
    """Value of a step curve at one precision."""
    return int((np.asarray(curve["epsilon"]) <= epsilon).sum())


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: a step curve per spread, with the median and the band over draws."""
    canvas.set_size_inches(COLUMN_WIDTH, 2.5)
    axes = canvas.subplots()
    low, high = 1e-5, 10.0
    for v, (colour, marker) in SPREADS.items():
        name = f"v={v:g}"
        grid = np.geomspace(low, high, 600)
        many, few = (
            np.searchsorted(figure.data[f"{name} {side}"]["epsilon"], grid, side="right") for side in ("95%", "5%")
        )
        axes.fill_between(grid, few, many, step="post", color=colour, alpha=0.18, linewidth=0)
        x, middle = _steps(figure.data[f"{name} median"], low, high)
        axes.step(x, middle, where="post", color=colour, linestyle=(0, (1, 1)), linewidth=1)
        x, size = _steps(figure.data[name], low, high)
        axes.step(x, size, where="post", color=colour)
        if figure.edition == "published":
            at = 10.0 ** np.arange(-5, 2)  # where the published picture has its marks
        else:
            at = np.asarray(figure.data[name]["epsilon"])[4:-4:5]  # between both ends, where no two curves meet
            at = at[(at > low) & (at < high)]
            at = at if len(at) else np.array([high / 2])  # a curve that stays at one size
        axes.plot(
            at,
            [size_at(figure.data[name], p) for p in at],
            linestyle="none",
            marker=marker,
            color=colour,
            label=f"$v = {v:g}$",
            clip_on=False,
        )
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(0, CLIENTS + 1)
    axes.set_yticks([1, 5, 10, 15, 20])
    axes.set_xlabel(r"precision $\varepsilon$ (loss)")
    axes.set_ylabel(r"$|\mathcal{N}^*_1(\varepsilon)|$ (clients)")
    axes.set_title(
        f"{_RULES[figure.edition].capitalize()}\nline: one draw; dotted, band: median, 5 to 95 %",
        loc="left",
        fontsize=SMALL,
    )
    canvas.legend(loc="outside lower center", ncols=4, handletextpad=0.2, columnspacing=1.0)


def _steps(curve: Any, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    jumps = np.asarray(curve["epsilon"])
    inside = jumps[(jumps > low) & (jumps < high)]
    x = np.concatenate(([low], inside, [high]))
    return x, np.searchsorted(jumps, x, side="right")
