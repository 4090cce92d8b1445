"""A plan as a table in a file: one CSV of clients, together and alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from suffice.support.files import make_folder, write_whole
from suffice.support.tables import Column
from suffice.support.text import csv_text

from ..number import Kind
from ..plan_row import Row

if TYPE_CHECKING:  # a plan of constants is shown without torch
    from ..simulated import Measured, SimulatedPlan

METHODS: dict[Kind, tuple[tuple[str, str], str]] = {
    "measured": (
        ("measured", "measured, alone"),
        "first t with a mean excess <= epsilon over {plan.seeds} simulated paths",
    ),
    "exact": (("exact", "exact, alone"), "first T with E[e_T] <= epsilon, exact"),
    "guaranteed": (("all-for-one", "local"), "{plan.promise}"),
}
"""Of each kind of plan: its names with peers and alone, and what it promises."""


class Line(NamedTuple):
    """A plan of one client, with peers or alone, what paths of it did, and the ends of a measured time."""

    row: Row
    kind: Kind
    method: str
    together: bool
    plan: Any
    run: SimulatedPlan | None = None
    ends: tuple[float | None, float | None] = (None, None)


COLUMNS = (
    Column("epsilon", lambda line: line.row.epsilon, unit="loss"),
    Column("method", lambda line: line.method),
    Column("client", lambda line: line.row.name),
    Column("collaborators", lambda line: "; ".join(line.row.peers(line.kind) if line.together else ())),
    Column("step size", lambda line: line.plan.eta, unit="theta^2/loss"),
    Column("iterations <=", lambda line: line.plan.time.value, unit="1"),
    Column("speed-up", lambda line: line.row.gain(line.kind) if line.together else "", unit="1"),
    Column("theorem", lambda line: line.plan.theorem if line.kind == "guaranteed" else ""),
    Column("promise", lambda line: METHODS[line.kind][1].format(plan=line.plan)),
    Column("refused because", lambda line: line.plan.time.why_not),
    Column("measured", lambda line: line.run and line.run.time, unit="1"),
    Column("measured/predicted", lambda line: line.run and line.run.ratio, unit="1"),
    Column("iterations, low", lambda line: line.ends[0], unit="1"),
    Column("iterations, high", lambda line: line.ends[1], unit="1"),
)


def write_csv(path: Path, rows: Sequence[Row], *, measured: Sequence[Measured] | None = None) -> Path:
    """The rows of a plan, the guaranteed plans last: together, then alone.

    Measured numbers are mean hitting times. Low and high are those of measured plans, two standard errors away.
    """
    lines = []
    for row, entry in zip(rows, measured or [None] * len(rows)):
        for kind, (methods, _) in METHODS.items():
            for how, method, plan in zip(("together", "alone"), methods, row.plans.get(kind, ())):
                line = Line(row, kind, method, how == "together", plan)
                if kind == "measured":
                    line = line._replace(ends=plan.time.error)
                elif entry and (kind == "guaranteed" or row.schedules is None):  # of the guaranteed plans, if any
                    line = line._replace(run=getattr(entry, how))
                lines.append([column.get(line) for column in COLUMNS])
    make_folder(path.parent, "csv")
    return write_whole(path, csv_text([[column.name for column in COLUMNS], *lines]).encode())
