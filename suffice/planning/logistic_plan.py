"""Plans of logistic losses: made for quadratic models at the optima, measured on the losses themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.simulate.moments.by_rows import MOST_FEATURES
from suffice.simulate.moments.gradient_moments import MOST_NUMBERS
from suffice.support.memory import Memory

from .client_plan import ClientPlan
from .constant_plan import ConstantPlan
from .exact.plan import exact_plans
from .plan_rows import Grouped
from .simulated import LONGEST_SIMULATION, first_below, mean_excess

if TYPE_CHECKING:
    from suffice.simulate import Logistic, Problem

SEEDS, FEWEST = 512, 32
FIRST, LAST = 1.5, 4.0
"""Paths are followed for 1.5 times the model's T, and where that is too short for some client, for 4 times."""
WORK = 2e10
"""Multiplications of one simulation, about 20 s on one core; fewer seeds are taken where it would be more."""
TRUSTED = 0.5
"""Share of the loss that the model has at the start from which on its precision is the one given."""
TOO_LONG = (
    "not measured, as that would take too long; only the model's T is known: {work:.0e} products for {FEWEST} paths"
)
NO_MODEL = (
    f"no measured plan: the model that it is made for takes at most {MOST_FEATURES} coefficients and {MOST_NUMBERS:g} "
    "second moments"
)
PEERS = "by the model peers save iterations; measured, they do not, and the client stays alone"


def with_measured(
    grouped: Grouped,
    problem: Problem,
    *,
    memory: Memory | None = None,
    progress: Callable[[int, int], None] | None = None,
    precondition: bool = True,
) -> Grouped:
    """The rows with `measured` and `measured_local` where the losses are logistic and their model has second moments.

    The model is quadratic at every client's own optimum. Where it is below half the loss at the start, or already below
    the precision, its precision is smaller in the same proportion, so that whoever has a way to go has one there too.
    (On heart disease the given precision brought steps 7 to 13 % faster at shares of .7; at .41 the smaller one did.)
    """
    from suffice.simulate import Logistic

    if not isinstance(problem, Logistic):
        return grouped
    model = problem.quadratic_model() if problem.features <= MOST_FEATURES else None
    moments = None if model is None else model.gradient_moments(memory)
    if moments is None:
        return {
            key: tuple(replace(row, warnings=(*row.warnings, NO_MODEL)) for row in rows)
            for key, rows in grouped.items()
        }
    start = problem.excess(problem.start[None])[0].double().cpu().numpy()
    share = np.minimum(1.0, moments.excess / np.where(start > 0, start, np.inf))
    found: Grouped = {}
    for key, rows in grouped.items():
        epsilon = np.array([row.epsilon for row in rows])
        trusted = (share >= TRUSTED) & (moments.excess > epsilon) | (start <= epsilon)
        levels = np.where(trusted, epsilon, share * epsilon)
        pairs = exact_plans(moments, levels, progress=progress, precondition=precondition)
        together, alone = (_measured(problem, list(plans), epsilon, start) for plans in zip(*pairs))
        found[key] = ()
        for row, both, own in zip(rows, together, alone):
            # peers are followed only where that was measured to save a step
            if own.iterations is not None and not (both.iterations is not None and both.iterations < own.iterations):
                both = own if np.array_equal(both.rates, own.rates) else own.noted(PEERS)
            found[key] += (replace(row, measured=both, measured_local=own),)
    return found


def _measured(
    problem: Logistic, plans: Sequence[ConstantPlan], epsilon: np.ndarray, start: np.ndarray
) -> list[ConstantPlan]:
    """The measured plans of all clients, from the same simulations; `epsilon` and `start` are (N,)."""
    T = np.array([plan.iterations or 0 for plan in plans])
    found = []  # the weights and the step of its model; nothing is known of its time
    for plan, level, begun in zip(plans, epsilon.tolist(), start.tolist()):
        taken = {name: getattr(plan, name) for name in ("weights", "eta", "note", "preconditioner", "matrix")}
        found.append(ConstantPlan(epsilon=level, start=begun, model=plan, **taken))
    for factor in (FIRST, LAST):
        todo = [i for i, one in enumerate(found) if one.iterations is None and plans[i].iterations is not None]
        if not todo:
            break
        ends = np.minimum(np.ceil(factor * T), LONGEST_SIMULATION).astype(int)
        longest = max(1, int(ends[todo].max()))
        each = float(longest) * problem.clients**2 * problem.batch * problem.features
        many = min(SEEDS, int(WORK / each))
        if many < FEWEST:
            note = TOO_LONG.format(work=FEWEST * each, FEWEST=FEWEST)
            return [one if one.iterations is not None else one.noted(one.note or note) for one in found]
        mean, error = mean_excess(problem, plans, range(longest + 1), range(many))
        for i in todo:
            m, e = mean[: ends[i] + 1, i], error[: ends[i] + 1, i]
            first, *between = (first_below(values, epsilon[i]) for values in (m, m - 2 * e, m + 2 * e))
            at = int(ends[i]) if first is None else first
            missed, where = "", f"the mean excess is {m[at]:.3g} at t = {at}"
            if first is None and m[at] < start[i]:
                missed = f"not reached within four times the model's T, and {LONGEST_SIMULATION:,} iterations: {where}"
            elif first is None:
                missed = f"the step is not stable on the losses themselves: {where}, above the start"
            found[i] = replace(
                found[i],
                iterations=first,
                between=(between[0], between[1]),
                note=missed,
                excess=float(m[at]),
                excess_se=float(e[at]),
                seeds=many,
            )
    return found


def measured_curves(problem: Problem, rows: Sequence[ClientPlan]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The mean excess by client, with peers and alone, at t = 0, 1, ..., to twice the longest plan."""
    both = [list(plans) for plans in zip(*(row.both("measured") for row in rows))]
    longest, seeds = (max(getattr(one, name) or 1 for one in (*both[0], *both[1])) for name in ("iterations", "seeds"))
    times = range(min(2 * longest, LONGEST_SIMULATION) + 1)
    together, alone = (mean_excess(problem, plans, times, range(seeds))[0] for plans in both)
    return {row.name: (together[:, row.client], alone[:, row.client]) for row in rows}
