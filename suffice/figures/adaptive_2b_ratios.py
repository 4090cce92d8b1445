"""adaptive-2b-ratios: all of adaptive-2b-regimes: four similarity ratios by two criteria beside three rules.

The ratios are exact, Eq. (1) from 1 and from 16 samples, and the released code's; the rules are Local, FedAvg and the
oracle. Below the excess stands the number of collaborators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any, TypeVar

import numpy as np

from .adaptive_2 import TEN
from .adaptive_2b_regimes import BESIDE, CRITERIA, RATIOS, SETTINGS, TITLES, regimes
from .figure import SEPARATOR, Content, Figure
from .maker import Progress, maker
from .setting import Setting
from .style import BLACK, BLUE, COLUMN_WIDTH, GREEN, ORANGE, PURPLE, SKY, SMALL, VERMILION, count_ticks, headline

Key = TypeVar("Key")
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
    "adaptive-2b-ratios",
    "behind Figure 2b: similarity ratios by criteria, with the number of collaborators",
    unpublished="",
)
def ratios(edition: str, *, setting: Setting = TEN, seeds: Sequence[int] = range(20), progress: Progress) -> Content:
    return regimes.compute(edition, setting=setting, seeds=seeds, progress=progress)


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
            low, high = 10 ** (mean - 2 * se), 10 ** (mean + 2 * se)
            above.fill_between(curve["iteration"], low, high, color=look["color"], alpha=0.15, lw=0)
            above.plot(curve["iteration"], 10**mean, **look)
            below.plot(curve["iteration"], curve["collaborators"], **look)
        above.set_yscale("log")
        batch = figure.setup["batch"][setting]
        above.set_title(f"{TITLES[setting]}, batch {batch}, step {figure.setup['step_words'][setting]}", loc="left")
        alike = [
            f"these lie together: {words}"
            for words in together({key: c["mean_log10_excess"] for key, c in shown.items()})
        ]
        lines = [line for words in alike for line in wrap(words, 62)]
        below.set_xlabel("\n".join(["iteration", *lines]), loc="left", fontsize=SMALL)
        below.set_xlim(0, figure.setup["iterations"])
        below.set_ylim(0, 1.05 * figure.setup["clients"])
        below.set_yticks(count_ticks(figure.setup["clients"]))
    panels[0, 0].set_ylabel("excess loss,\ngeometric mean over clients")
    panels[1, 0].set_ylabel("collaborators\n(itself included)")
    rules = [Line2D([], [], **_look(rule, "binary"), label=NAMES[rule]) for rule in RATIOS]
    alone = [Line2D([], [], **_look(rule, "none"), label=NAMES[rule]) for rule in BESIDE]
    kinds = [Line2D([], [], color="grey", linestyle=LINES[kind], label=kind) for kind in CRITERIA]
    canvas.legend(handles=rules + alone + kinds, loc="outside lower center", ncols=5, handlelength=2.2)
    headline(
        canvas,
        _message(figure),
        f"$N = {figure.setup['clients']}$, $d = {figure.setup['features']}$; "
        f"the lines are means of {figure.setup['runs']} runs, and the bands two standard errors",
    )


def _message(figure: Figure) -> str:
    """How far the estimated ratios end above the exact one, binary criterion, over both settings."""
    features = str(figure.setup["features"])
    last = {
        (setting, rule): figure.data[SEPARATOR.join((setting, features, rule, "binary"))]["mean_log10_excess"][-1]
        for setting in SETTINGS
        for rule in RATIOS
    }
    if all(last[setting, "exact"] <= last[setting, rule] for setting, rule in last):
        return "The better the similarity is estimated, the lower the loss: no estimated ratio beats the exact one"
    return "Four estimates of the similarity, by two criteria, beside three rules that need none"


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
