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
    from ..bootstrap import Stability
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
    """A plan of one client, with peers or alone, what paths of it did, and what resamples say: the share of the planned
    peer that is in least often, and the ends of the time."""

    row: Row
    kind: Kind
    method: str
    together: bool
    plan: Any
    run: SimulatedPlan | None = None
    weakest: float | None = None
    ends: tuple[float | None, float | None] = (None, None)


COLUMNS = (
    Column("epsilon", lambda line: line.row.epsilon, unit="loss"),
    Column("method", lambda line: line.method),
    Column("client", lambda line: line.row.name),
    Column("collaborators", lambda line: "; ".join(line.row.peers(line.kind) if line.together else ())),
    Column("step size", lambda line: line.plan.eta, unit="theta^2/loss"),
    Column("iterations <=", lambda line: line.plan.time.value, unit="1"),
    Column("vectors <=", lambda line: "", unit="1"),  # of the methods that were compared once
    Column("speed-up", lambda line: line.row.gain(line.kind) if line.together else "", unit="1"),
    Column("theorem", lambda line: line.plan.theorem if line.kind == "guaranteed" else ""),
    Column("promise", lambda line: METHODS[line.kind][1].format(plan=line.plan)),
    Column("refused because", lambda line: line.plan.time.why_not),
    Column("measured", lambda line: line.run and line.run.time, unit="1"),
    Column("measured/predicted", lambda line: line.run and line.run.ratio, unit="1"),
    Column("least share of a planned peer over resamples", lambda line: line.weakest, unit="1"),
    Column("iterations, low", lambda line: line.ends[0], unit="1"),
    Column("iterations, high", lambda line: line.ends[1], unit="1"),
)


def write_csv(
    path: Path,
    rows: Sequence[Row],
    *,
    measured: Sequence[Measured] | None = None,
    stability: Sequence[Stability] | None = None,
) -> Path:
    """The rows of a plan, the guaranteed plans last: together, then alone.

    Measured numbers are mean hitting times. Low and high are the middle 95 % over resamples, of measured plans two
    standard errors.
    """
    lines, unknown = [], [None] * len(rows)
    for row, entry, stable in zip(rows, measured or unknown, stability or unknown):
        for kind, (methods, _) in METHODS.items():
            for together, method, plan in zip((True, False), methods, row.plans.get(kind, ())):
                line = Line(row, kind, method, together, plan)
                if kind == "measured":
                    line = line._replace(ends=plan.time.error)
                elif kind == "guaranteed" or row.schedules is None:  # of the guaranteed plans, where there are any
                    line = _tried(line, entry, stable)
                lines.append([column.get(line) for column in COLUMNS])
    make_folder(path.parent, "csv")
    return write_whole(path, csv_text([[column.name for column in COLUMNS], *lines]).encode())


def _tried(line: Line, entry: Measured | None, stable: Stability | None) -> Line:
    """The line with the mean hitting time, and what resamples say."""
    if entry:
        line = line._replace(run=entry.plans["together" if line.together else "alone"])
    if not stable:
        return line
    ends = stable.iterations if line.together else stable.local_iterations
    return line._replace(weakest=stable.weakest if line.together else None, ends=ends or (None, None))
