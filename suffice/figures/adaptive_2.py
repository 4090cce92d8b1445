"""adaptive-2a and adaptive-2b: excess loss against iterations, 20 clients (Philippenko et al. 2025, Figure 2).

stated     two clusters that share their optimum, batch 2, b_alpha = 1, steps 1/(2 beta) and 1/(4 beta)
published  the released code: one centre plus 0.1 N(0, I) per client, a bias, batch 1, steps 1/(2 L_i) and 1/(8 L_i)

Plotted is the mean over clients of log10 of the excess, as in the picture; mean and standard deviation over seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .blocks import in_blocks
from .figure import Figure
from .maker import Progress, maker
from .setting import UNSTATED, Competitors, RegressionSetting, runs
from .style import BLACK, BLUE, COLUMN_WIDTH, GREEN, ORANGE, PURPLE, SKY, VERMILION, headline

if TYPE_CHECKING:
    from suffice.simulate import Algorithm

    from .regression import Contender

GREY, BROWN = "#7F7F7F", "#6B3E2E"
LOOKS: dict[str, tuple[str, Any]] = {
    "All-for-one binary": (BLUE, "-"),
    "All-for-one continuous": (SKY, (0, (6, 1))),
    "Local": (VERMILION, (0, (3, 1))),
    "FedAvg": (GREEN, (0, (8, 1, 1, 1))),
    "Oracle": (BLACK, (0, (1.5, 1))),
    "Ditto": (PURPLE, (0, (2.5, 1, 1, 1))),
    "CoBo": (ORANGE, (0, (5, 1, 1, 1))),
    "WGA-BC": (GREY, (0, (1, 0.8))),
    "APFL": (BROWN, (0, (5, 1, 1, 1, 1, 1))),
    "Local, batch 1": (VERMILION, (0, (1, 2.5))),
}
"""A colour and a line style of its own for every rule."""
SEEDS = runs(96)
TWO, TEN = RegressionSetting(features=2, iterations=100), RegressionSetting(features=10, iterations=200)
LOWEST = -20
"""The vertical axis is cut here; the legend says where a curve that leaves it ends."""
PUBLISHED_FINAL = {
    2: {"All-for-one binary": -9.55, "All-for-one continuous": -9.82, "Local": -6.23, "FedAvg": -1.99},
    10: {"All-for-one binary": -3.97, "All-for-one continuous": -4.92, "Local": -4.10, "FedAvg": -1.12},
}
"""Last values in the published picture, one run each."""
DIFFERS = (
    "Stated is the paper's text, with two clusters, and competitors whose parameters it does not give: these are ours. "
    "Published is the released code, with one centre, other steps and no competitors."
)


def convergence(standard: RegressionSetting) -> Callable[..., Figure]:
    """Computes excess against iterations, in a setting that stays the standard one where no option changes it."""

    def computed(
        edition: str,
        *,
        setting: RegressionSetting = standard,
        competitors: Competitors = UNSTATED,
        seeds: Sequence[int] = SEEDS,
        progress: Progress,
    ) -> Figure:
        from .regression import BLOCK, drawn, paths, step_sizes

        contenders = _contenders(edition, setting, competitors)

        def block(some: Sequence[int]) -> dict[str, np.ndarray]:
            eta = step_sizes(edition, setting, some)
            return paths(contenders, drawn(edition, setting, some), seeds=some, iterations=setting.iterations, eta=eta)

        found = in_blocks(seeds, BLOCK, block, progress)
        at, data = np.arange(setting.iterations + 1.0), {}
        for rule, path in found.items():
            mean, sd = path.mean(1), path.std(1, ddof=1)
            data[rule] = {"iteration": at, "mean_log10_excess": mean, "sd": sd, "se": sd / np.sqrt(len(seeds))}
        printed = edition == "published" and setting in (TWO, TEN)  # of another setting there is nothing in print
        return Figure(
            title=f"Excess loss against iterations, d = {setting.features}, {edition} setting",
            data=data,
            units={
                "iteration": "count",
                "mean_log10_excess": "log10 of loss, mean over clients and seeds",
                "sd": "log10 of loss, standard deviation over seeds of the mean over clients",
                "se": "log10 of loss, standard error of the mean over seeds",
            },
            setup=setting.facts(edition)
            | {
                "ratio": "Eq. (1) with b_alpha = 1" if edition == "stated" else "released code, one sample per pair",
                "weights": "1{r > 0} or r, divided by their sum",
                "published_final": PUBLISHED_FINAL[setting.features] if printed else {},
            },
            keys=("rule",),
        )

    return computed


ABOUT = "Figure {} of adaptive: excess loss against iterations, {} features"
two_features = maker("adaptive-2a", ABOUT.format("2a", "two"), DIFFERS, unpublished="")(convergence(TWO))
ten_features = maker("adaptive-2b", ABOUT.format("2b", "ten"), DIFFERS, unpublished="")(convergence(TEN))


def _contenders(edition: str, setting: RegressionSetting, competitors: Competitors) -> dict[str, Contender]:
    from suffice.simulate import FedAvg, FixedWeights, Local, ReleasedSimilarity, SampledSimilarity

    from .regression import Contender, all_for_one

    # Where a client uses its own samples alone, the other pairs' need not be drawn.
    single = {"pairwise": False}
    ratio = ReleasedSimilarity() if edition == "published" else SampledSimilarity(samples=1)
    rest: dict[str, Algorithm] = {"Local": Local(), "FedAvg": FedAvg()}
    if edition == "stated":
        rest |= {"Oracle": FixedWeights.clusters([i % 2 for i in range(setting.clients)]), **competitors.rules()}
    chosen = {
        f"All-for-one {criterion}": Contender(algorithm=all_for_one(ratio, criterion))
        for criterion in ("binary", "continuous")
    } | {name: Contender(algorithm=algorithm, changes=single) for name, algorithm in rest.items()}
    if edition == "stated" and setting.features > 2:
        chosen["Local, batch 1"] = Contender(algorithm=Local(), changes=single | {"batch": 1})
    return chosen


def _message(means: dict[str, np.ndarray]) -> str:
    """A sentence on the last values of the curves; those of other batches are left out."""
    last = {name: mean[-1] for name, mean in means.items() if "batch" not in name}
    ours = max(last["All-for-one binary"], last["All-for-one continuous"])
    mixing = [value for name, value in last.items() if not name.startswith(("All-for-one", "Oracle", "Local"))]
    if ours < last["Local"] < min(mixing):
        return "All-for-one ends below Local, and what mixes all clients stalls"
    ends = sorted(last, key=last.__getitem__)
    return f"{ends[0]} ends with the least loss, {ends[-1]} with the largest"


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data."""
    setup, printed = figure.setup, figure.setup["published_final"]
    canvas.set_size_inches(COLUMN_WIDTH, 3.1 if figure.edition == "published" else 3.7)
    axes = canvas.subplots()
    means = {name: curve["mean_log10_excess"] for name, curve in figure.data.items()}
    start = means["Local"][0]
    highest = max((mean.max() for mean in means.values() if mean[-1] < start + 1), default=start)
    lowest = min(np.nanmin(mean) for mean in means.values())
    bottom, top = max(lowest - 0.8, LOWEST), min(max(highest, start) + 0.8, start + 1.5)
    axes.set(xlim=(0, setup["iterations"]), yscale="log", ylim=(10**bottom, 10**top))
    cut = False
    for name, curve in figure.data.items():
        (colour, look), t, mean, sd = LOOKS[name], curve["iteration"], curve["mean_log10_excess"], curve["sd"]
        axes.fill_between(t, 10 ** (mean - sd), 10 ** (mean + sd), color=colour, alpha=0.12, linewidth=0)
        (line,) = axes.plot(t, 10**mean, color=colour, linestyle=look, label=name)
        if name in printed:
            axes.plot(t[-1], 10 ** printed[name], "x", color=colour, clip_on=False, zorder=5)
        # what leaves the axes is marked where it does, and the legend says where it ends
        out = np.flatnonzero((mean < bottom) | (mean > top))
        if len(out):
            edge, mark = (bottom, "v") if mean[out[0]] < bottom else (top, "^")
            axes.plot(out[0], 10**edge, mark, color=colour, clip_on=False, zorder=5)
            line.set_label(f"{name}, to $10^{{{mean[-1]:.0f}}}$")
            cut = True
    axes.set(xlabel="iteration", ylabel="excess (geometric mean)")
    what = f"$N = {setup['clients']}$, $d = {setup['features']}$, step {setup['step_words']}"
    what += f", spread {setup['spread']:g}" if "spread" in setup["changed"] else ""
    lines = [f"{what}; {setup['runs']} runs", "The bands are one standard deviation wide on each side"]
    lines += ["Crosses are the last values of the published picture (one run)"] * bool(printed)
    lines += ["Triangles say that a curve goes on to the value in the legend"] * cut
    headline(canvas, _message(means), "\n".join(lines))
    canvas.legend(loc="outside lower center", ncols=2, handlelength=2.6, columnspacing=1.0)
