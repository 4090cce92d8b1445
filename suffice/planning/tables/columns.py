"""One list of columns serves tables and files of plans: each is a field of a row or of one of its plans."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice.support.files import make_folder, write_whole
from suffice.support.tables import Column, number
from suffice.support.text import csv_text

from ..client_plan import KINDS, ClientPlan, Kind
from ..constant_plan import ConstantPlan

if TYPE_CHECKING:  # a plan of constants is shown without torch
    from ..simulated import Measured

NOTHING = "nothing to plan"
PEERS = 12
"""Characters up to which a list of peers is shown; a longer one is counted."""
STAGES = ("no step", "one step", "two stages")
"""Words for fixed weights, by the number of their stages."""
METHODS: dict[Kind, tuple[str, str]] = {
    "measured": ("measured", "measured, alone"),
    "exact": ("exact", "exact, alone"),
    "guaranteed": ("all-for-one", "local"),
}
"""Names of the plans of each kind, with peers and alone, in files."""
PROMISES: dict[Kind, str] = {
    "measured": "first t with a mean excess <= epsilon over {plan.seeds} simulated paths",
    "exact": "first T with E[e_T] <= epsilon, exact",
    "guaranteed": "{plan.promise}",
}
ON_SCREEN: dict[Kind, tuple[str, ...]] = {
    "exact": ("client", "eps", "peers", "step", "alone", "together", "speed-up", "then"),
    "measured": ("client", "eps", "peers", "step", "alone", "together", "speed-up"),
    "guaranteed": ("client", "eps", "peers", "rule", "limit", "step", "alone <=", "together <=", "speed-up"),
}
IN_FILES = (
    "epsilon", "method", "client", "collaborators", "step size", "iterations <=", "speed-up", "theorem", "promise",
    "refused because", "measured", "measured/predicted", "iterations, low", "iterations, high",
)  # fmt: skip


def columns(kind: Kind, *, alone: bool | None = None, run: Any = None) -> dict[str, Column]:
    """The columns of plans of a kind by their heads. In files a line is of one plan, that with peers or that `alone`;
    `run`, a `SimulatedPlan`, holds the results of its simulated paths."""
    screen, promised = alone is None, kind == "guaranteed"
    sign, digits = (" <=", 4) if promised else ("", 3)

    def plan(row: ClientPlan) -> Any:
        return row.both(kind)[bool(alone)]

    found = [
        Column("client", lambda row: row.name, numeric=False),
        Column("eps", lambda row: row.epsilon),
        Column("peers", lambda row: _with(row, kind), numeric=False),
        Column("rule", lambda row: _rule(row), numeric=False, optional=True),
        Column("limit", lambda row: None if row.schedules.fixed else row.step_limit, optional=True),
        Column("step", lambda row: plan(row).eta if promised or plan(row).eta else None),
        Column("alone" + sign, lambda row: _time(row.both(kind)[1]), digits=digits),
        Column("together" + sign, lambda row: _time(row.both(kind)[0]), digits=digits),
        Column("speed-up", lambda row: _gain(row, kind, screen) if not alone else "", unit="1"),
        Column("then", lambda row: {None: "-", True: "go on", False: "stop"}[row.exact.holds], numeric=False),
        Column("epsilon", lambda row: row.epsilon, unit="loss"),
        Column("method", lambda row: METHODS[kind][bool(alone)]),
        Column("collaborators", lambda row: "; ".join(() if alone else row.peers(kind))),
        Column("step size", lambda row: plan(row).eta, unit="theta^2/loss"),
        Column("iterations <=", lambda row: plan(row).iterations, unit="1"),
        Column("theorem", lambda row: plan(row).theorem if promised else ""),
        Column("promise", lambda row: PROMISES[kind].format(plan=plan(row))),
        Column("refused because", lambda row: "" if promised else plan(row).note),
        Column("measured", lambda row: run and run.time, unit="1"),
        Column("measured/predicted", lambda row: run and run.ratio, unit="1"),
        Column("iterations, low", lambda row: None if promised else plan(row).between[0], unit="1"),
        Column("iterations, high", lambda row: None if promised else plan(row).between[1], unit="1"),
    ]
    return {column.head: column for column in found}


def write_csv(path: Path, rows: Sequence[ClientPlan], *, measured: Sequence[Measured] | None = None) -> Path:
    """A line for each plan of the rows, those of constants last: together, then alone.

    Measured numbers are mean hitting times. Low and high are those of measured plans, two standard errors away.
    """
    lines: list[list[Any]] = []
    for row, entry in zip(rows, measured or [None] * len(rows)):
        for kind in KINDS:
            last = kind == "guaranteed" or (kind == "exact" and row.schedules is None)
            for how, plan in zip(("together", "alone"), row.both(kind)):
                if plan is not None:
                    known = columns(kind, alone=how == "alone", run=getattr(entry, how) if entry and last else None)
                    lines.append([known[name].get(row) for name in IN_FILES])
    heads = [columns("exact")[name].name for name in IN_FILES]
    make_folder(path.parent, "csv")
    return write_whole(path, csv_text([heads, *lines]).encode())


def _gain(row: ClientPlan, kind: Kind, screen: bool) -> float | None:
    return None if screen and kind != "guaranteed" and row.starts_there else row.gain(kind)


def _with(row: ClientPlan, kind: Kind) -> str:
    peers = row.peers(kind)
    names = ", ".join(peers) or (NOTHING if kind != "guaranteed" and row.starts_there else "nobody")
    return names if len(names) <= PEERS or not peers else f"{len(peers)} of {len(row.names) - 1}"


def _time(plan: Any) -> str | float | None:
    """T; of a measured plan with its interval, or what is known instead."""
    if not isinstance(plan, ConstantPlan) or plan.model is None:
        return plan.iterations
    if plan.iterations is None:
        return f"- (model {number(plan.model.iterations)})"
    return f"{plan.iterations} ({'-'.join('?' if end is None else str(end) for end in plan.between)})"


def _rule(row: ClientPlan) -> str:
    assert row.schedules is not None
    if row.schedules.fixed is not None:
        return STAGES[len(row.schedules.fixed["stages"])]
    threshold = getattr(row.criterion, "threshold", None)
    return row.criterion.kind if threshold is None else f"r >= {threshold:.3g}"
