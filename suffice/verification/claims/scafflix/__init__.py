"""Claims on the Scafflix paper, one module per group of its results."""

from __future__ import annotations

from ...claim import Claim
from . import assumption, bounded_variance, complexity, rates


def claims() -> tuple[Claim, ...]:
    return (*assumption.claims(), *rates.claims(), *complexity.claims(), *bounded_variance.claims())
