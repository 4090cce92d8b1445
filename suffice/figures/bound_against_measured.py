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
from .style import BLUE, COLUMN_WIDTH, GREEN, ORANGE, PURPLE, SMALL, VERMILION

if TYPE_CHECKING:
    from suffice.simulate import Algorithm, Quadratics

INSTANCES = ("sharp", "ill-conditioned")
ROWS = {
    "adaptive/theorem-2-constant": (BLUE, "one client\n(adaptive, Theorem 2)"),
    "worst-case/contraction": (VERMILION, "two peers\n(contraction)"),
    "worst-case/noise-floor": (ORANGE, "noise on the steep axis\n(noise floor)"),
    "sample-optimal/theorem-2": (GREEN, "All-for-one\n(sample-optimal, Theorem 2)"),
    "sample-optimal/theorem-3": (PURPLE, "All-for-all\n(sample-optimal, Theorem 3)"),
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
def bound_vs_measured(*, iterations: int = 400, condition: float = 100.0, progress: Progress) -> Content:
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
    """Paint from the figure's data: a row per theorem."""
    canvas.set_size_inches(2 * COLUMN_WIDTH, 1.25 * len(ROWS) + 0.5)
    panels = canvas.subplots(len(ROWS), 2, sharex=True, sharey="row")
    for row, (key, (colour, words)) in enumerate(ROWS.items()):
        for column, instance in enumerate(INSTANCES):
            axes = panels[row, column]
            curve = figure.data[SEPARATOR.join((key, instance))]
            axes.plot(curve["iteration"], curve["measured"], color=colour, alpha=0.45, linewidth=2.6, label="exact")
            axes.plot(curve["iteration"], curve["bound"], "--", color=colour, label="bound")
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xlim(1, figure.setup["iterations"])
            ratio = curve["bound"][-1] / curve["measured"][-1]
            place = words.replace("\n", " ") if column == 0 else "the same theorem, ill-conditioned"
            axes.set_title(f"{place}: ratio at the end {ratio:.3g}", loc="left", fontsize=SMALL)
        panels[row, 0].set_ylabel("excess (loss)")
        panels[row, 0].set_ylim(bottom=max(panels[row, 0].get_ylim()[0], 1e-6))
    for axes in panels[-1]:
        axes.set_xlabel("iteration $t$")
    looks = (("-", 2.6, 0.45), ("--", 1.4, 1.0))
    handles = [panels[0, 0].plot([], [], a, color="0.2", linewidth=b, alpha=c)[0] for a, b, c in looks]
    canvas.legend(handles, ["exact expectation", "bound"], loc="outside lower center", ncols=2)
