"""Notes stand below the tables of plans: few lines, the decisive first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from suffice.support.tables import Column, Table, gathered

from ..client_plan import ClientPlan

NOTES, LONGEST = 3, 320
"""A table has at most so many notes, of so many characters each; all are in --json."""
MOST_ROWS = 20
"""Clients up to which each has its line."""
WITHOUT = "Iterations are exact means with gradients as they are, without any matrix."
MATRIX = "Multiply the averaged gradient by the client's matrix, which is in `matrices` of --json and in --out DIR."
NOTHING = "nothing to plan"
MORE = ". More notes are in --json."


def sentence(text: str) -> list[Table]:
    """A table of nothing but a line of text; none without it."""
    return [Table(columns=(), rows=(), lines=[text])] if text else []


def first_rows(
    columns: Sequence[Column], rows: Sequence[Any], clients: int, *, title: str, lines: Sequence[str]
) -> Table:
    """All rows, or the first ones where there are many clients."""
    shown = rows[:MOST_ROWS] if clients > MOST_ROWS else rows
    more = [f"{len(rows) - len(shown)} more rows are in --csv FILE and --json."] if len(shown) < len(rows) else []
    return Table.from_columns(columns, shown, title=title, lines=[*lines, *more], width=80)


def noted_table(table: Table, notes: Sequence[str]) -> Table:
    """With what a plan has to say, the decisive first: where nothing is to be planned, the table's first line, what was
    made of the data, and the other lines as far as there is room."""
    first = [note for note in notes if NOTHING in note]
    others = " ".join(gathered([note for note in notes if note not in first]))
    head, *rest = table.lines or [""]
    lines = [*first, head, others, *rest]
    return replace(table, lines=few([str(line) for line in lines if line]))


def few(lines: Sequence[str]) -> list[str]:
    """The first `NOTES`, and that there are more."""
    cut = [line if len(line) <= LONGEST else f"{line[: line.rindex(' ', 0, LONGEST)]} ..." for line in lines[:NOTES]]
    whole = len(lines) <= NOTES and all(len(line) <= LONGEST for line in lines)
    return cut if whole else [*cut[:-1], cut[-1].rstrip(".") + MORE]


def with_matrix(rows: Sequence[ClientPlan]) -> bool:
    """Whether some client that has something to do has a matrix."""
    return any(plan.matrix is not None for row in to_be_planned(rows) for plan in row.constant())


def starts_there(row: ClientPlan) -> bool:
    """Whether the start is enough."""
    plan, _ = row.constant()
    return plan is not None and plan.iterations == 0


def to_be_planned(rows: Sequence[ClientPlan]) -> list[ClientPlan]:
    return [row for row in rows if not starts_there(row)]
