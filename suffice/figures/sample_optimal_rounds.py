"""sample-optimal-rounds: rounds of All-for-one to a precision (Even, Massoulie and Scaman 2022).

100 agents whose b_ij from agent 0 grow evenly to 1; mu = 1, sigma^2 = 1, a start 3 from agent 0's minimiser, e_0 as the
curvature L would have it there, kappa = 1 and 100.

lower bound      Theorem 1 at the best level of the start: no method needs fewer rounds on every instance
best weights     lambda_j ~ (sqrt(2 mu eps) - b_j)_+ in two stages, theorem-2-optimal-rounds
equal weights    on the agents with b_j^2 <= mu eps, theorem-2-rounds-threshold
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.bounds.theorems.sample_optimal.lower_bound import best_level, signal
from suffice.bounds.threshold_weights import precision_weights

from .figure import Figure, joined
from .maker import maker
from .sample_optimal_speedup import BALL, OURS, bound_of
from .setting import option
from .style import BLACK, BLUE, COLUMN_WIDTH, VERMILION, headline

KAPPAS = (1.0, 100.0)
START = 3.0
PRECISIONS = tuple(np.geomspace(1e-6, 0.1, 60).tolist())
LOOKS = {"equal weights": (VERMILION, "--"), "best weights": (BLUE, "-"), "lower bound": (BLACK, ":")}


@maker("sample-optimal-rounds", "sample-optimal: rounds against the precision, beside the lower bound", **OURS)
def rounds(
    *,
    agents: int = option("how many, agent 0 among them", default=100),
    spread: float = option("largest b, how far gradients are apart", default=1.0),
    precisions: Sequence[float] = option("excess losses", default=PRECISIONS),
) -> Figure:
    eps = np.unique(precisions)
    b = np.linspace(0, spread, agents)
    weights = precision_weights(b=b, mu=1.0, eps=eps)
    level = best_level(b=b, mu=np.ones_like(eps), eps=eps, ball=np.full_like(eps, BALL))
    least = signal(b=b, mu=np.ones_like(eps), e0=level)
    data = {}
    for kappa in KAPPAS:
        best = {
            "distance2": (START + weights @ b) ** 2,  # the mixture's minimiser is within B/mu of agent 0's
            "lambda2": (weights**2).sum(-1),
            "signal2": signal(b=b, mu=np.ones_like(eps), e0=eps),
        }
        near = (b <= np.sqrt(eps)[:, None]).sum(-1)
        values = {
            "best weights": bound_of("theorem-2-optimal-rounds", eps=eps, beta=kappa, **best),
            "equal weights": bound_of(
                "theorem-2-rounds-threshold", eps=eps, beta=kappa, e0=kappa * START**2 / 2, near=near
            ),
            "lower bound": bound_of("theorem-1-optimised", eps=eps, e0=level, signal2=least, ball=BALL),
        }
        data |= {joined(kappa, name): {"epsilon": eps, "rounds": of} for name, of in values.items()}
    return Figure(
        title="Rounds of All-for-one to a precision, and how many any method needs",
        data=data,
        units={"epsilon": "loss", "rounds": "1, samples of each agent"},
        setup={"start": START, "ball": BALL, "noise_variance": 1.0, "mu": 1.0},
        keys=("kappa", "method"),
    )


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: one panel for each kappa."""
    canvas.set_size_inches(2 * COLUMN_WIDTH, 2.6)
    panels = canvas.subplots(1, len(KAPPAS), sharey=True)
    for panel, kappa in zip(panels, KAPPAS):
        for name, (colour, line) in LOOKS.items():
            panel.plot(*figure[kappa, name].values(), linestyle=line, color=colour, label=name)
        panel.set(xscale="log", yscale="log", title=rf"$\kappa = {kappa:g}$", xlabel=r"precision $\varepsilon$ (loss)")
    panels[0].set_ylabel("rounds")
    canvas.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(LOOKS))
    equal, best, _ = (figure[KAPPAS[-1], name]["rounds"][0] for name in LOOKS)
    words = f"The best weights need {float(f'{equal / best:.2g}'):,.0f} times fewer rounds than equal ones"
    headline(
        canvas, words, rf"At $\kappa = {KAPPAS[-1]:g}$ and the finest precision; the lower bound holds for every method"
    )
