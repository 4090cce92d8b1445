"""adaptive-1: size of client 1's sufficient cluster against the precision (Philippenko et al., Figure 1).

N = 20 clients, least squares with H = I in R^10 (R_i = |theta - theta_i|^2, mu = 2), minimisers
theta_i = theta + v N(0, I). A client enters at one exact precision, so every curve is a step function
given by its 20 jumps; so are the quantiles over draws: the median size reaches j where the median of
the j-th smallest entry precision lies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.bounds import QuadraticCertificate, entry_precisions
from suffice.support.errors import InputError

from .figure import Figure, joined
from .maker import maker
from .setting import option, runs
from .style import BLUE, COLUMN_WIDTH, GREEN, ORANGE, PURPLE, SKY, VERMILION, headline

LOOKS = ((BLUE, "o"), (VERMILION, "s"), (ORANGE, "D"), (GREEN, "^"), (PURPLE, "v"), (SKY, "P"))
MU = 2.0
BAND = (0.05, 0.95)
DRAW, MEDIAN, LOW, HIGH = "one draw", "median", "5 %", "95 %"
RULES = {"stated": "exact certificate", "published": "rule of the released code"}


@maker(
    "adaptive-1",
    "Figure 1 of adaptive: size of a client's sufficient cluster against the precision",
    "The paper's picture is the published edition, whose code takes half of the exact gap and estimates mu; the stated "
    "one has both exactly, with the median and 90 % of many draws beside its one.",
    unpublished="",
)
def sufficient_cluster(
    edition: str,
    *,
    clients: int = option("how many, client 1 among them", default=20),
    features: int = option("coefficients of a model", default=10),
    spreads: Sequence[float] = option(
        "standard deviations of optima about their centre, per feature", default=(0.001, 0.01, 0.1, 1.0)
    ),
    seeds: Sequence[int] = runs(1000),
) -> Figure:
    """The figure in one edition; the first seed is the one draw that is shown.

    stated     exact certificate, exact mu, threshold lambda -> 0 (the largest sufficient cluster)
    published  the released script: b^2 = 2 |xi_i - xi_k|^2 (half the exact value), mu estimated from 10^4 samples
    """
    import torch

    from suffice.simulate import Randomness, Stream

    if len(set(spreads)) != len(spreads) or len(spreads) > len(LOOKS):
        raise InputError("spreads", list(spreads), f"give at most {len(LOOKS)}, all different")
    randomness = Randomness(seeds=torch.tensor(seeds))
    offsets = randomness.normal(iteration=0, stream=Stream.DATA, clients=clients, features=features)
    unit = _entries(offsets.numpy(), edition, seeds)  # (draws, N) at v = 1, sorted; precisions scale with v^2
    sizes, data = np.arange(1, clients + 1, dtype=float), {}
    for v in spreads:
        # sizes at their 5 % quantile come later: entries at their 95 % quantile
        quantiles = np.quantile(v**2 * unit, (0.5, BAND[1], BAND[0]), axis=0, method="inverted_cdf")
        for statistic, jumps in zip((DRAW, MEDIAN, LOW, HIGH), (v**2 * unit[0], *quantiles)):
            data[joined(v, statistic)] = {"epsilon": jumps, "size": sizes}
    return Figure(
        title=f"Sufficient cluster of client 1, {RULES[edition]}",
        data=data,
        units={"epsilon": "loss, the size holds from this precision on", "size": "clients"},
        setup={"draws": len(seeds), "seeded_draw": seeds[0], "rule": RULES[edition], "bands": list(BAND)},
        keys=("spread", "statistic"),
    )


def _entries(offsets: np.ndarray, edition: str, seeds: Sequence[int]) -> np.ndarray:
    """Sorted precisions (draws, N) at which clients enter client 1's cluster, for xi = offsets (draws, N, d)."""
    from .regression import sampled_curvatures

    distance2 = ((offsets - offsets[:, :1]) ** 2).sum(-1)
    if edition == "published":
        # 1 - b^2 / (2 mu eps) >= 0 with b^2 = 2 |xi_i - xi_k|^2
        mu = sampled_curvatures(seeds, 1, 1, offsets.shape[-1])[:, 0, :1]  # estimated from 10^4 rows
        return np.sort(2 * distance2 / (2 * mu), axis=1)
    # A = I: M = 0 and v = 2 (xi_i - xi_k), so the exact similarity is 1 - 4 |xi_i - xi_k|^2 / (2 mu eps).
    # The seeded draw goes through the general certificate; the tests hold the two together.
    entries = 4 * distance2 / (2 * MU)
    _, n, d = offsets.shape
    certificate = QuadraticCertificate(A=np.broadcast_to(np.eye(d), (n, d, d)), xi=-offsets[0])
    entries[0] = entry_precisions(certificate, mu=np.full(n, MU), threshold=0.0)[0]
    return np.sort(entries, axis=1)


def size_at(curve: Any, epsilon: Any) -> Any:
    """Values of a step curve at precisions."""
    return np.searchsorted(np.asarray(curve["epsilon"]), epsilon, side="right")


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: a step curve per spread, with the median and the band over draws."""
    canvas.set_size_inches(COLUMN_WIDTH, 2.8)
    axes = canvas.subplots()
    setup, published = figure.setup, figure.edition == "published"
    # whole decades from where the mean peer of the least spread enters, 2 d v^2, to where the last of all has entered
    least = np.floor(np.log10(2 * setup["features"] * min(setup["spreads"]) ** 2))
    last = np.ceil(np.log10(max(curve["epsilon"].max() for curve in figure.data.values())))
    low, high = 10.0**least, 10.0 ** max(last, least + 1)
    grid = np.geomspace(low, high, 600)
    for v, (colour, marker) in zip(setup["spreads"], LOOKS):
        curves = {name: figure[v, name] for name in (DRAW, MEDIAN, LOW, HIGH)}
        few, many = (size_at(curves[side], grid) for side in (LOW, HIGH))
        axes.fill_between(grid, few, many, step="post", color=colour, alpha=0.18, linewidth=0)
        for name, width in ((MEDIAN, 2), (DRAW, 0.7)):
            jumps = curves[name]["epsilon"]
            x = np.concatenate(([low], jumps[(jumps > low) & (jumps < high)], [high]))
            axes.step(x, size_at(curves[name], x), where="post", color=colour, linewidth=width)
        at = 10.0 ** np.arange(least, np.log10(high) + 0.5)  # where the published picture has its marks
        if not published:
            at = curves[MEDIAN]["epsilon"][4:-4:5]  # between both ends, where no two curves meet
            at = at[(at > low) & (at < high)]
            at = at if len(at) else np.array([high / 2])  # a curve that stays at one size
        sizes = size_at(curves[DRAW if published else MEDIAN], at)
        axes.plot(at, sizes, linestyle="none", marker=marker, color=colour, label=f"$v = {v:g}$", clip_on=False)
    axes.set_xscale("log")
    axes.xaxis.set_minor_formatter("")  # the labels of a single decade would overlap
    axes.set(xlim=(low, high), ylim=(0, setup["clients"] * 1.05))
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.set(xlabel=r"precision $\varepsilon$ (loss)", ylabel="clients that help client 1")
    headline(
        canvas,
        "The finer the precision, the fewer clients help",
        f"Thick lines are medians of {setup['draws']} draws, bands hold 90 % of them, and thin lines are one draw\n"
        f"v is the spread of the optima in $d = {setup['features']}$; {RULES[figure.edition]}",
    )
    canvas.legend(loc="outside lower center", ncols=4, handletextpad=0.2, columnspacing=1.0)
