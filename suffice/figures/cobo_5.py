"""cobo-5: collaboration weights that CoBo learns on clustered quadratics (Hashemi, He and Jaggi 2024).

The paper's Figure 5 shows 80 vision clients; its Example 2 gives quadratics f_i = (a_i/2) |x - mu_k|^2 with known
clusters. Here: four clusters of four clients in R^10, a_i in [0.8, 1.2], centres 2 apart, a common start 8 away,
rho = sqrt(3) L/c as in Theorem I, weight step 0.1, weights from 1. eta = 1/(2 rho N): the theorem's step size
1/(2 sqrt(3) L) counts on c neighbours, and with all N = 4 c connected at the start eta rho N = 2 and models diverge.
A pair is right when its weight is above 1/2 exactly if both are of one cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.support.errors import InputError

from .cobo_3 import draw_matrices, pair_weights
from .figure import Figure, joined
from .maker import Progress, maker
from .setting import option, runs
from .style import BLACK, BLUE, COLUMN_WIDTH, GREEN, ORANGE, VERMILION, banded, headline

if TYPE_CHECKING:
    from suffice.simulate import Quadratics

CURVATURES = (0.8, 1.2)
START = 8.0
WEIGHT_STEP = 0.1
SAMPLINGS: dict[Any, str] = {"constant": "1/N", "mixed": "1/N for 0.2 %, then 1/t"}
BAND = (0.05, 0.95)
COLOURS = (BLUE, ORANGE, VERMILION, GREEN, BLACK)
ALL = "all"
"""The word that stands in the place of a client where a row is of all pairs."""
UNITS = {
    "iteration": "count",
    "right": "1, share of pairs whose weight is on the right side of 1/2, mean over seeds",
    "right_low": "1, 5 % quantile over seeds",
    "right_high": "1, 95 % quantile over seeds",
    "weight": "1, of the first seed",
}
NO_CODE = "the released code has no quadratics, and its vision runs need CIFAR-10"


@maker("cobo-5", "Figure 5 of cobo: collaboration weights on clustered quadratics",
       "Example 2's quadratics of 16 clients stand for the paper's 80 vision clients, as their constants are known.",
       unpublished=NO_CODE,
       least={"seeds": 1})  # fmt: skip
def selection(
    *,
    clients: int = option("a multiple of the clusters", default=16),
    clusters: int = option("groups of clients with the same optimum", default=4),
    features: int = option("coefficients of a model", default=10),
    distance: float = option("of the clusters' centres", default=2.0),
    noises: Sequence[float] = option("sigma, the root of the total variance [loss / theta]", default=(0.0, 0.1, 1.0)),
    iterations: int = option("steps of every model", default=1000),
    seeds: Sequence[int] = runs(12),
    progress: Progress,
) -> Figure:
    from suffice.simulate import generators

    if clients % clusters or clients == clusters:
        raise InputError("clients", clients, f"give a multiple of the {clusters} clusters, at least {2 * clusters}")
    if len(set(noises)) < len(noises) or len(noises) > len(COLOURS):
        raise InputError("noises", list(noises), f"give at most {len(COLOURS)}, all different")
    size = clients // clusters
    group, pairs = np.arange(clients) // size, ~np.eye(clients, dtype=bool)
    times = snapshots(iterations)
    grid = np.unique(np.concatenate((times, np.geomspace(1, iterations, 60).astype(int))))
    start = np.append(np.zeros(features - 1), START)  # on the last axis, far from every centre
    problem = generators.cobo_example(clusters, size, features, distance=distance, curvatures=CURVATURES, start=start)
    data: dict[str, dict[str, np.ndarray]] = {}
    for noise, sampling, weights in learned(problem, size, noises, seeds, grid, progress):
        right = ((weights > 0.5) == (group[:, None] == group))[..., pairs].mean(-1)  # (S, G)
        shares = (right.mean(0), *np.quantile(right, BAND, axis=0), np.full(len(grid), np.nan))
        data[joined(noise, sampling, ALL, ALL)] = dict(zip(UNITS, (grid.astype(float), *shares)))
        at, nothing = np.searchsorted(grid, times), np.full(len(times), np.nan)
        for i, k in zip(*np.nonzero(pairs)):
            values = (times.astype(float), nothing, nothing, nothing, weights[0, at, i, k])
            data[joined(noise, sampling, i, k)] = dict(zip(UNITS, values))
    return Figure(
        title="Collaboration weights of CoBo on clustered quadratics",
        data=data,
        units=UNITS,
        setup={
            "curvatures": list(CURVATURES),
            "start": START,
            "weight_step": WEIGHT_STEP,
            "samplings": SAMPLINGS,
        },
        keys=("sigma", "sampling", "client", "peer"),
    )


def learned(
    problem: Quadratics, size: int, noises: Sequence[float], seeds: Sequence[int], grid: np.ndarray, progress: Progress
) -> Iterator[tuple[float, str, np.ndarray]]:
    """Each noise and sampling with the weights after the iterations of the grid, (S, G, N, N); all take the same random
    numbers."""
    from suffice.simulate import Additive, CoBo, run

    n, last = problem.clients, int(grid[-1])
    rho = float(np.sqrt(3) * problem.constants().beta.max() / size)
    parts = [seeds] if isinstance(seeds, range) else [range(seed, seed + 1) for seed in seeds]
    setting: dict[str, Any] = {"iterations": last, "eta": 1 / (2 * rho * n), "grid": grid.tolist()}
    for done, (noise, how) in enumerate(product(noises, SAMPLINGS), 1):
        noisy = replace(problem, noise=Additive.isotropic(noise**2, problem.features, n))
        rule = CoBo(rho=rho, weight_step=WEIGHT_STEP, sampling=how, horizon=last)
        traces = [run(noisy, rule, seeds=part, weights=part, **setting) for part in parts]
        yield noise, how, np.concatenate([np.asarray(trace.weights) for trace in traces])
        progress(done, len(noises) * len(SAMPLINGS))


def snapshots(iterations: int) -> np.ndarray:
    """Iterations whose weights are shown: a hundredth, a tenth and all of them."""
    return np.unique([max(iterations // 100, 1), max(iterations // 10, 1), iterations])


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: a row of matrices for each noise level, pair accuracy below."""
    noises, iterations = figure.setup["noises"], figure.setup["iterations"]
    shown_noises = noises if len(noises) < 3 else [noises[0], noises[-1]]  # those between look like the first
    tall = 0.85 * len(shown_noises) + 0.2
    canvas.set_size_inches(COLUMN_WIDTH, 2.5 + tall)
    above, below = canvas.subfigures(2, 1, height_ratios=[tall, 1.9])
    rows = {rf"$\sigma = {noise:g}$": pair_weights(figure, noise, "constant") for noise in shown_noises}
    draw_matrices(above, rows, snapshots(iterations), "weight $w_{ij}$, one run")
    axes = below.subplots()
    for rank, (noise, colour) in enumerate(zip(noises, COLOURS)):
        width = max(3.0 - 0.9 * rank, 1.0)  # curves may coincide: the first is the widest
        t, right, low, high, _ = figure[noise, "constant", ALL, ALL].values()
        banded(axes, t, low, right, high, colour, label=rf"$\sigma = {noise:g}$", linewidth=width)
        axes.plot(t, figure[noise, "mixed", ALL, ALL]["right"], ":", color=colour, linewidth=width)
    axes.set(xscale="log", xlim=(1, iterations), ylim=(0, 1.03), xlabel="iteration $t$", ylabel="share of right pairs")
    words = "Pairs are sampled with 1/N (lines and bands),\nor with 1/N for 0.2 % of the time, then 1/t (dots)"
    headline(canvas, _message(figure), words)
    axes.legend(loc="upper left")


def _message(figure: Figure) -> str:
    """The share of pairs that are right at the end, over the noise levels, by each sampling: percent, rounded down."""
    ends = [[figure[noise, how, ALL, ALL]["right"][-1] for noise in figure.setup["noises"]] for how in SAMPLINGS]
    low, high = ([np.floor(1000 * (pick(last) + 1e-12)) / 10 for last in ends] for pick in (min, max))
    first, then = (f"{a:g} %" if a == b else f"{a:g} to {b:g} %" for a, b in zip(low, high))
    return f"Right pairs at the end with constant sampling: {first}; with mixed: {then}"
