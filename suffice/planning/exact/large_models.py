"""Exact plans by passes over rows, for clients with too many coefficients for second moments.

Rates come from `GramModel` in the pooled coordinates, at two lengths; their times are exact, together and alone.
There is no descent on the exact curve, no floor and no bound of E[tau]: each would take many times as long.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from suffice.simulate.moments.by_rows import GradientRows, RowRecursion

from ..constant_plan import ConstantPlan
from .plan import HORIZON, start_of_plan
from .search import modelled, start_directions

LENGTHS = (1.0, 0.8)
SHORTER = 0.5
HALVINGS = 4
"""Of the model's rates where none of the lengths arrives in time."""
SAFE = 0.999
NOTE = "rates of a model with identity Hessians, their times exact by passes over rows; floor and E[tau] not looked for"


def row_plans(
    rows: GradientRows,
    epsilon: np.ndarray,
    *,
    horizon: int = HORIZON,
    progress: Callable[[int, int], None] | None = None,
) -> list[tuple[ConstantPlan, ConstantPlan]]:
    """Of every client together with peers and alone, at precisions (N,) of its own [loss]."""
    from threadpoolctl import threadpool_limits

    N, found = rows.clients, []
    with threadpool_limits(1):
        models, excess, A = rows.models(), rows.excess, rows.grams + rows.penalty
        optimum = rows.optimum @ rows.inverse.T
        for i, model in enumerate(models):
            plan = start_of_plan(N, float(epsilon[i]), max(float(excess[i]), 0.0))
            if plan.note:
                found.append((plan, plan))
                continue
            only = {name: getattr(model, name)[[i]] for name in ("gaps", "growth", "level")}
            single = modelled(replace(model, **only), np.ones((1, 1)), plan.epsilon, horizon)
            joint = modelled(model, start_directions(optimum, A[i], i), plan.epsilon, horizon)
            likely = horizon if single.steps is None else min(horizon, 4 * single.steps + 10)
            alone = _exactly(plan, rows, i, single.v * np.eye(N)[i], likely)
            most = likely if alone.iterations is None else alone.iterations - 1
            together = _exactly(plan, rows, i, joint.v, most)
            # peers are followed only where this saves a step
            found.append((alone if together.iterations is None else together, alone))
            if progress is not None:
                progress(i + 1, N)
    return found


@dataclass(frozen=True)
class _Followed:
    """A recursion that reads its rows when it is asked for."""

    rows: GradientRows
    client: int
    v: np.ndarray

    def curve(self, rates: np.ndarray, steps: int) -> np.ndarray:
        return RowRecursion(self.rows, self.client, self.v).curve(rates, steps)


def _exactly(plan: ConstantPlan, rows: GradientRows, i: int, v: np.ndarray, most: int) -> ConstantPlan:
    """The fastest of some lengths of v that are below the step limit."""
    recursion = RowRecursion(rows, i, v)
    limit, best, steps = recursion.limit(), (np.inf, np.inf, 0.0), most
    lengths = [c for c in LENGTHS if c < SAFE * limit] or [0.9 * limit]
    for j, c in enumerate((*lengths, *(lengths[0] * SHORTER**j for j in range(1, HALVINGS + 1)))):
        if steps <= 0 or (c < min(lengths) and best[2]):
            break
        time, excess = recursion.first(c, plan.epsilon, steps, single_precision=j > 0)
        if j and time < best[0]:
            time, excess = recursion.first(c, plan.epsilon, steps)
        if time < best[0]:
            best, steps = (time, excess, c), int(np.ceil(time))
    if not best[2]:
        return plan.noted(f"no constant weights and step tried arrive within {most:,} iterations")
    eta = best[2] * float(v.sum()) * (rows.scale or 1.0)
    return replace(
        plan,
        weights=v / v.sum(),
        eta=eta,
        iterations=int(np.ceil(best[0])),
        note=NOTE,
        excess=best[1],
        step_limit=eta * limit / best[2],
        preconditioner="none" if rows.scale else "pooled",
        matrix=None if rows.scale else rows.basis @ rows.basis.T,
        recursion=_Followed(rows, i, best[2] * v),
    )
