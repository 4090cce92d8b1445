"""The figures by name: which there are, one of them computed, one drawn again from its files."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from suffice.support.errors import InputError
from suffice.support.parse import nearest

from .figure import Figure
from .maker import EDITIONS, Maker

_MODULES = (
    "adaptive_1",
    "adaptive_2",
    "adaptive_2b_regimes",
    "adaptive_3_heart",
    "network_curves",
    "scafflix_1",
    "cobo_1",
    "cobo_3",
    "cobo_5",
    "sample_optimal_speedup",
    "sample_optimal_rounds",
    "theorem_2_truth",
    "sharpness",
)
"""The modules that make figures, in the order that `suffice figure` prints; they import torch when they compute."""


@cache
def makers() -> dict[str, Maker]:
    """The maker of each figure, by the figure's name."""
    found = [
        entry
        for module in (import_module(f"suffice.figures.{name}") for name in _MODULES)
        for entry in vars(module).values()
        if isinstance(entry, Maker) and entry.compute.__module__ == module.__name__
    ]
    return {entry.name: entry for entry in found}


def figure(
    name: str,
    *,
    edition: str = EDITIONS[0],
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Figure:
    """Compute a figure by name, in one edition.

    edition   "stated" (the paper's setting with correct formulas) or "published" (that of the released code)
    progress  is called with the work done and the whole of it
    options   the figure's own, such as `seeds`, `clients` and `features`

    Raises `InputError` for an unknown name, edition or option.
    """
    return _maker(name)(edition, progress=progress, **options)


def redraw(name: str, folder: str | Path) -> Figure:
    """A figure from the CSV and JSON that `save` left in `folder`: nothing is computed anew."""
    return Figure.load(folder, name, _maker(name).draw)


def _maker(name: str) -> Maker:
    if name not in makers():
        part = name.lower().removeprefix("figure").removeprefix("fig").strip(" -_")
        near = [known for known in makers() if part and part in known] or [nearest(name, makers())]
        hint = f"did you mean {', '.join(near[:-1])}{' or ' * (len(near) > 1)}{near[-1]}?"
        raise InputError("figure", name, hint if near[-1] else f"available: {', '.join(makers())}")
    return makers()[name]
