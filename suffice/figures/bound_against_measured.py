"""bound-against-measured: theorem rows beside exact expectations, on a sharp and on an ill-conditioned instance.

Left, instances chosen to come near the bound (condition number 1, or start and noise along the worst axes); right, the
same algorithm with condition number 100, where bounds that use mu and L alone are far above what happens. Measured
values are exact second moments (mean over clients for All-for-all), not sampled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.support.errors import InputError

from .figure import SEPARATOR, Content, Figure
from .maker import Progress, maker
from .setting import option
from .style import BLUE, COLUMN_WIDTH, GREEN, ORANGE, PURPLE, VERMILION, headline, label_ends

if TYPE_CHECKING:
    from suffice.simulate import Algorithm, Quadratics

INSTANCES = ("sharp", "ill-conditioned")
ROWS: dict[str, tuple[str, Any, str]] = {
    "adaptive/theorem-2-constant": (BLUE, "-", "one client (adaptive, Theorem 2)"),
    "worst-case/contraction": (VERMILION, "--", "two peers (contraction)"),
    "worst-case/noise-floor": (ORANGE, (0, (1, 1)), "noise on the steep axis"),
    "sample-optimal/theorem-2": (GREEN, (0, (4, 1, 1, 1)), "All-for-one (sample-optimal, Theorem 2)"),
    "sample-optimal/theorem-3": (PURPLE, (0, (8, 2)), "All-for-all (sample-optimal, Theorem 3)"),
}


@dataclass(frozen=True, kw_only=True)
class Instance:
    """A problem, the algorithm and its step, and what the theorem asks for besides T."""

    problem: Quadratics
    algorithm: Algorithm
    eta: float
    arguments: dict[str, float]
    mean: bool = False


@maker("bound-against-measured", "bounds beside exact expectations, sharp and ill-conditioned")
def bound_vs_measured(
    *,
    iterations: int = option("steps that are followed", default=400),
    condition: float = option("number, above 1, of the ill-conditioned instances", default=100.0),
    progress: Progress,
) -> Content:
    from suffice.bounds import evaluate, find
    from suffice.simulate import expected_excess

    if not condition > 1:
        raise InputError("condition", condition, "give a condition number above 1, of the ill-conditioned instances")
    grid = np.unique(np.geomspace(1, iterations, 40).astype(int))
    data: dict[str, dict[str, np.ndarray]] = {}
    for done, key in enumerate(ROWS):
        for instance in INSTANCES:
            case = _instance(key, 1.0 if instance == "sharp" else condition)
            exact = expected_excess(case.problem, case.algorithm, iterations=iterations, eta=case.eta)
            measured = exact.mean(1) if case.mean else exact[:, 0]
            values: dict[str, Any] = {**case.arguments, "eta": case.eta, "e0": measured[0], "T": grid.astype(float)}
            bound = evaluate(find(key), **values)
            data[SEPARATOR.join((key, instance))] = {
                "iteration": grid.astype(float),
                "measured": measured[grid],
                "bound": np.asarray(bound),
            }
        progress(done + 1, len(ROWS))
    return Content(
        title="Bounds against exact expectations, sharp and ill-conditioned",
        data=data,
        units={"iteration": "count", "measured": "loss", "bound": "loss"},
        setup={"iterations": iterations, "condition": condition},
        keys=("theorem", "instance"),
    )


def _instance(key: str, condition: float) -> Instance:
    """The instance of a row; condition 1 gives the sharp one. beta = 1 throughout."""
    import torch

    from suffice.simulate import AllForAll, FixedWeights, Local, Quadratics

    mu = 1 / condition
    axes = np.diag([1.0, mu]) if condition > 1 else np.eye(1)
    d = len(axes)
    both = {"mu": mu, "beta": 1.0}
    one = np.ones(d) / np.sqrt(d)
    if key == "adaptive/theorem-2-constant":
        problem = Quadratics.of(axes[None] / 2, np.zeros((1, d)), sigma2=0.01, start=one)
        return Instance(problem=problem, algorithm=Local(), eta=0.5, arguments=both | {"q": 1.0, "s2": 0.01})
    if key == "worst-case/contraction":
        # R_1 = c R_0 with c = 1 - sqrt(1 - r), r = 0.36; equal weights 1/2
        pull, eta = (1 + 0.2) / 2, 0.1
        scale = np.array([1.0, 0.2])[:, None, None]
        problem = Quadratics.of(scale * axes / 2, np.zeros((2, d)), sigma2=0.0, start=one)
        weights = torch.full((2, 2), 0.5, dtype=torch.float64)
        arguments = _known(key, both | {"pull": pull, "weight": 1.0})
        return Instance(problem=problem, algorithm=FixedWeights(alpha=weights), eta=eta, arguments=arguments)
    if key == "worst-case/noise-floor":
        # sharp: two axes, the start on the soft one and the noise on the steep one; else both isotropic
        kappa = 10.0 if condition == 1 else condition
        axes = np.diag([1.0, 1 / kappa])
        noise = np.diag([0.01, 0.0]) if condition == 1 else np.eye(2) * 0.005
        start = np.array([0.0, 1.0]) if condition == 1 else np.ones(2) / np.sqrt(2)
        problem = Quadratics.of(axes[None] / 2, np.zeros((1, 2)), covariance=noise[None], start=start)
        arguments = {"mu": 1 / kappa, "beta": 1.0, "pull": 1.0, "V": 0.01}
        return Instance(problem=problem, algorithm=Local(), eta=0.2, arguments=arguments)
    if key == "sample-optimal/theorem-2":
        # equal Hessians, gradients b apart along the soft axis
        b, weights = 0.1, torch.tensor([[0.5, 0.5], [0.5, 0.5]], dtype=torch.float64)
        xi = np.zeros((2, d))
        xi[1, -1] = -b / mu
        problem = Quadratics.of(np.stack([axes, axes]) / 2, xi, sigma2=0.001, start=-one)
        arguments = both | {"sigma2": 0.001, "lambda2": 0.5, "bias": b / 2}
        return Instance(problem=problem, algorithm=FixedWeights(alpha=weights), eta=0.1, arguments=arguments)
    labels = np.repeat([0, 1], 3)
    xi = np.zeros((6, d))
    xi[3:, 0] = -1.0
    problem = Quadratics.of(np.stack([axes] * 6) / 2, xi, sigma2=0.03, start=2 * one)
    arguments = both | {"smin": 1.0, "sigma2": 0.03, "weight2": 1 / 3, "peer_excess": 0.0}
    arguments = _known(key, arguments | {"smax": 1.0})
    return Instance(
        problem=problem, algorithm=AllForAll.clusters(labels.tolist()), eta=0.5, arguments=arguments, mean=True
    )


def _known(key: str, arguments: dict[str, float]) -> dict[str, float]:
    """Those that the theorem's bound or its conditions name."""
    from suffice.bounds import find

    names = {parameter.name for parameter in find(key).parameters}
    return {name: value for name, value in arguments.items() if name in names}


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: how many times the bound is too large, a panel per kind of instance."""
    canvas.set_size_inches(2 * COLUMN_WIDTH, 3.2)
    panels = canvas.subplots(1, 2, sharey=True)
    last: dict[str, list[float]] = {}
    for axes, instance in zip(panels, INSTANCES):
        last[instance] = []
        for key, (colour, line, words) in ROWS.items():
            curve = figure.data[SEPARATOR.join((key, instance))]
            ratio = curve["bound"] / curve["measured"]
            axes.plot(curve["iteration"], ratio, color=colour, linestyle=line, label=words)
            last[instance].append(float(ratio[-1]))
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(1, figure.setup["iterations"])
        axes.set_xlabel("iteration")
    panels[0].set_ylim(bottom=0.9)
    for axes, instance in zip(panels, INSTANCES):
        condition = 1 if instance == "sharp" else figure.setup["condition"]
        axes.set_title(
            f"{instance} instances, " + (rf"$\kappa = {condition:g}$" if condition > 1 else "attained or nearly")
        )
        ends = [(value, f"{value:.3g}", ROWS[key][0]) for key, value in zip(ROWS, last[instance])]
        label_ends(axes, figure.setup["iterations"], ends)
    panels[0].set_ylabel("bound / exact expectation")
    sharp, far = max(last["sharp"]), min(last["ill-conditioned"])
    message = (
        f"Bounds end at most {sharp:.2g} times above the truth on sharp instances, at least {far:.2g} times on others"
    )
    headline(
        canvas, message, "The numbers are the ratios at the end. Where the expectation dips towards 0 the ratio peaks"
    )
    canvas.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
