"""An algorithm at several periods, and the worst verdict of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from suffice.support.errors import InputError
from suffice.support.numbers import as_whole

from .problem_measure import own_number
from .verdict import Outcome, Verdict

_WORST = [Outcome.VACUOUS, Outcome.HOLDS, Outcome.VALID, Outcome.INCONCLUSIVE, Outcome.VIOLATED]


def over_periods(judged: Callable[[Any], Verdict], algorithm: Any, interval: Any) -> Verdict:
    """The worst of the verdicts at four periods from low to high; the one on `algorithm` itself without an interval."""
    if interval is None:
        return judged(algorithm)
    inside = isinstance(interval, tuple | list) and len(interval) == 2
    low, high = (as_whole("period", end) for end in interval) if inside else (1, 0)
    if low > high or own_number(algorithm, "period") is None:
        remedy = "give an interval (low, high) of whole numbers, and an algorithm with a period such as LocalSGD()"
        raise InputError("period", str(interval), remedy)
    found: dict[int, Verdict] = {}
    for period in sorted({round(low * (high / low) ** (at / 3)) for at in range(4)}):
        beside = {} if hasattr(algorithm, "period") else {"server": replace(algorithm.server, period=period)}
        found[period] = judged(replace(algorithm, **(beside or {"period": period})))
        if found[period].outcome is Outcome.VIOLATED:
            return found[period]
    verdict = max(found.values(), key=lambda each: (_WORST.index(each.outcome), each.worst_ratio))
    tried = f"periods {', '.join(map(str, found))}, of which this is the worst: {verdict.tried}"
    return replace(verdict, tried=tried)
