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
from .figure import check_folder as check_folder
from .report import save_report as save_report


@dataclass(frozen=True)
class Maker:
    """A figure's module, imported when called, and the function in it that computes; its `draw` paints.

    `about` says in one line what is shown.
    """

    module: str
    compute: str
    about: str

    def __call__(self, edition: str, **options: Any) -> Figure:
        return self._of(self.compute)(edition, **options)

    def again(self, name: str, folder: str | Path) -> Figure:
        """The figure saved in `folder`."""
        return Figure.load(folder, name, self._of("draw"))

    @property
    def options(self) -> tuple[str, ...]:
        """What the figure takes besides its edition."""
        return tuple(self.kinds)

    @property
    def kinds(self) -> dict[str, str]:
        """These options with their types, as annotated."""
        taken = inspect.signature(self._of(self.compute)).parameters
        return {name: str(entry.annotation) for name, entry in taken.items() if name not in ("edition", "progress")}

    def _of(self, function: str) -> Callable[..., Any]:
        return getattr(import_module(f".{self.module}", __name__), function)


FIGURES: dict[str, Maker] = {
    "adaptive-1": Maker(
        "sufficient_cluster",
        "sufficient_cluster",
        "Figure 1 of adaptive: size of a client's sufficient cluster against the precision",
    ),
    "adaptive-2a": Maker(
        "convergence", "two_features", "Figure 2a of adaptive: excess loss against iterations, two features"
    ),
    "adaptive-2b": Maker(
        "convergence", "ten_features", "Figure 2b of adaptive: excess loss against iterations, ten features"
    ),
    "adaptive-2b-regimes": Maker(
        "regimes", "regimes", "behind Figure 2b: similarity ratios by criteria, with the number of collaborators"
    ),
    "adaptive-3-heart": Maker("heart", "heart", "Figure 3 of adaptive: heart disease in four hospitals (needs data)"),
    "scafflix-1": Maker(
        "scafflix",
        "scafflix_rounds",
        "Figure 1 of scafflix: gap and gradient norm against communication rounds (needs data)",
    ),
    "cobo-1": Maker("cobo_inner", "inner_problem", "Figure 1 of cobo: the inner problem at three points"),
    "cobo-5": Maker("cobo_selection", "selection", "Figure 5 of cobo: collaboration weights on clustered quadratics"),
    "sample-optimal-speedup": Maker(
        "speedup", "speedup", "sample-optimal: rounds and speed-up against the number of agents"
    ),
    "sample-optimal-excess": Maker(
        "against_samples", "excess", "sample-optimal: excess loss against samples, 10 to 1000 agents"
    ),
    "bound-against-measured": Maker(
        "bound_vs_measured", "bound_vs_measured", "bounds beside exact expectations, sharp and ill-conditioned"
    ),
    "bound-against-measured-curves": Maker(
        "bound_curves", "bound_curves", "the same over the horizon, theorem by theorem"
    ),
    "bound-against-measured-all": Maker("all_bounds", "all_bounds", "measured over bound for every theorem"),
    "theorem-2-truth": Maker(
        "theorem_2_truth",
        "theorem_2_truth",
        "Theorem 2 of adaptive as printed beside the exact excess on its counterexample",
    ),
    "best-threshold": Maker(
        "best_threshold", "thresholds", "best binary threshold and its sufficient variance against the precision"
    ),
    "who-helps-whom": Maker(
        "who_helps_whom", "helpers", "cluster size and speed-up by spread of the optima and precision"
    ),
    "collaboration-graph": Maker(
        "collaboration_graph", "graph", "who collaborates with whom among eight groups of diabetes patients"
    ),
    "sharpness": Maker("sharpness", "sharpness", "worst and median measured/bound of each claim"),
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
