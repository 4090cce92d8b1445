"""collaboration: a network whose arrows vanish as precision sharpens, above the loss that bends when they do.

All-for-one with exact similarity ratios and continuous weights, beside everybody alone and everybody together. Clients
lie at their minimisers, projected on the two directions in which those differ most. An arrow k -> i says that client i
uses gradients of k, in the first run, and is as wide as their share. Curves are geometric means over clients and runs.

Unless a problem or a table is given: 8 clients, least squares in R^10 with H = I, one sample per step, minimisers
N(centre, 0.1^2 I), as in the released code of Philippenko et al. (2025), Figure 2b.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.support.errors import InputError

from .figure import Content, Figure
from .maker import Progress, maker
from .style import BLACK, BLUE, COLUMN_WIDTH, GREEN, SMALL, VERMILION, headline, label_ends

if TYPE_CHECKING:
    from suffice.simulate import Problem

FRAMES = 40
NAMED = 16
"""The names of at most so many clients fit beside them."""
LOOKS = {"All-for-one": (BLUE, "-"), "alone": (VERMILION, (0, (4, 1.5))), "all together": (GREEN, (0, (1, 1)))}


@maker(
    "collaboration",
    "the slide: arrows vanish as precision sharpens (with --animate a GIF)",
    least={"clients": 3, "iterations": 2},
)
def collaboration(
    *,
    problem: Any = None,
    table: str | None = None,
    client: str = "client",
    target: str = "target",
    clients: int = 8,
    features: int = 10,
    spread: float = 0.1,
    iterations: int = 200,
    seeds: Sequence[int] = range(32),
    step: float = 1 / 8,
    progress: Progress,
) -> Content:
    """The slide of a problem, of a table of clients (with its columns `client` and `target`), or of the default.

    clients, features, spread: of the default network; step: in units of 1/L_i, L_i the smoothness of client i
    """
    from suffice.simulate import FedAvg, Local, run
    from suffice.simulate.problems.read import read

    from .regression import all_for_one

    runs = range(seeds[0], seeds[0] + len(seeds))
    if tuple(runs) != tuple(seeds):
        raise InputError("seeds", list(seeds), "give how many, or neighbouring ones in their order")
    for name, value, default in (("clients", clients, 8), ("features", features, 10), ("spread", spread, 0.1)):
        if value != default and not (problem is None and table is None):
            raise InputError(name, value, "it is of the default network; leave it out where data are given")
    if problem is None:
        problem = _default(clients, features, spread) if table is None else read(table, client=client, target=target)
    eta = step / np.asarray(problem.constants().beta)
    rules = {"All-for-one": all_for_one("exact", "continuous"), "alone": Local(), "all together": FedAvg()}
    data: dict[str, dict[str, np.ndarray]] = {}
    weights = np.empty(0)
    for done, (name, rule) in enumerate(rules.items()):
        trace = run(problem, rule, iterations=iterations, eta=eta, seeds=runs,
                    weights=[seeds[0]] if name == "All-for-one" else None, clusters=name == "All-for-one")  # fmt: skip
        log = np.log(np.asarray(trace.excess)).mean(-1)  # (S, T + 1)
        count = {"alone": 1.0, "all together": float(problem.clients)}.get(name, 0.0)
        if name == "All-for-one":
            assert trace.weights is not None
            assert trace.cluster_sizes is not None
            # those with which the next step is taken; none is, after the last
            after = np.minimum(np.arange(1, iterations + 2), iterations)
            weights = np.asarray(trace.weights).reshape(-1, problem.clients, problem.clients)[after]
            count = np.asarray(trace.cluster_sizes).mean(-1)[after]
        data[name] = {
            "iteration": np.arange(iterations + 1, dtype=float),
            "excess": np.exp(log.mean(0)),
            "low": np.exp(np.quantile(log, 0.05, axis=0)),
            "high": np.exp(np.quantile(log, 0.95, axis=0)),
            "collaborators": np.broadcast_to(count, iterations + 1).astype(float),
        }
        progress(done + 1, len(rules))
    times = np.unique(np.concatenate((moments(data["All-for-one"]["collaborators"]),
                                      np.linspace(0, iterations, FRAMES).round().astype(int))))  # fmt: skip
    arrows = {int(t): [[int(i), int(k), float(weights[t, i, k] / weights[t, i].sum())]
                       for i, k in np.argwhere(weights[t] > 0)] for t in times}  # fmt: skip
    return Content(
        title="Who collaborates with whom, and how fast the loss falls",
        data=data,
        units={
            "iteration": "count",
            "excess": "loss, geometric mean over clients and runs",
            "low": "loss, 5 % quantile over runs",
            "high": "loss, 95 % quantile over runs",
            "collaborators": "clients with a positive weight, itself included, mean over clients and runs",
        },
        setup={
            "clients": list(problem.names),
            "features": problem.features,
            "places": _places(problem).tolist(),
            "arrows": {t: [arrow for arrow in drawn if arrow[0] != arrow[1]] for t, drawn in arrows.items()},
            "iterations": iterations,
            "runs": len(seeds),
            "step_size": eta.tolist(),
        },
        keys=("rule",),
    )


def _default(clients: int, features: int, spread: float) -> Problem:
    import torch

    from suffice.simulate import Randomness, Stream, StreamingLeastSquares

    randomness = Randomness(seeds=torch.tensor([0]))
    offsets = randomness.normal(iteration=0, stream=Stream.DATA, clients=clients, features=features)[0].numpy()
    centre = 10 * randomness.uniform(iteration=1, stream=Stream.DATA, clients=1, features=features)[0].numpy() - 5
    return StreamingLeastSquares.of(np.eye(features), centre + spread * offsets)


def _places(problem: Problem) -> np.ndarray:
    """(N, 2) in [-1, 1]: principal components of the minimisers, pushed apart where they are close."""
    optimum = np.asarray(problem.optimum.double())
    centred = optimum - optimum.mean(0)
    left, size, _ = np.linalg.svd(centred, full_matrices=False)
    at = np.zeros((len(optimum), 2))
    at[:, : min(2, len(size))] = (left * size)[:, :2]
    at /= max(float(np.abs(at).max()), 1e-300)
    for _ in range(50):
        apart = at[:, None] - at[None]
        distance = np.linalg.norm(apart, axis=-1) + np.eye(len(at))
        push = np.maximum(0.28 * max(1, 20 / len(at)) ** 0.5 - distance, 0) * (1 - np.eye(len(at)))
        angle = 2.4 * np.arange(len(at))  # clients at one place leave it in different directions
        away = np.where(distance[..., None] > 1e-9, apart / distance[..., None],
                        np.stack([np.cos(angle), np.sin(angle)], -1)[:, None])  # fmt: skip
        at = at + 0.5 * (push[..., None] * away).sum(1)
    return at / np.maximum(np.abs(at).max(0), 1e-300)


def moments(collaborators: np.ndarray) -> np.ndarray:
    """Three iterations: the first, the one halfway down, and one well after the last drop."""
    half = (collaborators[0] + collaborators.min()) / 2
    middle = int(np.argmin(np.abs(collaborators - half)))
    least = int(np.argmax(collaborators <= collaborators.min() + 0.05))
    last = len(collaborators) - 1
    return np.unique([0, middle, min(max(least, (middle + last) // 2), last)])


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: three networks above the curves."""
    canvas.set_size_inches(2 * COLUMN_WIDTH, 4.6)
    first, *_, last = moments(figure.data["All-for-one"]["collaborators"])
    arrows = {int(t): len(pairs) for t, pairs in figure.setup["arrows"].items()}
    times = sorted({first, min(arrows, key=lambda t: abs(arrows[t] - arrows[0] / 2)), last})
    above, below = canvas.subfigures(2, 1, height_ratios=[1.1, 1])
    ends = {name: curve["excess"][-1] for name, curve in figure.data.items()}
    wins = ends["All-for-one"] < min(ends["alone"], ends["all together"])
    headline(
        canvas,
        "Learn together while it helps, then alone: All-for-one beats both"
        if wins
        else "Who uses whose gradients, and how fast the loss falls",
        "An arrow points from a client to one that uses its gradients, and is as wide as their share (first run)",
    )
    for number, (axes, t) in enumerate(zip(above.subplots(1, len(times), squeeze=False)[0], times)):
        _network(figure, axes, int(t), "abc"[number])
    axes = below.subplots()
    _curves(figure, axes, figure.setup["iterations"])
    curve = figure.data["All-for-one"]
    for number, t in enumerate(times):
        axes.plot(t, curve["excess"][t], "o", color=BLUE, markersize=5, clip_on=False, zorder=5)
        axes.annotate("abc"[number], (t, curve["excess"][t]), xytext=(7, 1), textcoords="offset points",
                      fontweight="bold")  # fmt: skip


