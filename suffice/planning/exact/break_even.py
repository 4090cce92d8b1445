"""Where peers stop making a client faster, from exact plans, and what a batch of twice the size would buy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from suffice.simulate.moments.gradient_moments import GradientMoments

from ..break_even import BreakEven
from ..constant_plan import ConstantPlan
from .plan import exact_plans

SHARES = 0.5 ** np.arange(1, 13)
"""Of every client's starting excess, from large to small: the precisions that are planned for."""
LONGEST = 2000
"""Iterations at which a plan counts as never arriving here."""
GAIN = 1.02
"""Alone over together from which on peers help; an iteration has to be saved, too."""


def helps(together: ConstantPlan, alone: ConstantPlan) -> bool:
    if together.iterations is None or alone.iterations is None:
        return together.iterations is not None
    return alone.iterations - together.iterations >= 1 and alone.iterations >= GAIN * together.iterations


def exact_break_even(
    moments: GradientMoments,
    names: Sequence[str],
    plans: Sequence[ConstantPlan],
    *,
    precondition: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> list[BreakEven]:
    """Of all clients; `plans` are those with peers whose batch is to be doubled. Takes some ten times as long as these.

    Smaller precisions are left out when no client can be planned for, or peers, who have helped before,
    help nobody twice in a row.
    """
    gains, planned = [], []
    for turn, share in enumerate(SHARES):
        found = exact_plans(moments, share * moments.excess, horizon=LONGEST, precondition=precondition)
        gains.append([helps(*pair) for pair in found])
        planned.append([pair[0].iterations is not None for pair in found])
        if progress is not None:
            progress(turn + 1, len(SHARES) + 1)
        if not any(planned[-1]) or (np.any(gains) and not np.any(gains[-2:])):
            break
    epsilon = np.array([plan.epsilon for plan in plans])
    doubled = exact_plans(replace(moments, batch=2 * moments.batch), epsilon, precondition=precondition)
    entries = []
    for i, (name, plan, (more, _)) in enumerate(zip(names, plans, doubled)):
        levels = SHARES[: len(gains)] * moments.excess[i]
        gained, known = (np.flatnonzero([one[i] for one in part]) for part in (gains, planned))
        last = int(gained[-1]) if gained.size else None
        after = [] if last is None else [j for j in known.tolist() if j > last]
        entries.append(
            BreakEven(
                client=i,
                name=name,
                kind="exact",
                helped=None if last is None else float(levels[last]),
                stopped=float(levels[after[0]]) if after else None,
                tried=float(levels[known[-1]]) if known.size else None,
                iterations=plan.iterations,
                doubled=more.iterations,
            )
        )
    return entries
