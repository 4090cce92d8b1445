"""Claims on the CoBo paper, one module per group of its results."""

from __future__ import annotations

from ...claim import Claim
from . import averages, one_step, pairs, selection, star, star_midpoints


def claims() -> tuple[Claim, ...]:
    return (
        *pairs.claims(),
        *one_step.claims(),
        *averages.claims(),
        *selection.claims(),
        *star.claims(),
        *star_midpoints.claims(),
    )
