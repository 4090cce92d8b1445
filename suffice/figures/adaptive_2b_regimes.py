"""adaptive-2b-regimes: what makes the two regimes of Philippenko et al. (2025), Figure 2b? d = 10, 200 iterations.

All-for-one with the exact similarity ratio beside Local and FedAvg, in the released code's setting and in the stated
one; below, the number of collaborators. The data hold what adaptive-2b-ratios shows as well: Eq. (1) from 1 and from 16
samples and the released code's ratio, by two criteria, and the oracle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .adaptive_2 import TEN
from .blocks import in_blocks, part_of
from .figure import Figure, joined
from .maker import Progress, maker
from .setting import RegressionSetting, runs
from .style import BLUE, COLUMN_WIDTH, GREEN, VERMILION, banded, headline, label_ends

if TYPE_CHECKING:
    from suffice.simulate import Algorithm

SETTINGS = ("published", "stated")
TITLES = {"published": "Setting of the released code", "stated": "Stated setting"}
SHOWN = {
    "exact | binary": ("All-for-one", BLUE, "-"),
    "fedavg | none": ("all together", GREEN, (0, (1, 1))),
    "local | none": ("alone", VERMILION, (0, (4, 1.5))),
}
"""The rules that the picture shows, each with a name, a colour and a line."""


@maker(
    "adaptive-2b-regimes",
    "behind Figure 2b: All-for-one beside all together and alone, with the collaborators",
    "The paper has no such picture: it tells the two regimes of Figure 2b apart.",
    unpublished="",
)
def regimes(
    edition: str, *, setting: RegressionSetting = TEN, seeds: Sequence[int] = runs(20), progress: Progress
) -> Figure:
    """The figure: one column of panels per setting. Both editions show both settings, which is what it is about."""
    data: dict[str, dict[str, np.ndarray]] = {}
    facts = {name: setting.facts(name) for name in SETTINGS}
    for index, name in enumerate(SETTINGS):
        for rule, found in _paths(name, setting, seeds, part_of(progress, index, len(SETTINGS))).items():
            values, sizes = np.moveaxis(found, -1, 0)
            columns = {"iteration": np.arange(len(values), dtype=float), "mean_log10_excess": values.mean(1)}
            columns |= {"se": values.std(1, ddof=1) / np.sqrt(len(seeds)), "collaborators": sizes.mean(1)}
            data[joined(name, setting.features, rule)] = columns
    return Figure(
        title="Regimes of All-for-one by similarity ratio, criterion and setting",
        data=data,
        units={
            "iteration": "count",
            "mean_log10_excess": "log10 of loss, mean over clients and seeds",
            "se": "log10 of loss, standard error of the mean over seeds",
            "collaborators": "clients with a positive weight in the next step, itself included",
        },
        setup=facts["stated"]
        | {what: {name: facts[name][what] for name in SETTINGS} for what in ("spread", "step_size", "step_words")}
        | {
            "batch": {"published": 1, "stated": 2},
            "weights": "1{r > 0} or r, divided by their sum",
            "oracle": "published setting: its one cluster, all clients; stated: the client's own cluster",
            "samples": "one per client for all models, which leaves means as they are",
        },
        keys=("setting", "d", "rule", "criterion"),
    )


def _paths(edition: str, setting: RegressionSetting, seeds: Sequence[int], progress: Progress) -> dict[str, np.ndarray]:
    """Means over clients by rule, (iterations + 1, S, 2): of log10 excess, and of the number of positive weights of the
    step that comes next, which are known with the draw of that step."""
    from .regression import BLOCK, drawn, step_sizes, trace_of

    algorithms, last = _algorithms(edition, setting.clients), setting.iterations + 1
    alone = {joined("local", "none"): 1, joined("fedavg", "none"): setting.clients}

    def path(rule: str, *of_seed: Any) -> np.ndarray:
        kept = {} if rule in alone else {"weights": of_seed[1:2]}
        trace = trace_of(algorithms[rule], *of_seed, last - (rule in alone), **kept)
        sizes = np.full(last, alone.get(rule)) if trace.weights is None else (trace.weights[0, 1:] > 0).sum(-1).mean(-1)
        with np.errstate(divide="ignore"):
            return np.stack([np.log10(trace.excess[0, :last]).mean(-1), sizes], -1)

    def block(some: Sequence[int]) -> dict[str, np.ndarray]:
        eta = step_sizes(edition, setting, some).expand(len(some), setting.clients).numpy()
        # Sharing one sample of a client among all models leaves the law of every model's path as it is, so it does not
        # change means; the released code draws one per pair, at many times the cost.
        problems = (replace(problem, pairwise=False) for problem in drawn(edition, setting, some))
        each = list(zip(problems, map(int, some), eta))
        return {rule: np.stack([path(rule, *one) for one in each], 1) for rule in algorithms}

    return in_blocks(seeds, BLOCK, block, progress)


def _algorithms(edition: str, clients: int) -> dict[str, Algorithm]:
    """Rules by "ratio | criterion"."""
    from suffice.simulate import ExactSimilarity, FedAvg, FixedWeights, Local, ReleasedSimilarity, SampledSimilarity

    from .regression import all_for_one

    ratios = {"exact": ExactSimilarity(), **{f"m={m}": SampledSimilarity(samples=m) for m in (1, 16)}}
    clusters = [0 if edition == "published" else i % 2 for i in range(clients)]  # the released code's setting has one
    rest = {"local": Local(), "fedavg": FedAvg(), "oracle": FixedWeights.clusters(clusters)}
    return {
        joined(ratio, criterion): all_for_one(similarity, criterion)
        for ratio, similarity in (ratios | {"released": ReleasedSimilarity()}).items()
        for criterion in ("binary", "continuous")
    } | {joined(name, "none"): algorithm for name, algorithm in rest.items()}


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: excess above, collaborators below, one column per setting."""
    setup = figure.setup
    canvas.set_size_inches(2 * COLUMN_WIDTH, 4.2)
    panels = canvas.subplots(2, 2, sharex=True, height_ratios=(2.2, 1))
    for (above, below), setting in zip(panels.T, SETTINGS):
        ends = []
        for rule, (name, colour, line) in SHOWN.items():
            t, mean, se, sizes = figure[setting, setup["features"], rule].values()
            banded(above, t, 10 ** (mean - 2 * se), 10**mean, 10 ** (mean + 2 * se), colour, line)
            below.plot(t, sizes, color=colour, linestyle=line)
            ends.append((10 ** mean[-1], name, colour))
        above.set_yscale("log")
        label_ends(above, setup["iterations"], ends)
        above.set_title(
            f"{TITLES[setting]}, batch {setup['batch'][setting]}, step {setup['step_words'][setting]}", loc="left"
        )
        below.set(xlabel="iteration", xlim=(0, setup["iterations"]), ylim=(0, 1.05 * setup["clients"]))
        below.yaxis.get_major_locator().set_params(integer=True)
    panels[0, 0].set_ylabel("excess loss,\ngeometric mean over clients")
    panels[1, 0].set_ylabel("collaborators\n(itself included)")
    headline(canvas, _message(figure), f"$N = {setup['clients']}$, $d = {setup['features']}$; exact similarity, binary "
             f"weights; the lines are means of {setup['runs']} runs, and the bands two standard errors")  # fmt: skip


def _message(figure: Figure) -> str:
    """The two regimes, where the data have them."""
    features, clients = figure.setup["features"], figure.setup["clients"]
    helped, same = (figure[setting, features, "exact | binary"]["collaborators"] for setting in SETTINGS)
    if helped[0] > 0.9 * clients and helped[-1] < 2 <= same[-1]:
        kept = f"it ends with {same[-1]:.0f} of {clients}"
        return f"All-for-one learns with everybody, then alone; where optima are shared (right) {kept}"
    return "All-for-one with the exact similarity ratio, beside all together and everybody alone"
