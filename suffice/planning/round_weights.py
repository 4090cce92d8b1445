"""A plan round by round, as arrays that any trainer can follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from suffice.support.errors import InputError

from .client_plan import ClientPlan
from .constant_plan import ConstantPlan


def plan_to_follow(row: ClientPlan) -> ConstantPlan:
    """The plan that a client follows: measured, or exact. `InputError` where there is none that arrives."""
    plan, _ = row.constant()
    if plan is None:
        why = "there are only guarantees of the papers' schedules" if row.schedules is not None else row.refusal
        raise InputError("federated", row.name, f"no plan with weights and a step to follow: {why}")
    if plan.iterations is None:
        raise InputError("federated", row.name, f"its plan does not arrive: {plan.note}; take a larger epsilon")
    return plan


def rounds(rows: Sequence[ClientPlan], features: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """t = 1, 2, ..., rates (N, N) [theta^2 / loss] and matrices (N, d, d), the same in all rounds, of all clients at
    one precision, until all have arrived: rates are steps times weights, 0 in the rows of clients that have."""
    plans = [plan_to_follow(row) for row in rows]
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


def matrices(rows: Sequence[ClientPlan]) -> dict[str, Any]:
    """Every matrix that a plan of these rows names, once, rows and columns in the order of the coordinates."""
    found = {}
    for row in rows:
        for plan in (row.exact, row.exact_local, row.measured, row.measured_local):
            name = plan and plan.matrix_name(row.name)
            if name and name not in found:
                found[name] = plan.matrix
    return found
