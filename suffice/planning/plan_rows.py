"""Rows of a plan: the papers' schedules where they hold, and the exact plans of the clients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.bounds import Constants, QuadraticCertificate
from suffice.simulate.moments.by_rows import MOST_WORK, GradientRows
from suffice.simulate.moments.gradient_moments import MOST_NUMBERS, GradientMoments
from suffice.support.errors import InputError
from suffice.support.memory import Memory

from .constant_plan import ConstantPlan
from .exact.large_models import row_plans
from .exact.plan import exact_plans
from .guaranteed.plan import checked, plan_rows
from .plan_row import Row, unguaranteed_rows
from .precision import precisions

if TYPE_CHECKING:
    from suffice.simulate import Problem

BEYOND = (
    "no exact plan: it needs a quadratic loss, clients that draw independently, and at most "
    f"{MOST_NUMBERS:g} numbers N (d(d+1)/2)^2, or {MOST_WORK:g} products (rows times d^2)"
)

MOST_COMPARED, COMPARED_WORK = 100, 1e9
"""Clients N, and N^2 d^3, up to which similarities are computed even where no schedule is promised."""

SHARED = "all clients share their noise, which averaging over peers does not reduce"

NO_MOMENTS = "they need a quadratic loss, clients that draw independently, and no more than about 40 coefficients"

Grouped = dict[float | str, tuple[Row, ...]]


def planned_rows(
    source: Problem | Constants,
    epsilon: Any,
    *,
    memory: Memory | None = None,
    progress: Callable[[int, int], None] | None = None,
    schedule: bool = False,
    **how: Any,
) -> tuple[Grouped, Constants | None]:
    """The rows of all clients by precision, and the constants behind them, None where a client has none.

    schedule  look for stages that are faster than constant rates; how  arguments of `bounds.plan_rows`

    Where there are second moments the constants stay as they are, and rows say why the schedules do not hold.
    Elsewhere one noise level on the hull that the constants name is all there is to plan with, and every row says that
    paths may leave it. Raises `InputError`.
    """
    moments = None if isinstance(source, Constants) else source.gradient_moments(memory) or source.gradient_rows(memory)
    if schedule and not isinstance(moments, GradientMoments):
        raise InputError(
            "schedule", schedule, f"stages are found from second moments, which there are not: {NO_MOMENTS}"
        )
    constants, refusal = None, ""
    try:
        constants = source if isinstance(source, Constants) else source.constants()
    except InputError as error:
        if moments is None:
            raise
        refusal = str(error)
    if constants is not None and moments is not None and constants.unbounded:
        n, d = moments.clients, moments.start.shape[1]
        if n > MOST_COMPARED or float(n) ** 2 * d**3 > COMPARED_WORK:
            refusal = constants.unbounded  # no schedule rests on similarities, which would take longer than the plans
            checked(constants, epsilon, **how)
    if constants is None or (moments is not None and refusal):
        assert not isinstance(source, Constants)
        assert moments is not None
        rows = [
            row for one in precisions(epsilon, moments.excess) for row in unguaranteed_rows(source.names, one, refusal)
        ]
    else:
        if moments is None and not isinstance(source, Constants):
            refusal = SHARED if getattr(source, "shared_noise", False) else constants.unbounded
            constants = replace(constants, unbounded="", notes=(BEYOND, *constants.notes))
        if memory is not None:
            many = len(epsilon) if isinstance(epsilon, (list, tuple)) else np.size(epsilon)
            memory.check(*_matrices(constants, many))
        rows = [replace(row, refusal=row.refusal or refusal) for row in plan_rows(constants, epsilon, **how)]
    grouped: dict[float | str, list[Row]] = {}
    for row in rows:
        grouped.setdefault(row.epsilon_given if row.epsilon_given.endswith("%") else row.epsilon, []).append(row)
    return {key: _with_exact(there, moments, progress, schedule) for key, there in grouped.items()}, constants


def _with_exact(
    rows: Sequence[Row],
    moments: GradientMoments | GradientRows | None,
    progress: Callable[[int, int], None] | None,
    schedule: bool,
) -> tuple[Row, ...]:
    """The rows of all clients at one precision; unchanged where there are no second moments."""
    if moments is None:
        return tuple(rows)
    epsilon = np.array([row.epsilon for row in rows])
    found = moment_plans(moments, epsilon, schedule=schedule, progress=progress)
    return tuple(
        replace(
            row.planned("exact", together, alone),
            warnings=tuple(dict.fromkeys((*row.warnings, *filter(None, (together.note,))))),
        )
        for row, (together, alone) in zip(rows, found)
    )


def moment_plans(
    moments: GradientMoments | GradientRows,
    epsilon: np.ndarray,
    *,
    schedule: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> list[tuple[ConstantPlan, ConstantPlan]]:
    """Every client's plan together with peers and alone, at precisions (N,) of its own [loss]."""
    if isinstance(moments, GradientRows):  # too large for stages
        return row_plans(moments, epsilon, progress=progress)
    return exact_plans(moments, epsilon, schedule=schedule, progress=progress)


def _matrices(constants: Constants, precisions: int) -> tuple[str, float]:
    """What a plan allocates and how many bytes: to compare the clients, and what the rows of each precision keep, as
    measured: up to 4 and 6 arrays (N, N), more for a certificate of quadratics.
    """
    n, pairs = constants.clients, constants.heterogeneity
    compared = pairs.working_numbers if isinstance(pairs, QuadraticCertificate) else 4 * n**2
    at = "" if precisions == 1 else f" at {precisions} precisions"
    return f"a plan of {n} clients{at}", 8.0 * (compared + 6 * precisions * n**2)
