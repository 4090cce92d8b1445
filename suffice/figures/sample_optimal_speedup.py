"""sample-optimal-speedup: what All-for-one and All-for-all gain from N agents (Even, Massoulie and Scaman 2022).

f_i(x) = |x - m_i|^2 / 2 on the line, one noisy gradient of variance 1 per agent and round, common start 3 to the left
of agent 0's optimum m_0 = 0. Clusters: five of N/5 agents, optima 0, 1, 2, 3 and 4. Continuum: optima evenly on [0, 1].
Losses are quadratic, so every excess below is a closed form of two moments; nothing is sampled. The paper's own
experiment is in an appendix that was not available: this setting is ours.

All-for-one   agent 0 averages the gradients of its nearest agents; their number and the step minimise the bound of
              Theorem 2, tuned, for the given number of rounds
All-for-all   equal blocks of neighbours average, one gradient per agent; block length and step minimise the bound of
              Theorem 3; mean over agents
lower bound   Theorem 1 at the best level of the start: no method does better for agent 0 on every instance with these
              dissimilarities, with optima within 4 of the start. Rounds alone over its rounds bound every speed-up
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from suffice.bounds import evaluate, find
from suffice.support.errors import InputError

from .figure import Figure, joined
from .maker import Progress, maker
from .setting import option
from .style import BLACK, BLUE, COLUMN_WIDTH, GREEN, VERMILION, headline

AGENTS = (10, 20, 50, 100, 200, 500, 1000)
CLUSTERS = 5
START = -3.0
BALL = 4.0
ROUNDS = np.unique(np.geomspace(1, 50_000, 120).astype(int)).astype(float)
SETTINGS = ("clusters", "continuum")
NAMES = {"clusters": "five clusters", "continuum": "continuum"}
OURS: Any = {
    "differs": "The available text of the paper has no figure: the setting is ours, and nothing is sampled.",
    "unpublished": "no code was released with this paper",
}
LOOKS: dict[str, dict[str, Any]] = {
    "alone": {"color": VERMILION, "marker": "^"},
    "all-for-one": {"color": BLUE, "marker": "o"},
    "all-for-all": {"color": GREEN, "marker": "s"},
    "lower bound": {"color": BLACK, "marker": "", "linestyle": ":"},
}
METHODS = tuple(LOOKS)
PREDICTED = {"marker": "", "linestyle": "--", "linewidth": 1}


@maker("sample-optimal-speedup", "sample-optimal: rounds and speed-up against the number of agents", **OURS)
def speedup(
    *,
    agents: Sequence[int] = option("numbers of agents, multiples of 5", default=AGENTS),
    precision: float = option("excess to which rounds are counted", default=0.001),
    progress: Progress,
) -> Figure:
    if any(n < 2 * CLUSTERS or n % CLUSTERS for n in agents):
        raise InputError("agents", list(agents), f"give multiples of {CLUSTERS}, at least {2 * CLUSTERS}")
    data: dict[str, dict[str, np.ndarray]] = {}
    for done, (setting, n) in enumerate(product(SETTINGS, agents), 1):
        optima = np.linspace(0, 1, n)
        if setting == "clusters":
            optima = np.repeat(np.arange(CLUSTERS, dtype=float), n // CLUSTERS)
        lower = _least(optima)
        found = (_for_one(optima[:1]), _for_one(optima), _for_all(setting, optima), (lower, lower))
        for method, (excess, bound) in zip(METHODS, found):
            data[joined(setting, n, method)] = {"rounds": ROUNDS, "excess": excess, "bound": bound}
        progress(done, len(SETTINGS) * len(agents))
    return Figure(
        title="Rounds and speed-up of All-for-one and All-for-all against the number of agents",
        data=data,
        units={"rounds": "1, samples of each agent", "excess": "loss", "bound": "loss"},
        setup={"clusters": CLUSTERS, "start": START, "ball": BALL, "noise_variance": 1.0},
        keys=("setting", "agents", "method"),
    )


def bound_of(key: str, **values: Any) -> np.ndarray:
    """A bound of the paper where mu = 1 and sigma^2 = 1."""
    return np.asarray(evaluate(find(f"sample-optimal/{key}"), mu=1.0, sigma2=1.0, **values), dtype=float)


def _step(e0: np.ndarray, floor: np.ndarray) -> np.ndarray:
    """eta = min(1, ln(e_0/A)/T) of the tuned rows, where A <= e_0."""
    with np.errstate(all="ignore"):
        return np.minimum(1, np.log(np.maximum(e0 / floor, 1)) / ROUNDS[:, None])


def _excess(eta: np.ndarray, start: np.ndarray, bias: np.ndarray, lambda2: np.ndarray) -> np.ndarray:
    """E|x - m|^2 / 2 after T rounds: x - y shrinks by 1 - eta, y - m = bias; variance eta^2 Lambda_2 per round."""
    left = (1 - eta) ** ROUNDS[:, None]
    with np.errstate(all="ignore"):
        spread = np.where(eta > 0, eta * lambda2 / (2 - eta) * (1 - left**2), 0.0)
    return ((left * (start - bias) + bias) ** 2 + spread) / 2


def _best(excess: np.ndarray, bound: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The excess and the bound, per number of rounds, of the choice with the least bound; given (rounds, choices)."""
    best = np.argmin(bound, axis=1)[:, None]
    return np.take_along_axis(excess, best, 1)[:, 0], np.take_along_axis(bound, best, 1)[:, 0]


