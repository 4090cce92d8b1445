"""Rows of a plan: the papers' schedules where they hold, and the exact plans of the clients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.bounds import Constants, QuadraticCertificate
from suffice.simulate.moments.by_rows import MOST_FEATURES, MOST_WORK, GradientRows, passable
from suffice.simulate.moments.gradient_moments import MOST_NUMBERS, GradientMoments
from suffice.support.errors import InputError
from suffice.support.memory import Memory

from .exact.plan import exact_plans, plain_plans
from .guaranteed.plan import checked, promised_rows
from .plan_row import Row, unguaranteed_rows
from .precision import Precision

if TYPE_CHECKING:
    from suffice.simulate import Problem


MOST_COMPARED, COMPARED_WORK = 100, 1e9
"""Clients N, and N^2 d^3, up to which similarities are computed even where no schedule is promised."""


def why_no_moments(problem: Problem) -> str:
    """The one reason why second moments of its gradients are not known."""
    n, d, rows = problem.clients, problem.features, sum(problem.row_counts or ())
    if not hasattr(problem, "A"):
        return "the loss is not quadratic"
    if rows and not passable(problem.row_counts or (), d):
        return f"{rows * float(d) ** 2:.1e} products a step (rows times d^2) are more than {MOST_WORK:g}"
    if d > MOST_FEATURES:
        return f"{d} coefficients are more than {MOST_FEATURES}"
    return f"{n * (d * (d + 1) / 2) ** 2:.1e} second moments are more than {MOST_NUMBERS:g}"


Grouped = dict[float | str, tuple[Row, ...]]


def planned_rows(
    source: Problem | Constants,
    asked: Sequence[Precision],
    *,
    memory: Memory | None = None,
    progress: Callable[[int, int], None] | None = None,
    schedule: bool = False,
    precondition: bool = True,
    **how: Any,
) -> tuple[Grouped, Constants | None]:
    """The rows of all clients by precision, and the constants behind them, None where a client has none.

    schedule  look for stages that are faster than constant rates; how  arguments of `promised_rows`
    precondition  let clients multiply gradients by a matrix; else all take them as they are

    Where there are second moments the constants stay as they are, and rows say why the schedules do not hold.
    Elsewhere one noise level on the hull that the constants name is all there is to plan with, and every row says that
    paths may leave it. Raises `InputError`.
    """
    moments = None if isinstance(source, Constants) else source.gradient_moments(memory) or source.gradient_rows(memory)
    why = "constants have none" if isinstance(source, Constants) else why_no_moments(source)
    if schedule and not isinstance(moments, GradientMoments):
        raise InputError("schedule", schedule, f"stages are found from second moments, which there are not: {why}")
    if isinstance(moments, GradientRows) and not precondition:
        moments = moments.plain()
    constants, refusal = None, ""
    try:
        constants = source if isinstance(source, Constants) else source.constants()
    except InputError as error:
        if moments is None and not hasattr(source, "quadratic_model"):  # nothing is known to plan with
            raise
        refusal = str(error)
    checked(constants, **how)
    if constants is not None and moments is not None and constants.unbounded:
        n, d = moments.clients, moments.start.shape[1]
        if n > MOST_COMPARED or float(n) ** 2 * d**3 > COMPARED_WORK:
            refusal = constants.unbounded  # no schedule rests on similarities, which would take longer than the plans
    if constants is None or (moments is not None and refusal):
        names = source.names
        found = {one.key: unguaranteed_rows(names, one, refusal) for one in asked}
    else:
        if moments is None and not isinstance(source, Constants):
            refusal = constants.unbounded
            constants = replace(constants, unbounded="", notes=(f"no exact plan: {why}", *constants.notes))
        if memory is not None:
            memory.check(*_matrices(constants, len(asked)))
        found = {one.key: promised_rows(constants, one, **how) for one in asked}
    grouped = {}
    for key, rows in found.items():
        rows = [replace(row, refusal=row.refusal or refusal) for row in rows]
        grouped[key] = _with_exact(rows, moments, progress, schedule, precondition)
    return grouped, constants


def _with_exact(
    rows: Sequence[Row],
    moments: GradientMoments | GradientRows | None,
    progress: Callable[[int, int], None] | None,
    schedule: bool,
    precondition: bool,
) -> tuple[Row, ...]:
    """The rows of all clients at one precision; unchanged where there are no second moments."""
    if moments is None:
        return tuple(rows)
    epsilon = np.array([row.epsilon for row in rows])
    found = exact_plans(moments, epsilon, schedule=schedule, progress=progress, precondition=precondition)
    shown = precondition and isinstance(moments, GradientMoments)
    plain = plain_plans(moments, [alone for _, alone in found]) if shown else [None] * len(rows)
    return tuple(
        replace(
            row,
            exact=together,
            exact_local=alone,
            plain=by_itself,
            warnings=tuple(dict.fromkeys((*row.warnings, *filter(None, (together.note,))))),
        )
        for row, (together, alone), by_itself in zip(rows, found, plain)
    )


def _matrices(constants: Constants, precisions: int) -> tuple[str, float]:
    """What a plan allocates and how many bytes: to compare the clients, and what the rows of each precision keep, as
    measured: up to 4 and 6 arrays (N, N), more for a certificate of quadratics.
    """
    n, pairs = constants.clients, constants.heterogeneity
    compared = pairs.working_numbers if isinstance(pairs, QuadraticCertificate) else 4 * n**2
    at = "" if precisions == 1 else f" at {precisions} precisions"
    return f"a plan of {n} clients{at}", 8.0 * (compared + 6 * precisions * n**2)
