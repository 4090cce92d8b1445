"""Plans of All-for-all have the rounds that a precision needs, by the better of two guarantees, and the settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .evaluate import evaluate

ONE, TWO = "sample-optimal/theorem-3-sharp-rounds", "sample-optimal/theorem-3-two-stage-rounds"
STAGES = "sample-optimal/theorem-3-two-stage"
MOST_TRIED = 512
"""Lengths of stage 1 that are compared."""


@dataclass(frozen=True, kw_only=True)
class AllForAllPlan:
    """`rounds` in all, promised by the record `key`, the first of them at the step `eta`.

    In two stages `first` rounds keep that step, the others decrease by `offset`; in one, `first` is `rounds` and
    `offset` is None. Precision is reached by the last model in one stage, by the weighted mean of stage 2 in two.
    """

    key: str
    rounds: int
    first: int
    eta: float
    offset: float | None


def all_for_all_plan(
    *,
    mu: float,
    beta: float,
    smin: float = 1.0,
    smax: float = 1.0,
    eps: float,
    e0: float,
    sigma2: float,
    lambda2: float,
    weight2: float,
    peer_excess: float,
) -> AllForAllPlan:
    """The plan of fewest rounds; the keywords are those of the two records.

    Two stages are as long as theorem-3-two-stage needs, T1 and T2 chosen together; theorem-3-two-stage-rounds is a
    closed form of nearly that. Raises `ConditionError` where the peer excess leaves too little of the precision.
    """
    spectrum = {"mu": mu, "beta": beta, "smin": smin, "smax": smax}
    given: dict[str, Any] = {**spectrum, "eps": eps, "e0": e0, "sigma2": sigma2, "peer_excess": peer_excess}
    m, most, slack = mu * smin, beta * smax, eps - peer_excess
    one = int(np.ceil(evaluate(ONE, **given, weight2=weight2)))
    longest = float(np.ceil(evaluate(TWO, **given, lambda2=lambda2)))
    first, second = _stages(
        longest, eps, **spectrum, offset=2 * most / m, start2=2 * e0 / m, sigma2=sigma2, lambda2=lambda2,
        peer_excess=peer_excess,
    )  # fmt: skip
    if one <= first + second:
        worst = max(most / m, beta * sigma2 * weight2 / (m**2 * slack))
        return AllForAllPlan(key=ONE, rounds=one, first=one, eta=2 / ((worst + 1) * m), offset=None)
    return AllForAllPlan(key=TWO, rounds=first + second, first=first, eta=2 / (most + m), offset=2 * most / m)


def _stages(longest: float, eps: float, **given: Any) -> tuple[int, int]:
    """T1 and T2 of least sum for which the bound is at most eps; each T2 by bisection, as the bound falls with it."""
    T1 = np.append(0.0, np.unique(np.floor(np.geomspace(1, longest, MOST_TRIED))))
    low, high = np.full_like(T1, -1.0), np.full_like(T1, longest)
    reached = evaluate(STAGES, T1=T1, T2=high, **given) <= eps
    while (high - low > np.maximum(1, 2 * np.spacing(high))).any():  # whole numbers beyond 2^53 lie further apart
        T2 = np.maximum(np.floor((low + high) / 2), 0)
        enough = evaluate(STAGES, T1=T1, T2=T2, **given) <= eps
        low, high = np.where(enough, low, T2), np.where(enough, T2, high)
    best = int(np.where(reached, T1 + high, np.inf).argmin())
    return int(T1[best]), int(high[best])
