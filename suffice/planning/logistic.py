"""Plans of logistic losses: made for quadratic models at the optima, measured on the losses themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.simulate.moments.by_rows import MOST_FEATURES
from suffice.simulate.moments.gradient_moments import MOST_NUMBERS
from suffice.support.memory import Memory

from .constant_plan import ConstantPlan
from .exact.plan import exact_plans
from .plan_row import Row
from .plan_rows import Grouped
from .simulated import LONGEST_SIMULATION, still, weights_of

if TYPE_CHECKING:
    from suffice.simulate import Logistic, Problem

SEEDS, FEWEST = 512, 32
FIRST, LAST = 1.5, 4.0
"""Paths are followed for 1.5 times the model's T, and where that is too short for some client, for 4 times."""
WORK = 2e10
"""Multiplications of one simulation, about 20 s on one core; fewer seeds are taken where it would be more."""
KEPT = 2e7
"""Excesses held at once."""
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
    seeds: int = SEEDS,
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
        together, alone = (_measured(problem, list(plans), epsilon, start, seeds) for plans in zip(*pairs))
        found[key] = tuple(
            replace(row, measured=_better(both, own), measured_local=own)
            for row, both, own in zip(rows, together, alone)
        )
    return found


def _better(together: ConstantPlan, alone: ConstantPlan) -> ConstantPlan:
    """Peers are followed only where that was measured to save a step."""
    if alone.iterations is None or (together.iterations is not None and together.iterations < alone.iterations):
        return together
    return alone if np.array_equal(together.rates, alone.rates) else alone.noted(PEERS)


def _measured(
    problem: Logistic, plans: Sequence[ConstantPlan], epsilon: np.ndarray, start: np.ndarray, seeds: int
) -> list[ConstantPlan]:
    """Of all clients' plans at once, (N,)."""
    T = np.array([plan.iterations or 0 for plan in plans])
    ends = np.zeros(len(plans), dtype=int)
    found = [_unmeasured(*one) for one in zip(plans, epsilon.tolist(), start.tolist())]
    for factor in (FIRST, LAST):
        todo = [i for i, one in enumerate(found) if one.iterations is None and plans[i].iterations is not None]
        if not todo:
            break
        ends[todo] = np.minimum(np.ceil(factor * T[todo]), LONGEST_SIMULATION)
        longest = max(1, int(ends[todo].max()))
        each = float(longest) * problem.clients**2 * problem.batch * problem.features
        many = min(seeds, int(WORK / each))
        if many < min(seeds, FEWEST):
            note = TOO_LONG.format(work=FEWEST * each, FEWEST=FEWEST)
            return [one if one.iterations is not None else one.noted(one.note or note) for one in found]
        mean, error = mean_excess(problem, plans, longest, many)
        for i in todo:
            m, e = mean[: ends[i] + 1, i], error[: ends[i] + 1, i]
            first = [_first(values <= epsilon[i]) for values in (m, m - 2 * e, m + 2 * e)]
            at = ends[i] if first[0] is None else first[0]
            missed = "" if first[0] is not None else _missed(float(m[at]), int(at), float(start[i]))
            found[i] = replace(
                found[i],
                iterations=first[0],
                between=(first[1], first[2]),
                note=missed,
                excess=float(m[at]),
                excess_se=float(e[at]),
                seeds=many,
            )
    return found


def _unmeasured(model: ConstantPlan, epsilon: float, start: float) -> ConstantPlan:
    """A plan of the loss itself with the weights and the step of its model; nothing is known of its time."""
    taken = {name: getattr(model, name) for name in ("weights", "eta", "note", "preconditioner", "matrix")}
    return ConstantPlan(epsilon=epsilon, start=start, model=model, **taken)


def _missed(excess: float, end: int, start: float) -> str:
    where = f"the mean excess is {excess:.3g} at t = {end}"
    if not excess < start:
        return f"the step is not stable on the losses themselves: {where}, above the start"
    return f"not reached within four times the model's T, and {LONGEST_SIMULATION:,} iterations: {where}"


def _first(below: np.ndarray) -> int | None:
    return int(np.argmax(below)) if below.any() else None


def measured_curves(problem: Problem, rows: Sequence[Row]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """By client the mean excess with peers and alone at t = 0, 1, ..., to twice the longest plan."""
    both = [list(plans) for plans in zip(*(row.both("measured") for row in rows))]
    longest, seeds = (max(getattr(one, name) or 1 for one in (*both[0], *both[1])) for name in ("iterations", "seeds"))
    steps = min(2 * longest, LONGEST_SIMULATION)
    together, alone = (mean_excess(problem, plans, steps, seeds)[0] for plans in both)
    return {row.name: (together[:, row.client], alone[:, row.client]) for row in rows}


@np.errstate(over="ignore", invalid="ignore")  # steps that are not stable
def mean_excess(
    problem: Problem, plans: Sequence[ConstantPlan], steps: int, seeds: int, root: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Mean excess of every client at t = 0..steps over simulated paths and its standard error, (steps + 1, N)."""
    from suffice.simulate import run

    part = max(1, int(KEPT / ((steps + 1) * problem.clients)))
    rule, eta = weights_of(problem, plans), still([plan.eta for plan in plans])
    origin = total = squares = np.zeros(())
    for first in range(0, seeds, part):
        some = range(first, min(first + part, seeds))
        values = run(problem, rule, iterations=steps, eta=eta, seeds=some, root=root).excess.astype(float)
        origin = values.mean(0) if first == 0 else origin  # squares about 0 would lose digits
        total, squares = total + (values - origin).sum(0), squares + ((values - origin) ** 2).sum(0)
    shift = total / seeds
    variance = np.maximum(squares - seeds * shift**2, 0) / max(seeds - 1, 1)
    return origin + shift, np.sqrt(variance / seeds)
