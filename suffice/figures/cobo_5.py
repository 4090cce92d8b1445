"""cobo-5: collaboration weights that CoBo learns on clustered quadratics (Hashemi, He and Jaggi 2024).

The paper's Figure 5 shows 80 vision clients; its Example 2 gives quadratics f_i = (a_i/2) |x - mu_k|^2 with known
clusters. Here: four clusters of four clients in R^10, a_i in [0.8, 1.2], centres 2 apart, a common start 8 away,
rho = sqrt(3) L/c as in Theorem I, weight step 0.1, weights from 1. eta = 1/(2 rho N): the theorem's step size
1/(2 sqrt(3) L) counts on c neighbours, and with all N = 4 c connected at the start eta rho N = 2 and models diverge.
A pair is right when its weight is above 1/2 exactly if both are of one cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.support.errors import InputError

from .cobo_3 import draw_matrices, pair_weights
from .figure import SEPARATOR, Content, Figure
from .maker import Progress, maker
from .setting import option, runs
from .style import BLACK, BLUE, COLUMN_WIDTH, GREEN, ORANGE, VERMILION, headline

if TYPE_CHECKING:
    from suffice.simulate import Quadratics

CURVATURES = (0.8, 1.2)
START = 8.0
WEIGHT_STEP = 0.1
SAMPLINGS: dict[Any, str] = {"constant": "1/N", "mixed": "1/N for 0.2 %, then 1/t"}
BAND = (0.05, 0.95)
COLOURS = (BLUE, ORANGE, VERMILION, GREEN, BLACK)
ALL = "all"
"""It stands in the place of a client where a row is of all pairs."""
NO_CODE = "the released code has no quadratics, and its vision runs need CIFAR-10"


@dataclass(frozen=True, kw_only=True)
class Clustered:
    """Quadratics in clusters of one size, and how long CoBo learns on them."""

    clients: int = option("a multiple of the clusters", default=16)
    clusters: int = option("groups of clients with the same optimum", default=4)
    features: int = option("coefficients of a model", default=10)
    distance: float = option("of the clusters' centres", default=2.0)
    noises: Sequence[float] = option("sigma, the root of the total variance [loss / theta]", default=(0.0, 0.1, 1.0))
    iterations: int = option("steps of every model", default=1000)


CLUSTERED = Clustered()


@maker("cobo-5", "Figure 5 of cobo: collaboration weights on clustered quadratics",
       f"Example 2's quadratics of {CLUSTERED.clients} clients stand for the paper's 80 vision clients, as their "
       "constants are known.",
       unpublished=NO_CODE,
       least={"seeds": 1, "clusters": 1})  # fmt: skip
def selection(
    *,
    clustered: Clustered = CLUSTERED,
    seeds: Sequence[int] = runs(12),
    progress: Progress,
) -> Content:
    clients, clusters, features = clustered.clients, clustered.clusters, clustered.features
    distance, noises, iterations = clustered.distance, clustered.noises, clustered.iterations
    if clients % clusters or clients == clusters:
        raise InputError("clients", clients, f"give a multiple of the {clusters} clusters, at least {2 * clusters}")
    if len(set(noises)) < len(noises) or len(noises) > len(COLOURS):
        raise InputError("noises", list(noises), f"give at most {len(COLOURS)}, all different")
    group = np.arange(clients) // (clients // clusters)
    same, pairs = group[:, None] == group, ~np.eye(clients, dtype=bool)
    times = snapshots(iterations)
    grid = np.unique(np.concatenate((times, np.geomspace(1, iterations, 60).astype(int))))
    problem = example(clients, clusters, features, distance)
    found = learned(problem, clients // clusters, noises, seeds, grid, progress)  # (L, Q, S, G, N, N)
    nothing = np.full(len(grid), np.nan)
    columns = ("right", "right_low", "right_high", "weight")
    data: dict[str, dict[str, np.ndarray]] = {}
    for noise, of_noise in zip(noises, found):
        for sampling, weights in zip(SAMPLINGS, of_noise):
            right = ((weights > 0.5) == same)[..., pairs].mean(-1)  # (S, G)
            shares = (right.mean(0), *np.quantile(right, BAND, axis=0), nothing)
            data[_name(noise, sampling, ALL, ALL)] = {"iteration": grid.astype(float), **dict(zip(columns, shares))}
            at = np.searchsorted(grid, times)
            for i, k in zip(*np.nonzero(pairs)):
                values = (*[nothing[at]] * 3, weights[0, at, i, k])
                data[_name(noise, sampling, i, k)] = {"iteration": times.astype(float), **dict(zip(columns, values))}
    return Content(
        title="Collaboration weights of CoBo on clustered quadratics",
        data=data,
        units={
            "iteration": "count",
            "right": "1, share of pairs whose weight is on the right side of 1/2, mean over seeds",
            "right_low": "1, 5 % quantile over seeds",
            "right_high": "1, 95 % quantile over seeds",
            "weight": "1, of the first seed",
        },
        setup={
            "clusters": clusters,
            "clients": clients,
            "features": features,
            "curvatures": list(CURVATURES),
            "distance": distance,
            "start": START,
            "noises": list(noises),
            "weight_step": WEIGHT_STEP,
            "samplings": SAMPLINGS,
            "iterations": iterations,
        },
        keys=("sigma", "sampling", "client", "peer"),
    )


def example(clients: int, clusters: int, features: int, distance: float) -> Quadratics:
    """Example 2 with total noise variance 1; all start on the last axis, far from every centre."""
    from suffice.simulate import generators

    start = np.zeros(features)
    start[-1] = START
    size = clients // clusters
    return generators.cobo_example(clusters, size, features, distance=distance, curvatures=CURVATURES, start=start)


def learned(
    problem: Quadratics, size: int, noises: Sequence[float], seeds: Sequence[int], grid: np.ndarray, progress: Progress
) -> np.ndarray:
    """Weights after the iterations of the grid, (noises, samplings, S, G, N, N); all take the same random numbers."""
    from suffice.simulate import Additive, CoBo, run

    n, last = problem.clients, int(grid[-1])
    rho = float(np.sqrt(3) * problem.constants().beta.max() / size)
    parts = [seeds] if isinstance(seeds, range) else [range(seed, seed + 1) for seed in seeds]
    found = []
    for noise in noises:
        noisy = replace(problem, noise=Additive.isotropic(noise**2, problem.features, n))
        for how in SAMPLINGS:
            rule = CoBo(rho=rho, weight_step=WEIGHT_STEP, sampling=how, horizon=last)
            setting: dict[str, Any] = {"iterations": last, "eta": 1 / (2 * rho * n), "grid": grid.tolist()}
            traces = [run(noisy, rule, seeds=part, weights=part, **setting) for part in parts]
            found.append(np.concatenate([np.asarray(trace.weights) for trace in traces]))
            progress(len(found), len(noises) * len(SAMPLINGS))
    return np.stack(found).reshape(len(noises), len(SAMPLINGS), *found[0].shape)


def snapshots(iterations: int) -> np.ndarray:
    """Iterations whose weights are shown: a hundredth, a tenth and all of them."""
    return np.unique([max(iterations // 100, 1), max(iterations // 10, 1), iterations])


def _name(noise: float, sampling: str, client: object, peer: object) -> str:
    return SEPARATOR.join((f"{noise:g}", sampling, str(client), str(peer)))


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: a row of matrices for each noise level, pair accuracy below."""
    noises = figure.setup["noises"]
    shown_noises = noises if len(noises) < 3 else [noises[0], noises[-1]]  # those between look like the first
    tall = 0.85 * len(shown_noises) + 0.2
    canvas.set_size_inches(COLUMN_WIDTH, 2.5 + tall)
    above, below = canvas.subfigures(2, 1, height_ratios=[tall, 1.9])
    rows = {rf"$\sigma = {noise:g}$": pair_weights(figure, f"{noise:g}", "constant") for noise in shown_noises}
    draw_matrices(above, rows, snapshots(figure.setup["iterations"]), "weight $w_{ij}$, one run")
    axes = below.subplots()
    for rank, (noise, colour) in enumerate(zip(noises, COLOURS)):
        for sampling, line in (("constant", "-"), ("mixed", ":")):
            curve = figure.data[_name(noise, sampling, ALL, ALL)]
            label = rf"$\sigma = {noise:g}$" if sampling == "constant" else None
            # curves may coincide: the first is the widest
            width = max(3.0 - 0.9 * rank, 1.0)
            axes.plot(curve["iteration"], curve["right"], line, color=colour, label=label, linewidth=width)
            if sampling == "constant":
                low, high = curve["right_low"], curve["right_high"]
                axes.fill_between(curve["iteration"], low, high, color=colour, alpha=0.15, linewidth=0)
    axes.set_xscale("log")
    axes.set_xlim(1, figure.setup["iterations"])
    axes.set_ylim(0, 1.03)
    axes.set_xlabel("iteration $t$")
    axes.set_ylabel("share of right pairs")
    words = "Pairs are sampled with 1/N (lines and bands),\nor with 1/N for 0.2 % of the time, then 1/t (dots)"
    headline(canvas, _message(figure), words)
    axes.legend(loc="upper left")


def _message(figure: Figure) -> str:
    """The share of pairs that are right at the end, over the noise levels, by each sampling: percent, rounded down."""
    ends = [
        [figure.data[_name(noise, how, ALL, ALL)]["right"][-1] for noise in figure.setup["noises"]] for how in SAMPLINGS
    ]
    low, high = ([np.floor(1000 * (pick(last) + 1e-12)) / 10 for last in ends] for pick in (min, max))
    first, then = (f"{a:g} %" if a == b else f"{a:g} to {b:g} %" for a, b in zip(low, high))
    return f"Right pairs at the end with constant sampling: {first}; with mixed: {then}"
