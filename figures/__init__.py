"""Reads traces and verdicts, and draws. The only room with matplotlib."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from bounds import InputError

from .figure import Figure as Figure
from .report import save_report as save_report


@dataclass(frozen=True)
class Maker:
    """A figure's module, imported when called, and the function in it that computes; its `draw` paints."""

    module: str
    compute: str

    def __call__(self, edition: str, **options: Any) -> Figure:
        return self._of(self.compute)(edition, **options)

    def again(self, name: str, folder: str | Path) -> Figure:
        """The figure saved in `folder`."""
        return Figure.load(folder, name, self._of("draw"))

    @property
    def options(self) -> tuple[str, ...]:
        """What the figure takes besides its edition."""
        taken = inspect.signature(self._of(self.compute)).parameters
        return tuple(name for name in taken if name not in ("edition", "progress"))

    def _of(self, function: str) -> Callable[..., Any]:
        return getattr(import_module(f".{self.module}", __name__), function)


FIGURES: dict[str, Maker] = {
    "adaptive-1": Maker("sufficient_cluster", "sufficient_cluster"),
    "adaptive-2a": Maker("convergence", "two_features"),
    "adaptive-2b": Maker("convergence", "ten_features"),
    "adaptive-2b-regimes": Maker("regimes", "regimes"),
    "adaptive-3-heart": Maker("heart", "heart"),
    "scafflix-1": Maker("scafflix", "scafflix_rounds"),
    "cobo-1": Maker("cobo_inner", "inner_problem"),
    "cobo-5": Maker("cobo_selection", "selection"),
    "sample-optimal-speedup": Maker("speedup", "speedup"),
    "sample-optimal-excess": Maker("against_samples", "excess"),
    "bound-against-measured": Maker("bound_vs_measured", "bound_vs_measured"),
    "bound-against-measured-curves": Maker("bound_curves", "bound_curves"),
    "bound-against-measured-all": Maker("all_bounds", "all_bounds"),
    "theorem-2-truth": Maker("theorem_2_truth", "theorem_2_truth"),
    "best-threshold": Maker("best_threshold", "thresholds"),
    "who-helps-whom": Maker("who_helps_whom", "helpers"),
    "collaboration-graph": Maker("collaboration_graph", "graph"),
    "sharpness": Maker("sharpness", "sharpness"),
}
EDITIONS = ("stated", "published")


def figure(
    name: str, *, edition: str = "stated", progress: Callable[[int, int], None] | None = None, **options: Any
) -> Figure:
    """A figure by name in one edition: `stated` is the paper's setting with correct formulas, `published` the code's.

    `options` are the figure's own, such as `seeds`. Raises `InputError` for an unknown name, edition or option.
    """
    maker = _maker(name)
    for option, value in options.items():
        if option not in maker.options:
            taken = ", ".join(maker.options)
            raise InputError(option, value, f"{name} takes {taken}" if taken else f"{name} takes no options; drop it")
    if edition not in EDITIONS:
        raise InputError("edition", edition, f"use {' or '.join(EDITIONS)}")
    return maker(edition, progress=progress, **options)


def takes(name: str, option: str) -> bool:
    """Whether a figure has an option of its own, such as `seeds` or `data`."""
    return option in _maker(name).options


def redraw(name: str, folder: str | Path) -> Figure:
    """A figure from the CSV and JSON that `save` left in `folder`: nothing is computed anew."""
    return _maker(name).again(name, folder)


def _maker(name: str) -> Maker:
    if name not in FIGURES:
        near = difflib.get_close_matches(name, FIGURES, n=1, cutoff=0.4)
        hint = f"did you mean {near[0]}?" if near else f"available: {', '.join(FIGURES)}"
        raise InputError("figure", name, hint)
    return FIGURES[name]
