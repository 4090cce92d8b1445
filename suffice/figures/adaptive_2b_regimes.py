"""adaptive-2b-regimes: what makes the two regimes of Philippenko et al. (2025), Figure 2b? d = 10, 200 iterations.

Four similarity ratios (exact; Eq. (1) from 1 and from 16 samples; the released code's) by two criteria, beside Local,
FedAvg and the oracle, in the released code's setting and in the stated one; below, the number of collaborators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .adaptive_2 import TEN
from .figure import SEPARATOR, Content, Figure
from .maker import Progress, maker
from .setting import Setting
from .style import BLACK, BLUE, COLUMN_WIDTH, GREEN, ORANGE, PURPLE, SKY, SMALL, VERMILION, count_ticks

if TYPE_CHECKING:
    from .lockstep import Contender, Path
    from .regression import Regressions

Key = TypeVar("Key")
SETTINGS = ("published", "stated")
TITLES = {"published": "Setting of the released code", "stated": "Stated setting"}
RATIOS = ("exact", "m=1", "m=16", "released")
CRITERIA = ("binary", "continuous")
BESIDE = ("local", "fedavg", "oracle")
COLOURS = {
    "exact": BLUE,
    "m=1": ORANGE,
    "m=16": PURPLE,
    "released": SKY,
    "local": VERMILION,
    "fedavg": GREEN,
    "oracle": BLACK,
}
NAMES = {
    "exact": "exact ratio",
    "m=1": "Eq. (1) with $m=1$",
    "m=16": "Eq. (1) with $m=16$",
    "released": "released code's ratio",
    "local": "Local",
    "fedavg": "FedAvg",
    "oracle": "oracle",
}
MARKERS = {"m=1": "o", "m=16": "s", "released": "^"}
"""What tells curves apart in grey."""
LINES: dict[str, Any] = {"binary": "-", "continuous": (0, (3, 1)), "none": (0, (1, 1))}
WIDTHS = {"exact": 3.2, "oracle": 1.0, "fedavg": 2.6, "released": 1.8}
"""Curves that may coincide: the lower is the wider."""
TOGETHER = 0.3
"""Decades within which curves of a panel are said to lie together."""


@maker(
    "adaptive-2b-regimes",
    "behind Figure 2b: similarity ratios by criteria, with the number of collaborators",
    unpublished="",
)
def regimes(edition: str, *, setting: Setting = TEN, seeds: Sequence[int] = range(20), progress: Progress) -> Content:
    """The figure: one column of panels per setting. Both editions show both settings, which is what it is about."""
    from .lockstep import in_blocks
    from .regression import BLOCK

    data: dict[str, dict[str, np.ndarray]] = {}
    facts = {name: setting.facts(name) for name in SETTINGS}
    for index, name in enumerate(SETTINGS):
        blocks = in_blocks(seeds, BLOCK, partial(_block, name, setting), _part(progress, index))
        for rule in blocks[0]:
            runs = np.concatenate([block[rule].values.numpy() for block in blocks], axis=1)
            sizes = np.concatenate([block[rule].collaborators.numpy() for block in blocks], axis=1)
            data[SEPARATOR.join((name, str(setting.features), rule))] = {
                "iteration": np.arange(setting.iterations + 1, dtype=float),
                "mean_log10_excess": runs.mean(1),
                "se": runs.std(1, ddof=1) / np.sqrt(len(seeds)),
                "collaborators": sizes.mean(1),
            }
    return Content(
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
            "runs": len(seeds),
            "seeds": [min(seeds), max(seeds)],
            "weights": "1{r > 0} or r, divided by their sum",
            "oracle": "published setting: its one cluster, all clients; stated: the client's own cluster",
            "samples": "one per client for all models, which leaves means as they are",
        },
        keys=("setting", "d", "rule", "criterion"),
    )


def _part(progress: Progress, index: int) -> Progress:
    """Progress of one setting as a part of the whole."""
    return lambda done, total: progress(index * total + done, len(SETTINGS) * total)


def _block(edition: str, setting: Setting, seeds: Sequence[int]) -> dict[str, Path]:
    from .regression import Regressions, paths, step_sizes

    found = paths(
        _contenders(Regressions.drawn(edition, setting, seeds)),
        seeds=seeds,
        iterations=setting.iterations,
        eta=step_sizes(edition, setting, seeds),
        collaborators=True,
    )
    alone: dict[str, float] = {f"local{SEPARATOR}none": 1.0, f"fedavg{SEPARATOR}none": float(setting.clients)}
    return {
        name: replace(path, collaborators=path.collaborators.nan_to_num(alone[name])) if name in alone else path
        for name, path in found.items()
    }


def _contenders(drawn: Regressions) -> dict[str, Contender]:
    """Rules by "ratio | criterion".

    Sharing one sample of a client among all models leaves the law of every model's path as it is, so it does not change
    means; the released code draws one per pair, at many times the cost.
    """
    from suffice.simulate import FedAvg, FixedWeights, Local

    from .lockstep import Contender
    from .regression import Relative, all_for_one

    shared = Relative.of_same(drawn).variant(pairwise=False)
    chosen = {
        SEPARATOR.join((ratio, criterion)): Contender(algorithm=all_for_one(ratio, criterion), problem=shared)
        for ratio in RATIOS
        for criterion in CRITERIA
    }
    # The released code's setting has one cluster; its samples of pairs tell it from the stated one.
    clusters = [0 if drawn.pairwise else i % 2 for i in range(drawn.clients)]
    rest = {"local": Local(), "fedavg": FedAvg(), "oracle": FixedWeights.clusters(clusters)}
    return chosen | {
        SEPARATOR.join((name, "none")): Contender(
            algorithm=algorithm, problem=drawn.variant(pairwise=False) if name == "fedavg" else shared
        )
        for name, algorithm in rest.items()
    }


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: excess above, collaborators below, one column per setting."""
    from matplotlib.lines import Line2D

    canvas.set_size_inches(2 * COLUMN_WIDTH, 4.6)
    panels = canvas.subplots(2, 2, sharex=True, height_ratios=(2.2, 1))
    for (above, below), setting in zip(panels.T, SETTINGS):
        shown = {
            tuple(name.split(SEPARATOR)[2:]): curve for name, curve in figure.data.items() if name.startswith(setting)
        }
        for (rule, criterion), curve in shown.items():
            look = _look(rule, criterion)
            look["markevery"] = (figure.setup["iterations"] // 10, max(figure.setup["iterations"] // 5, 1))
            mean, se = curve["mean_log10_excess"], curve["se"]
            above.fill_between(curve["iteration"], mean - 2 * se, mean + 2 * se, color=look["color"], alpha=0.15, lw=0)
            above.plot(curve["iteration"], mean, **look)
            below.plot(curve["iteration"], curve["collaborators"], **look)
        batch = figure.setup["batch"][setting]
        above.set_title(f"{TITLES[setting]}, batch {batch}, step {figure.setup['step_words'][setting]}", loc="left")
        alike = [f"together: {words}" for words in together({key: c["mean_log10_excess"] for key, c in shown.items()})]
        lines = [line for words in alike for line in wrap(words, 62)]
        below.set_xlabel("\n".join(["iteration", *lines]), loc="left", fontsize=SMALL)
        below.set_xlim(0, figure.setup["iterations"])
        below.set_ylim(0, 1.05 * figure.setup["clients"])
        below.set_yticks(count_ticks(figure.setup["clients"]))
    panels[0, 0].set_ylabel(r"$\log_{10}$ excess loss," "\n" "mean over clients")
    panels[1, 0].set_ylabel("collaborators\n(itself included)")
    rules = [Line2D([], [], **_look(rule, "binary"), label=NAMES[rule]) for rule in RATIOS]
    alone = [Line2D([], [], **_look(rule, "none"), label=NAMES[rule]) for rule in BESIDE]
    kinds = [Line2D([], [], color="grey", linestyle=LINES[kind], label=kind) for kind in CRITERIA]
    canvas.legend(handles=rules + alone + kinds, loc="outside lower center", ncols=5, handlelength=2.2)
    canvas.suptitle(
        f"$N = {figure.setup['clients']}$, $d = {figure.setup['features']}$, "
        f"mean of {figure.setup['runs']} seeds, band: two standard errors",
        fontsize=SMALL,
        x=0.01,
        ha="left",
    )


def _look(rule: str, criterion: str) -> dict[str, Any]:
    return {
        "color": COLOURS[rule],
        "linestyle": LINES[criterion],
        "linewidth": WIDTHS.get(rule, 1.4) * (0.6 if criterion == "continuous" else 1),
        "marker": MARKERS.get(rule, ""),
        "markersize": 3,
        "alpha": 0.5 if rule in ("exact", "fedavg") and criterion != "continuous" else 1,
        "zorder": 2.5 - WIDTHS.get(rule, 1.4) / 10,
    }


def alike(curves: Mapping[Key, np.ndarray], margin: float) -> list[list[Key]]:
    """Groups of two or more whose curves stay within `margin` of the first of them."""
    groups: list[list[Key]] = []
    for key, curve in curves.items():
        near = (group for group in groups if np.abs(curve - curves[group[0]]).max() < margin)
        if (group := next(near, None)) is None:
            groups.append([key])
        else:
            group.append(key)
    return [group for group in groups if len(group) > 1]


def together(curves: Mapping[tuple[str, ...], np.ndarray]) -> list[str]:
    """Those (rule, criterion) alike to `TOGETHER`, in words."""
    words = []
    for group in alike(curves, TOGETHER):
        both = [
            rule for rule in dict.fromkeys(rule for rule, _ in group) if len([1 for r, _ in group if r == rule]) > 1
        ]
        single = [f"{NAMES[rule]} {kind}".removesuffix(" none") for rule, kind in group if rule not in both]
        words.append(", ".join([*(NAMES[rule] for rule in both), *single]))
    return words
