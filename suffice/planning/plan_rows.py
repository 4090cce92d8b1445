"""Rows of a plan: the papers' schedules where they hold, and the exact plans of the clients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.bounds import Binary, Constants, QuadraticCertificate
from suffice.simulate.moments.by_rows import MOST_FEATURES, MOST_WORK, GradientRows, passable
from suffice.simulate.moments.gradient_moments import MOST_NUMBERS, GradientMoments
from suffice.support.errors import InputError
from suffice.support.memory import Memory

from .client_plan import CLUSTER, ClientPlan
from .exact.plan import exact_plans
from .guaranteed.plan import checked, promised
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


Grouped = dict[float | str, tuple[ClientPlan, ...]]


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

    schedule  look for stages that are faster than constant rates; how  arguments of `promised`
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
        fields = dict.fromkeys((one.key for one in asked), unknown(source.clients))
    else:
        if moments is None and not isinstance(source, Constants):
            refusal = constants.unbounded
            constants = replace(constants, unbounded="", notes=(f"no exact plan: {why}", *constants.notes))
        if memory is not None:
            memory.check(*_matrices(constants, len(asked)))
        refusal = constants.unbounded or refusal
        fields = {one.key: promised(constants, one.each, **how) for one in asked}
    found: Grouped = {}
    for one in asked:
        pairs: Sequence[tuple[Any, Any]] = [(None, None)] * len(one.each)
        if moments is not None:
            pairs = exact_plans(moments, one.each, schedule=schedule, progress=progress, precondition=precondition)
        found[one.key] = ()
        for i, (epsilon, own, (together, alone)) in enumerate(zip(one.each.tolist(), fields[one.key], pairs)):
            given = {"names": tuple(source.names), "epsilon_given": one.given, "epsilon_of": one.of}
            known: dict[str, Any] = own | given | {"client": i, "name": source.names[i], "epsilon": epsilon}
            if together is not None and together.note:
                known["warnings"] = tuple(dict.fromkeys((*own.get("warnings", ()), together.note)))
            found[one.key] += (ClientPlan(exact=together, exact_local=alone, refusal=refusal, **known),)
    return found, constants


def unknown(clients: int) -> list[dict[str, Any]]:
    """Fields of rows of clients whose constants are not known: similarities and variances are nan, nothing is
    guaranteed."""
    known = dict.fromkeys(CLUSTER, np.nan) | {"criterion": Binary(threshold=0.5), "step_limit": None}
    alone = np.eye(clients)  # once: each row keeps a view of all of it
    return [
        known | {"similarity": np.where(own, 1.0, np.nan), "weights": own, "cluster": (i,)}
        for i, own in enumerate(alone)
    ]


def _matrices(constants: Constants, precisions: int) -> tuple[str, float]:
    """A plan in words, and the bytes that it allocates, as measured: up to 4 arrays (N, N) to compare the clients, more
    for a certificate of quadratics, and for each client and precision a row of up to 6 N + 300 numbers.
    """
    n, pairs = constants.clients, constants.heterogeneity
    compared = pairs.working_numbers if isinstance(pairs, QuadraticCertificate) else 4 * n**2
    at = "" if precisions == 1 else f" at {precisions} precisions"
    return f"a plan of {n} clients{at}", 8.0 * (compared + precisions * n * (6 * n + 300))