def _for_one(optima: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Excess of agent 0 and the bound that chose its peers, per number of rounds."""
    members, T = np.arange(1, len(optima) + 1), ROUNDS[:, None]
    bias = np.cumsum(optima) / members  # all optima are to the right of agent 0's, at distance b
    e0, floor = START**2 / 2, 1 / (2 * members * T)
    with np.errstate(all="ignore"):
        bound = bound_of("theorem-2-tuned", enforce=False, beta=1.0, e0=e0, lambda2=1 / members, bias=bias, T=T)
    excess = _excess(_step(np.full(1, e0), floor), np.full(1, START), bias, 1 / members)
    return _best(excess, np.where(floor <= e0, bound, np.inf))


def _for_all(setting: str, optima: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean excess over agents and the bound of Theorem 3 that chose the blocks, per number of rounds."""
    n = len(optima)
    sizes = [size for size in range(1, n + 1) if n % size == 0]
    if setting == "clusters":  # blocks within clusters, or everybody
        sizes = [size for size in sizes if (n // CLUSTERS) % size == 0 or size == n]
    e0 = float(((START - optima) ** 2).mean() / 2)
    excess, bound = [], []
    for size in sizes:
        blocks = optima.reshape(-1, size)
        bias = (blocks.mean(1, keepdims=True) - blocks).ravel()
        eta = _step(np.full(1, e0), np.full((len(ROUNDS), 1), 1 / (2 * size)) / ROUNDS[:, None])
        excess.append(_excess(eta, START - optima, bias, np.full(n, 1 / size)).mean(1))
        # Phi = (1/N) sum_ij lambda_ij |m_i - m_j|^2 / 2: the variance within blocks
        known = {"e0": e0, "weight2": 1 / size, "peer_excess": float(blocks.var(axis=1).mean())}
        known |= {"beta": 1.0, "smin": 1.0, "smax": 1.0}
        bound.append(bound_of("theorem-3", enforce=False, eta=eta[:, 0], T=ROUNDS, **known))
    return _best(np.transpose(excess), np.transpose(bound))


def _least(optima: np.ndarray) -> np.ndarray:
    """Theorem 1 for agent 0 at the best of many levels of the start, per number of rounds."""
    from suffice.bounds.theorems.sample_optimal.lower_bound import signal

    levels, T = np.geomspace(1e-7, BALL**2 / 2, 300), ROUNDS[:, None]
    signal2 = signal(b=optima[None] - optima[0], mu=np.ones(len(levels)), e0=levels)
    values = bound_of("theorem-1-excess", enforce=False, ball=BALL, e0=levels, signal2=signal2, T=T)
    # beyond, the theorem's hypothesis fails: the start's level is decided already
    return np.where(signal2 * T <= 100, values, 0).max(1)


def rounds_to(curve: Any, precision: float, column: str = "excess") -> float:
    """The first number of rounds, log-interpolated, from which the excess stays at most `precision`; NaN if none."""
    above = np.flatnonzero(curve[column] > precision)
    if len(above) == 0:
        return float(curve["rounds"][0])
    at = above[-1]
    if at + 1 == len(curve["rounds"]):
        return np.nan
    x, y = np.log(curve["rounds"][at : at + 2]), np.log(curve[column][at : at + 2])
    return float(np.exp(x[0] + (np.log(precision) - y[0]) * (x[1] - x[0]) / (y[1] - y[0])))


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: rounds to a precision above, speed-up below, against the number of agents."""
    agents, precision = figure.setup["agents"], figure.setup["precision"]
    canvas.set_size_inches(2 * COLUMN_WIDTH, 4.6)
    panels, gains = canvas.subplots(2, 2, sharex=True, sharey="row"), []
    for (above, below), setting in zip(panels.T, SETTINGS):
        alone = {}
        for method, look in LOOKS.items():
            for column, style in (("excess", look | {"markersize": 3}), ("bound", look | PREDICTED)):
                needed = np.array([rounds_to(figure[setting, n, method], precision, column) for n in agents])
                alone.setdefault(column, needed)
                if (method, column) != ("lower bound", "bound"):
                    above.plot(agents, needed, **style)
                    if method != "alone":
                        below.plot(agents, alone[column] / needed, **style)
                if (method, column) == ("all-for-one", "excess"):
                    gains.append(f"{(alone[column] / needed)[-1]:.3g} ({NAMES[setting]})")
        shares = [n / figure.setup["clusters"] if setting == "clusters" else n for n in agents]
        below.plot(agents, shares, color="0.6", linewidth=0.8, zorder=0)
        below.set_title("grey: agents alike, $N/5$" if setting == "clusters" else "grey: $N$", loc="left")
        above.set_title(f"{NAMES[setting]}, excess {precision:g}", loc="left")
        for axes in (above, below):
            axes.set(xscale="log", yscale="log")
        below.set_xlabel("number of agents $N$")
    panels[0, 0].set_ylabel("rounds (samples of each agent)")
    panels[1, 0].set_ylabel("speed-up, rounds alone / together")
    headline(canvas, f"With {agents[-1]} agents All-for-one is {' and '.join(gains)} times as fast as one alone")
    looks = [LOOKS[method] | {"markersize": 3} for method in METHODS[:3]]
    looks += [PREDICTED | {"color": "0.3", "linewidth": 1.4}, {"color": BLACK, "linestyle": ":"}]
    words = ["alone (agent 0)", "All-for-one (agent 0)", "All-for-all (mean)", "upper bounds", "lower bound (agent 0)"]
    handles = [panels[0, 0].plot([], [], **look)[0] for look in looks]
    canvas.legend(handles, words, loc="outside lower center", ncols=5, columnspacing=1.0, handlelength=1.6)
