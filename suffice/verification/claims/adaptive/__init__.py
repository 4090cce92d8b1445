"""Claims on the adaptive paper, one module per group of its results."""

from __future__ import annotations

from ...claim import Claim
from . import (
    descent,
    fixed_weights,
    gradient,
    hitting,
    least_squares,
    multiplicative,
    multiplicative_gradient,
    multiplicative_rows,
    rates,
    similarity,
    stopped,
    sufficient_cluster,
)


def claims() -> tuple[Claim, ...]:
    groups = (
        similarity,
        sufficient_cluster,
        descent,
        rates,
        stopped,
        hitting,
        gradient,
        multiplicative,
        multiplicative_rows,
        multiplicative_gradient,
        fixed_weights,
        least_squares,
    )
    return tuple(claim for group in groups for claim in group.claims())
