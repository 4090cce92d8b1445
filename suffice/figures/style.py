"""One look for every figure: legible at a column's width, safe for colour-blind readers, fonts embedded."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from textwrap import wrap
from typing import Any

import numpy as np

from suffice.support.text import printable

# Okabe and Ito's palette, ordered so that neighbours differ in lightness too.
BLUE, VERMILION, ORANGE, GREEN, PURPLE, SKY, BLACK = (
    "#0072B2",
    "#D55E00",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#000000",
)
COLUMN_WIDTH = 3.4
"""A column of a paper is so many inches wide."""
SMALL = 7
"""Nothing is set in fewer points than this, at the printed width."""
BOLD, PLAIN = 15.5, 19.0
"""Letters in an inch of a headline and of what stands below it."""


def headline(canvas: Any, message: str, how: str = "") -> None:
    """The message of a picture above it, as a sentence in bold, and below that how the picture is read."""
    from matplotlib.text import Annotation

    width = canvas.get_size_inches()[0]
    above = wrap(message, int(BOLD * width))
    below = [line for part in how.split("\n") for line in wrap(part, int(PLAIN * width))]
    title = canvas.suptitle("\n".join(above + [""] * len(below)), x=0.01, ha="left", fontsize=8, fontweight="bold")
    if below:
        canvas.add_artist(Annotation("\n".join(below), (0, 0), xycoords=title, va="bottom", fontsize=SMALL))


def banded(axes: Any, x: Any, low: Any, middle: Any, high: Any, colour: str, line: Any = "-", **how: Any) -> None:
    """A line in a band."""
    axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.plot(x, middle, color=colour, linestyle=line, **how)


def label_ends(axes: Any, at: float, entries: Sequence[tuple[float, str, str]], *, gap: float = 0.075) -> None:
    """Words (value, text, colour) right of the ends of lines at `at`, a line's height (a share of the axis) apart."""
    log = axes.get_yscale() == "log"
    low, high = np.log10(axes.get_ylim()) if log else axes.get_ylim()
    step = gap * (high - low)
    values, words, colours = zip(*sorted(entries))
    rank = step * np.arange(len(values))
    levels = np.clip(np.log10(values) if log else np.asarray(values, dtype=float), low, high)
    place = np.minimum(np.maximum.accumulate(levels - rank), high - step / 2 - rank[-1]) + rank
    for level, text, colour in zip(place, words, colours):
        place_of = (at, 10**level if log else level)
        axes.annotate(text, place_of, xytext=(4, 0), textcoords="offset points", color=colour, va="center",
                      fontsize=SMALL, annotation_clip=False)  # fmt: skip


def style() -> AbstractContextManager[None]:
    """Matplotlib settings of all figures, for the duration of a drawing."""
    from matplotlib import rc_context

    return rc_context(
        {
            "font.size": 8,
            "axes.titlesize": SMALL,
            "xtick.labelsize": SMALL,
            "ytick.labelsize": SMALL,
            "axes.labelsize": 8,
            "legend.fontsize": SMALL,
            "legend.frameon": False,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.alpha": 0.25,
            "grid.linewidth": 0.5,
            "lines.linewidth": 1.4,
            "lines.markersize": 4,
            "pdf.fonttype": 42,
            "svg.hashsalt": "suffice",  # the same data give the same file
            "ps.fonttype": 42,
            "savefig.dpi": 300,
            "figure.constrained_layout.use": True,
        }
    )


def short_name(name: str, most: int = 12) -> str:
    """A name for a picture: of at most so many characters, dollars for what they are."""
    name = printable(name).replace("$", r"\$")
    return name if len(name) <= most else name[: most - 1] + "."
