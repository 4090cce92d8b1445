"""Tables of what a plan was tried by: simulation, resampling, and other precisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from suffice.support.tables import Column, Table, number

from ..break_even import BreakEven
from .plans import MOST_ROWS

if TYPE_CHECKING:  # a plan of constants is shown without torch
    from ..bootstrap import Interval, Stability
    from ..simulated import Measured, SimulatedPlan

MOST_LISTED = 12
"""Clients that one line lists."""

CLIENT = Column("client", lambda entry: entry.name, numeric=False)
EPSILON = Column("eps", lambda entry: entry.epsilon)
HITTING = (
    CLIENT,
    EPSILON,
    Column("alone", lambda entry: _time(entry.plans["alone"])),
    Column("/bound", lambda entry: entry.ratio_alone, digits=2),
    Column("together", lambda entry: _time(entry.plans["together"])),
    Column("/bound ", lambda entry: entry.ratio_together, digits=2),
    Column("speed-up", lambda entry: entry.alone / entry.together if entry.together else None),
)
THREE_NUMBERS = (
    CLIENT,
    EPSILON,
    Column("T", lambda entry: entry.iterations_together),
    Column("exact", lambda entry: entry.exact_together),
    Column("measured/exact", lambda entry: _over_exact(entry.plans["together"])),
    Column("E[tau] <=", lambda entry: entry.predicted_together),
    Column("E[tau]", lambda entry: f"{number(entry.together)} ({number(entry.together_se, 2)})"),
)
REPEATED = (
    CLIENT,
    EPSILON,
    Column("T alone", lambda entry: number(entry.iterations_alone)),
    Column("excess/eps", lambda entry: _over(entry.plans["alone"], entry.epsilon)),
    Column("T together", lambda entry: number(entry.iterations_together)),
    Column("excess/eps ", lambda entry: _over(entry.plans["together"], entry.epsilon)),
)
BREAK_EVEN = (
    CLIENT,
    Column("help at eps", lambda one: one.helped),
    Column("no longer at", lambda one: one.stopped),
    Column("smallest tried", lambda one: one.tried),
    Column("iterations", lambda one: one.iterations),
    Column("2 x batch", lambda one: one.doubled),
)


def measured_table(measured: Sequence[Measured]) -> Table:
    """Hitting times beside the predicted ones."""
    partial = any(min(entry.alone_arrived, entry.together_arrived) < 1 for entry in measured)
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
        ratios = [ratio for entry in measured if (ratio := entry.plans[how].excess_ratio) is not None]
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


def break_even_table(entries: Sequence[BreakEven]) -> Table:
    """Down to which precision peers help each client; no line of more clients than fit."""
    lines = ["The precisions tried are 1/2, 1/4, ... of the start. Peers help where they save an iteration and 2 %."]
    lines.append("`2 x batch` has the iterations at the plan's precision if gradients averaged twice the rows.")
    lines.append("`suffice fit` shows what the rows of other clients are worth for predictions.")
    if len(entries) > MOST_ROWS:
        lines.append(f"{len(entries) - MOST_ROWS} more clients are in --json.")
    title = "Break-even: precisions at which peers help, and the effect of a larger batch"
    return Table.of(BREAK_EVEN, entries[:MOST_ROWS], title=title, lines=lines, width=80)


def guaranteed_break_even_table(break_even: Sequence[BreakEven]) -> Table:
    """Lines that say below which precision peers do not make a client's guaranteed plan faster."""
    shown, more = break_even[:MOST_LISTED], len(break_even) - MOST_LISTED
    stops = [f"{entry.name} {'never' if entry.epsilon is None else f'{entry.epsilon:.3g}'}" for entry in shown]
    line = (
        f"Below these precisions the guaranteed plans (All-for-one) gain nothing by peers: {', '.join(stops)}"
        f"{f', {more} more in --json' if more > 0 else ''}."
    )
    if all(entry.epsilon is None for entry in break_even):
        line = "In the guaranteed plans (All-for-one) peers help no client at any precision below the initial excess."
    return Table(columns=(), rows=(), lines=[line] if break_even else [])


def stability_table(entries: Sequence[Stability], names: Sequence[str]) -> Table:
    """How often each planned peer is in the cluster when all rows are resampled; `names` are all clients'."""

    def peers(entry: Stability, chosen: Sequence[int]) -> str:
        return ", ".join(f"{names[k]} ({100 * entry.share[k]:.0f} %)" for k in chosen if k != entry.client)

    failed = f"; {entries[0].failed} more resamples had no constants" if entries[0].failed else ""
    return Table.of(
        (
            CLIENT,
            EPSILON,
            Column(
                "planned peers (share of resamples)", lambda one: peers(one, one.cluster) or "nobody", numeric=False
            ),
            Column("others in half or more", lambda one: peers(one, one.missing) or "-", numeric=False),
            Column("same cluster", lambda one: f"{100 * one.same:.0f} %"),
            Column("together <=", lambda one: _between(one.iterations), numeric=False),
            Column("alone <=", lambda one: _between(one.local_iterations), numeric=False),
            Column("speed-up", lambda one: _between(one.speedup), numeric=False),
        ),
        entries,
        title=f"Is the cluster stable? {entries[0].resamples} resamples of every client's rows",
        lines=[
            "Iterations and speed-ups are ranges that hold the middle 95 % of the resamples' plans. "
            f"Resampling adds noise, so the shares overstate instability{failed}."
        ],
    )


def _between(ends: Interval | None) -> str:
    return "-" if ends is None else f"{number(ends[0])} to {number(ends[1])}"


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
