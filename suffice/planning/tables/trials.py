"""Tables of what a plan was tried by: simulation, and several precisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from suffice.support.tables import Column, Table, number

from .notes import first_rows, sentence

if TYPE_CHECKING:  # a plan of constants is shown without torch
    from ..simulated import Measured, SimulatedPlan


CLIENT = Column("client", lambda entry: entry.name, numeric=False)
EPSILON = Column("eps", lambda entry: entry.epsilon)
HITTING = (
    CLIENT,
    EPSILON,
    Column("alone", lambda entry: _time(entry.alone)),
    Column("/bound", lambda entry: entry.alone.ratio, digits=2, optional=True),
    Column("together", lambda entry: _time(entry.together)),
    Column("/bound ", lambda entry: entry.together.ratio, digits=2, optional=True),
    Column("speed-up", lambda entry: entry.alone.time / entry.together.time if entry.together.time else None),
)


BREAK_EVEN = (
    Column("client", lambda one: one["name"], numeric=False),
    Column("help at eps", lambda one: one["helped"]),
    Column("no longer at", lambda one: one["stopped"]),
)


def measured_tables(measured: Sequence[Measured]) -> list[Table]:
    """Excesses at the end of constant plans, and hitting times beside the predicted ones, where there are some."""
    seeds, clients = measured[0].seeds, len({entry.client for entry in measured})
    plans, tables = [plan for entry in measured for plan in (entry.alone, entry.together)], []
    if any(plan.iterations is not None for plan in plans):
        exact = any(plan.exact is not None for plan in plans)
        over = f"measured/{'exact' if exact else 'eps'}"
        columns = (
            CLIENT,
            EPSILON,
            Column("T alone", lambda entry: entry.alone.iterations),
            Column(over, lambda entry: _over(entry.alone, entry.alone.exact if exact else entry.epsilon)),
            Column("T together", lambda entry: entry.together.iterations),
            Column(f"{over} ", lambda entry: _over(entry.together, entry.together.exact if exact else entry.epsilon)),
        )
        title = f"Mean excess at the plan's T over {seeds} seeds (standard error)"
        lines = [] if exact else ["The plans ran on other paths than those that told their T."]
        tables.append(first_rows(columns, measured, clients, title=title, lines=lines))
    if any(plan.predicted is not None for plan in plans):
        lines = ["A time is measured at the step for which its bound is guaranteed, often below the plan's step."]
        partial = any(plan.arrived is not None and plan.arrived < 1 for plan in plans)
        lines += ["Where a share in % stands, the mean is over the paths that arrived."] if partial else []
        title = f"Measured over {seeds} seeds: mean hitting time (standard error), over its bound"
        tables.append(first_rows(HITTING, measured, clients, title=title, lines=lines))
    return tables


def break_even_tables(entries: Sequence[dict[str, Any]]) -> list[Table]:
    """At which of the plan's precisions peers help each client last; nothing of a plan at one precision."""
    if all(entry["helped"] is None for entry in entries):
        return sentence("Peers save no client an iteration at any of these precisions." if entries else "")
    title = "Break-even: the smallest of these precisions at which peers save an iteration"
    return [first_rows(BREAK_EVEN, entries, len(entries), title=title, lines=())]


def _time(plan: SimulatedPlan) -> str:
    text = f"{number(plan.time)} ({number(plan.time_se, 2)})"
    return text if plan.arrived == 1 else f"{text} {100 * (plan.arrived or 0):.0f} %"


def _over(plan: SimulatedPlan, whole: float | None) -> str:
    """The mean excess at the end of a plan, and its standard error, over another number."""
    if not whole or plan.excess is None or plan.excess_se is None:
        return "-"
    return f"{plan.excess / whole:.3f} ({number(plan.excess_se / whole, 2)})"
