"""Tables of what a plan was tried by: simulation, and several precisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.support.tables import Column, Table, number

from .plans import MOST_ROWS

if TYPE_CHECKING:  # a plan of constants is shown without torch
    from ..simulated import Measured, SimulatedPlan


CLIENT = Column("client", lambda entry: entry.name, numeric=False)
EPSILON = Column("eps", lambda entry: entry.epsilon)
HITTING = (
    CLIENT,
    EPSILON,
    Column("alone", lambda entry: _time(entry.alone)),
    Column("/bound", lambda entry: entry.alone.ratio, digits=2),
    Column("together", lambda entry: _time(entry.together)),
    Column("/bound ", lambda entry: entry.together.ratio, digits=2),
    Column("speed-up", lambda entry: entry.alone.time / entry.together.time if entry.together.time else None),
)
THREE_NUMBERS = (
    CLIENT,
    EPSILON,
    Column("T", lambda entry: entry.together.iterations),
    Column("exact", lambda entry: entry.together.exact),
    Column("measured/exact", lambda entry: _over_exact(entry.together)),
    Column("E[tau] <=", lambda entry: entry.together.predicted),
    Column("E[tau]", lambda entry: f"{number(entry.together.time)} ({number(entry.together.time_se, 2)})"),
)
REPEATED = (
    CLIENT,
    EPSILON,
    Column("T alone", lambda entry: number(entry.alone.iterations)),
    Column("excess/eps", lambda entry: _over(entry.alone, entry.epsilon)),
    Column("T together", lambda entry: number(entry.together.iterations)),
    Column("excess/eps ", lambda entry: _over(entry.together, entry.epsilon)),
)
BREAK_EVEN = (
    Column("client", lambda one: one["name"], numeric=False),
    Column("help at eps", lambda one: one["helped"]),
    Column("no longer at", lambda one: one["stopped"]),
)


def measured_table(measured: Sequence[Measured]) -> Table:
    """Hitting times beside the predicted ones."""
    partial = any(min(entry.alone.arrived, entry.together.arrived) < 1 for entry in measured)
    return Table.of(
        HITTING,
        measured,
        title=f"Measured over {measured[0].seeds} seeds: mean hitting time (standard error), over its bound",
        lines=["Where a share in % stands, the mean is over the paths that arrived."] if partial else (),
        width=80,
    )


def exact_measured_table(measured: Sequence[Measured]) -> Table:
    """What is exact, guaranteed and measured side by side, with peers; the last line is about both, alone too."""
    many = len({entry.client for entry in measured}) > MOST_ROWS
    lines = ["E[tau] is measured at the step for which the bound beside it is guaranteed, often below the plan's step."]
    for how in ("alone", "together", "scheduled"):
        ratios = [ratio for entry in measured if (ratio := getattr(entry, how).excess_ratio) is not None]
        if ratios:
            lines.append(
                f"The mean excess at T, {how}, is {min(ratios):.3f} to {max(ratios):.3f} times the exact one, "
                f"{np.median(ratios):.3f} in the median."
            )
    if many:
        lines.append(f"{len(measured) - MOST_ROWS} more rows are in --csv FILE and --json.")
    return Table.of(
        THREE_NUMBERS,
        measured[:MOST_ROWS] if many else measured,
        title=f"With peers, {measured[0].seeds} seeds (standard error): mean excess at T, and hitting time",
        lines=lines,
        width=80,
    )


def repeated_table(measured: Sequence[Measured]) -> Table:
    """Measured plans, run on other paths than those that told their T."""
    return Table.of(
        REPEATED,
        measured[:MOST_ROWS],
        title=f"The measured plans on {measured[0].seeds} other paths: mean excess at T over eps (standard error)",
        lines=[f"{len(measured) - MOST_ROWS} more rows are in --json."] if len(measured) > MOST_ROWS else (),
        width=80,
    )


def break_even_table(entries: Sequence[dict[str, Any]]) -> Table:
    """At which of the plan's precisions peers help each client last; nothing of a plan at one precision."""
    if not entries:
        return Table(columns=(), rows=(), lines=[])
    if all(entry["helped"] is None for entry in entries):
        return Table(columns=(), rows=(), lines=["Peers save no client an iteration at any of these precisions."])
    more = [f"{len(entries) - MOST_ROWS} more clients are in --json."] if len(entries) > MOST_ROWS else []
    title = "Break-even: the smallest of these precisions at which peers save an iteration"
    return Table.of(BREAK_EVEN, entries[:MOST_ROWS], title=title, lines=more, width=80)


def _time(plan: SimulatedPlan) -> str:
    text = f"{number(plan.time)} ({number(plan.time_se, 2)})"
    return text if plan.arrived == 1 else f"{text} {100 * plan.arrived:.0f} %"


def _over(plan: SimulatedPlan, whole: float | None) -> str:
    """The mean excess at the end of a plan, and its standard error, over another number."""
    if not whole or plan.excess is None or plan.excess_se is None:
        return "-"
    return f"{plan.excess / whole:.3f} ({number(plan.excess_se / whole, 2)})"


def _over_exact(plan: SimulatedPlan) -> str:
    return "-" if plan.excess_ratio is None else _over(plan, plan.exact)
