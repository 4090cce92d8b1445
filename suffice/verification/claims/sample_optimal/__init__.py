"""Claims on the sample-optimality paper, one module per group of its results."""

from __future__ import annotations

from ...claim import Claim
from . import (
    all_for_all,
    all_for_all_rounds,
    all_for_one,
    all_for_one_rounds,
    any_threshold,
    best_weights,
    estimated,
    estimated_rows,
    growing_filter,
    last_iterate,
    linear,
    lower_bound,
    peer_excess,
    samples,
    star,
    two_stages,
    weak,
)

_GROUPS = (
    peer_excess,
    lower_bound,
    all_for_one,
    weak,
    all_for_one_rounds,
    best_weights,
    all_for_all,
    all_for_all_rounds,
    star,
    linear,
    estimated,
    samples,
    any_threshold,
    two_stages,
    last_iterate,
    growing_filter,
    estimated_rows,
)


def claims() -> tuple[Claim, ...]:
    return tuple(claim for group in _GROUPS for claim in group.claims())
