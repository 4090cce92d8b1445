"""One look for every figure: legible at a column's width, safe for colour-blind readers, fonts embedded."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

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


def count_ticks(most: int) -> list[int]:
    """Ticks of an axis of counts: 1, some round numbers, and the most."""
    step = next(step for power in range(19) for step in (10**power, 2 * 10**power, 5 * 10**power) if 5 * step >= most)
    return sorted({1, *range(step, most - step // 2, step), most})


@contextmanager
def style() -> Generator[None]:
    """Matplotlib settings of all figures, for the duration of a drawing."""
    import matplotlib as mpl

    with mpl.rc_context(
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
            "ps.fonttype": 42,
            "savefig.dpi": 300,
            "figure.constrained_layout.use": True,
        }
    ):
        yield


def short_name(name: str, most: int = 12) -> str:
    """A name for a picture: of at most so many characters, dollars for what they are."""
    name = printable(name).replace("$", r"\$")
    return name if len(name) <= most else name[: most - 1] + "."
