"""A plan round by round, as arrays that any trainer can follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.simulate.data.folds import FOLDS
from suffice.support.errors import InputError

from .constant_plan import ConstantPlan
from .plan_row import Row

if TYPE_CHECKING:
    from suffice.simulate import Problem


LEAD = (
    "Least squares needs no rounds: one message of {numbers} numbers from each site gives every model (suffice fit). "
    "This plan takes {rounds} rounds{sent}: it is for study, and for losses without such sums."
)


def without_rounds(problem: Problem | None, rows: Sequence[Row]) -> str:
    """What does better than an exact plan of least squares on rows, all clients at one precision; empty elsewhere.

    A round costs a model and a gradient for every peer that a client follows.
    """
    if problem is None or rows[0].exact is None:
        return ""
    from suffice.simulate import LeastSquares  # torch: constants need none

    if not isinstance(problem, LeastSquares):
        return ""
    size, taken = problem.features + 1, [row.exact.iterations or 0 for row in rows]
    pairs = sum(steps * len(row.peers("exact")) for steps, row in zip(taken, rows))
    sent = f" and {2 * pairs * problem.features:,} numbers between sites" if pairs else ""
    return LEAD.format(numbers=FOLDS * size * (size + 1) // 2, rounds=f"{max(taken):,}", sent=sent)


def followed(row: Row) -> ConstantPlan:
    """The plan that a client follows: measured, or exact. `InputError` where there is none that arrives."""
    plan, _ = row.constant()
    if plan is None:
        why = "there are only guarantees of the papers' schedules" if row.schedules is not None else row.refusal
        raise InputError("federated", row.name, f"no plan with weights and a step to follow: {why}")
    if plan.iterations is None:
        raise InputError("federated", row.name, f"its plan does not arrive: {plan.note}; take a larger epsilon")
    return plan


def rounds(rows: Sequence[Row], features: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """t = 1, 2, ..., rates (N, N) [theta^2 / loss] and matrices (N, d, d), the same in all rounds, of all clients at
    one precision, until all have arrived: rates are steps times weights, 0 in the rows of clients that have."""
    plans = [followed(row) for row in rows]
    each = np.stack([np.eye(features) if plan.matrix is None else plan.matrix for plan in plans])
    stages = [plan.stages or (plan,) for plan in plans]
    ends = [np.cumsum([stage.iterations for stage in parts]) for parts in stages]
    for t in range(1, 1 + max(int(end[-1]) for end in ends)):
        rates = np.zeros((len(rows), len(rows)))
        for i, (parts, end) in enumerate(zip(stages, ends)):
            at = int(np.searchsorted(end, t))
            if at < len(parts):
                rates[i] = parts[at].rates
        yield t, rates, each


def matrices(rows: Sequence[Row]) -> dict[str, Any]:
    """Every matrix that a plan of these rows names, once, rows and columns in the order of the coordinates."""
    found = {}
    for row in rows:
        for plan in (row.exact, row.exact_local, row.measured, row.measured_local):
            name = plan and plan.matrix_name(row.name)
            if name and name not in found:
                found[name] = plan.matrix
    return found