def frames(figure: Figure) -> list[int]:
    """Iterations that the moving picture shows."""
    return sorted(map(int, figure.setup["arrows"]))


def draw_frame(figure: Figure, canvas: Any, t: int) -> None:
    """One of them: the network beside the curves so far."""
    canvas.set_size_inches(2 * COLUMN_WIDTH, 2.8)
    left, right = canvas.subplots(1, 2, width_ratios=(1, 1.4))
    _network(figure, left, t, "")
    _curves(figure, right, t)


def _network(figure: Figure, axes: Any, t: int, letter: str) -> None:
    place = np.array(figure.setup["places"])
    arrows = figure.setup["arrows"]
    pairs = arrows.get(t, arrows.get(str(t)))
    for i, k, *share in pairs:  # files of earlier versions have no shares
        along = (place[i] - place[k]) / np.linalg.norm(place[i] - place[k])
        side = 0.03 * np.array([-along[1], along[0]])  # both directions of a pair side by side
        head = {"arrowstyle": "-|>,head_width=0.12,head_length=0.24", "linewidth": 8 * (share or [0.1])[0]}
        axes.annotate("", place[i] - 0.09 * along + side, xytext=place[k] + 0.09 * along + side,
                      arrowprops=head | {"color": BLUE, "shrinkA": 0, "shrinkB": 0})  # fmt: skip
    axes.plot(*place.T, "o", color="white", markeredgecolor=BLACK, markersize=5, zorder=3)
    names = figure.setup["clients"]
    if len(names) <= NAMED and names != [str(number) for number in range(len(names))]:
        for (x, y), name in zip(place, names):
            axes.annotate(name, (x, y), xytext=(0, 5), textcoords="offset points", ha="center", fontsize=SMALL)
    count = len(pairs) / len(place) + 1
    words = f"{letter}: " if letter else ""
    axes.set_title(f"{words}iteration {t}, collaborators: {count:.3g}", loc="left")
    axes.set_xlim(-1.15, 1.15)
    axes.set_ylim(-1.15, 1.15)
    axes.set_aspect("equal")
    axes.axis("off")


def _curves(figure: Figure, axes: Any, until: int) -> None:
    ends: list[tuple[float, str, str]] = []
    for name, (colour, line) in LOOKS.items():
        curve = figure.data[name]
        part = slice(0, until + 1)
        axes.fill_between(curve["iteration"][part], curve["low"][part], curve["high"][part], color=colour, alpha=0.15,
                          linewidth=0)  # fmt: skip
        axes.plot(curve["iteration"][part], curve["excess"][part], color=colour, linestyle=line)
        ends.append((float(curve["excess"][until]), name, colour))
    everything = np.concatenate([np.concatenate((curve["low"], curve["high"])) for curve in figure.data.values()])
    axes.set_yscale("log")
    axes.set_ylim(everything.min() / 2, everything.max() * 2)
    axes.set_xlim(0, 1.02 * figure.setup["iterations"])
    for at, alpha in ((figure.setup["iterations"], 0.0), (until, 1.0)):  # unseen ones keep axes of frames in place
        label_ends(axes, at, ends, alpha=alpha)
    axes.set_xlabel("iteration")
    axes.set_ylabel("excess loss")
    axes.set_title(f"lines are geometric means of {figure.setup['runs']} runs; bands hold 90 % of them", loc="left")
