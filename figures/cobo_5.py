"""cobo-5: collaboration weights that CoBo learns on clustered quadratics (Hashemi, He and Jaggi 2024).

The paper's Figure 5 shows 80 vision clients; its Example 2 gives quadratics f_i = (a_i/2) |x - mu_k|^2 with known
clusters. Here: four clusters of four clients in R^10, a_i in [0.8, 1.2], centres 2 apart, a common start 8 away,
rho = sqrt(3) L/c as in Theorem I, weight step 0.1, weights from 1. eta = 1/(2 rho N): the theorem's step size
1/(2 sqrt(3) L) counts on c neighbours, and with all N = 4 c connected at the start eta rho N = 2 and models diverge.
A pair is right when its weight is above 1/2 exactly if both are of one cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.bounds import InputError, as_numbers

from .figure import SEPARATOR, Content, Figure
from .maker import Progress, maker
from .style import BLUE, COLUMN_WIDTH, ORANGE, VERMILION

if TYPE_CHECKING:
    from suffice.simulate import Quadratics

CLUSTERS, SIZE, FEATURES = 4, 4, 10
CURVATURES = (0.8, 1.2)
DISTANCE, START = 2.0, 8.0
WEIGHT_STEP = 0.1
NOISES = (0.0, 0.1, 1.0)
"""sigma, the root of the total variance [loss / theta]."""
SAMPLINGS = {"constant": "1/N", "mixed": "1/N for 0.2 %, then 1/t"}
ITERATIONS = 1000
SEEDS = 12
BAND = (0.05, 0.95)
COLOURS = dict(zip(NOISES, (BLUE, ORANGE, VERMILION)))
NO_CODE = "the released code has no quadratics, and its vision runs need CIFAR-10"


@maker("cobo-5", "Figure 5 of cobo: collaboration weights on clustered quadratics", unpublished=NO_CODE)
def selection(
    *,
    seeds: int = SEEDS,
    iterations: int = ITERATIONS,
    noises: Sequence[float] = NOISES,
    progress: Progress,
) -> Content:
    from .lockstep import in_blocks

    if isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 1:
        raise InputError("seeds", seeds, "give how many, at least 1")
    if iterations <= 100:
        raise InputError("iterations", iterations, "give over 100: the matrices show 10, 100 and the last")
    levels = as_numbers("noises", noises, ("n",))
    if (levels < 0).any():
        raise InputError("noises", levels.min().item(), "give standard deviations >= 0")
    noises = levels.tolist()
    same = np.repeat(np.arange(CLUSTERS), SIZE)[:, None] == np.repeat(np.arange(CLUSTERS), SIZE)
    pairs = ~np.eye(len(same), dtype=bool)
    times = snapshots(iterations)
    grid = np.unique(np.concatenate((times, np.geomspace(1, iterations, 60).astype(int))))
    data: dict[str, dict[str, np.ndarray]] = {}
    jobs = [(noise, sampling) for noise in noises for sampling in SAMPLINGS]

    def work(part: Sequence[int]) -> np.ndarray:
        return _weights(*jobs[part[0]], seeds, grid)

    for (noise, sampling), weights in zip(jobs, in_blocks(range(len(jobs)), 1, work, progress)):
        right = ((weights > 0.5) == same)[..., pairs].mean(-1)  # (S, G)
        series = {"accuracy": right.mean(0)}
        for share in BAND:
            series[f"accuracy {100 * share:g}%"] = np.quantile(right, share, axis=0)
        for name, values in series.items():
            data[_name(noise, sampling, name)] = {"iteration": grid.astype(float), "value": values}
        if sampling == "constant":
            at = np.searchsorted(grid, times)
            for i, k in zip(*np.nonzero(pairs)):
                data[_name(noise, sampling, f"w {i} {k}")] = {
                    "iteration": times.astype(float),
                    "value": weights[0, at, i, k],
                }
    return Content(
        title="Collaboration weights of CoBo on clustered quadratics",
        data=data,
        units={
            "iteration": "1",
            "value": "1, share of right pairs in the mean or a quantile of seeds; weight of seed 0",
        },
        setup={
            "clusters": CLUSTERS,
            "clients": len(same),
            "features": FEATURES,
            "curvatures": list(CURVATURES),
            "distance": DISTANCE,
            "start": START,
            "noises": list(noises),
            "weight_step": WEIGHT_STEP,
            "samplings": SAMPLINGS,
            "iterations": iterations,
            "seeds": [0, seeds - 1],
        },
        keys=("sigma", "sampling", "series"),
    )


def example(noise: float) -> Quadratics:
    """Example 2 with total noise variance noise^2; all start on the last axis, far from every centre."""
    from suffice.simulate import generators

    start = np.zeros(FEATURES)
    start[-1] = START
    return generators.cobo_example(
        CLUSTERS, SIZE, FEATURES, distance=DISTANCE, curvatures=CURVATURES, sigma2=noise**2, start=start
    )


def _weights(noise: float, sampling: str, seeds: int, grid: np.ndarray) -> np.ndarray:
    """Weights after the iterations of the grid, (S, G, N, N), on the paths of `suffice.simulate.run`."""
    import torch

    from suffice.simulate import CoBo, iterate

    problem = example(noise)
    smoothness, last = float(problem.constants().beta.max()), int(grid[-1])
    rule = CoBo(
        rho=np.sqrt(3) * smoothness / SIZE,
        weight_step=WEIGHT_STEP,
        sampling=sampling,  # pyright: ignore[reportArgumentType]
        horizon=last,
    )
    eta = torch.full((problem.clients,), 1 / (2 * rule.rho * problem.clients), dtype=problem.dtype)
    wanted = set(grid.tolist())
    states = iterate(problem, rule, seeds=torch.arange(seeds), iterations=last, eta=lambda t: eta)
    return np.stack([state["w"].numpy() for t, _, _, state in states if t in wanted], axis=1)


def snapshots(iterations: int) -> np.ndarray:
    """Iterations whose weights are shown."""
    return np.array([10, 100, iterations])


def _name(noise: float, sampling: str, series: str) -> str:
    return SEPARATOR.join((f"{noise:g}", sampling, series))


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: a row of matrices for each noise level, pair accuracy below."""
    noises, n = figure.setup["noises"], figure.setup["clients"]
    shown_noises = noises if len(noises) < 3 else [noises[0], noises[-1]]  # those between look like the first
    times = snapshots(figure.setup["iterations"])
    tall = 0.85 * len(shown_noises) + 0.2
    canvas.set_size_inches(COLUMN_WIDTH, 2.1 + tall)
    above, below = canvas.subfigures(2, 1, height_ratios=[tall, 1.9])
    panels = above.subplots(len(shown_noises), len(times), squeeze=False)
    image = None
    for row, noise in enumerate(shown_noises):
        shown = np.full((len(times), n, n), np.nan)
        for i in range(n):
            for k in range(n):
                if i != k:
                    shown[:, i, k] = figure.data[_name(noise, "constant", f"w {i} {k}")]["value"]
        for column, t in enumerate(times):
            axes = panels[row, column]
            image = axes.imshow(shown[column], vmin=0, vmax=1, cmap="cividis", interpolation="nearest")
            axes.grid(False)
            axes.set_xticks([])
            axes.set_yticks([])
            if row == 0:
                axes.set_title(f"$t = {t}$")
        panels[row, 0].set_ylabel(rf"$\sigma = {noise:g}$")
    above.colorbar(image, ax=panels, shrink=0.6, label="weight $w_{ij}$, one run", ticks=[0, 0.5, 1])
    axes = below.subplots()
    for rank, noise in enumerate(noises):
        for sampling, line in (("constant", "-"), ("mixed", ":")):
            curve = figure.data[_name(noise, sampling, "accuracy")]
            label = rf"$\sigma = {noise:g}$" if sampling == "constant" else None
            colour = COLOURS.get(noise, "0.4")
            # curves may coincide: the first is the widest
            width = max(3.0 - 0.9 * rank, 1.0)
            axes.plot(curve["iteration"], curve["value"], line, color=colour, label=label, linewidth=width)
            if sampling == "constant":
                low, high = (figure.data[_name(noise, sampling, f"accuracy {100 * s:g}%")]["value"] for s in BAND)
                axes.fill_between(curve["iteration"], low, high, color=colour, alpha=0.15, linewidth=0)
    axes.set_xscale("log")
    axes.set_xlim(1, figure.setup["iterations"])
    axes.set_ylim(0, 1.03)
    axes.set_xlabel("iteration $t$")
    axes.set_ylabel("share of right pairs")
    words = "pairs sampled with 1/N (lines; band: 5 to 95 %)\nor 1/N for 0.2 %, then 1/t (dotted)"
    axes.set_title(words, loc="left")
    axes.legend(loc="upper left")
