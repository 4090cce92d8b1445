"""Reads traces and verdicts, and draws. The only room with matplotlib."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from bounds import InputError

from .figure import Figure as Figure
from .report import save_report as save_report
from .sufficient_cluster import sufficient_cluster

FIGURES: dict[str, Callable[..., Figure]] = {"adaptive-1": sufficient_cluster}
EDITIONS = ("stated", "published")


def figure(name: str, *, edition: str = "stated", progress: Callable[[int, int], None] | None = None) -> Figure:
    """A figure by name in one edition: `stated` is the paper's setting with correct formulas, `published` the code's.

    Raises `InputError` for an unknown name or edition.
    """
    if name not in FIGURES:
        near = difflib.get_close_matches(name, FIGURES, n=1, cutoff=0.4)
        hint = f"did you mean {near[0]}?" if near else f"available: {', '.join(FIGURES)}"
        raise InputError("figure", name, hint)
    if edition not in EDITIONS:
        raise InputError("edition", edition, f"use {' or '.join(EDITIONS)}")
    return FIGURES[name](edition, progress=progress)
