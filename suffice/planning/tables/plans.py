"""Tables of plans: exact, measured, guaranteed, in stages; matrices, schedules, and what plans were tried by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.support.tables import GAP, WIDE, Column, Table, gathered, number, screen_width, shortened

from ..client_plan import ClientPlan, Kind
from ..step_size_schedules import Schedules
from .columns import NOTHING, ON_SCREEN, PEERS, STAGES, columns

if TYPE_CHECKING:  # a plan of constants is shown without torch
    from ..simulated import Measured, SimulatedPlan

NOTES, LONGEST = 3, 320
"""A table has at most so many notes, of so many characters each; all are in --json."""
MOST_ROWS = 20
"""Clients up to which each has its line."""
WITHOUT = "Iterations are exact means with gradients as they are, without any matrix."
MATRIX = "Multiply the averaged gradient by the client's matrix, which is in `matrices` of --json and in --out DIR."
MORE = ". More notes are in --json."
MOST_COLUMNS = 12
"""Clients up to which the collaboration matrix is printed."""
WHERE = "Who learns from whom, by name and weight, is in weights.csv of --out DIR and in --json."
NO_EXACT_PLAN = "no exact plan"
NAME = 14
"""Characters of a client's name in a note."""
TAU_BOUND = (
    "Predictions bound E[tau], where tau = min{t: e_t < eps}. They hold up to tau; nothing is guaranteed after it."
)
Precisions = Mapping[float | str, Sequence[ClientPlan]]

CLIENT = Column("client", lambda entry: entry.name, numeric=False)
EPSILON = Column("eps", lambda entry: entry.epsilon)
STAGED = (
    CLIENT,
    EPSILON,
    Column("constant", lambda row: row.exact.iterations),
    Column(
        "stages",
        lambda row: f"{row.exact.scheduled} = " + "+".join(str(stage.iterations) for stage in row.exact.stages),
        numeric=False,
    ),
    Column("steps", lambda row: " ".join(number(stage.eta, 2) for stage in row.exact.stages), numeric=False),
    Column(
        "own weight",
        lambda row: " ".join(f"{stage.weights[row.client]:.2f}" for stage in row.exact.stages),
        numeric=False,
    ),
    Column("drop out", lambda row: _gone(row), numeric=False),
)
HITTING = (
    CLIENT,
    EPSILON,
    Column("alone", lambda entry: _hitting(entry.alone)),
    Column("/bound", lambda entry: entry.alone.ratio, digits=2, optional=True),
    Column("together", lambda entry: _hitting(entry.together)),
    Column("/bound ", lambda entry: entry.together.ratio, digits=2, optional=True),
    Column("speed-up", lambda entry: entry.alone.time / entry.together.time if entry.together.time else None),
)
BREAK_EVEN = (
    Column("client", lambda one: one["name"], numeric=False),
    Column("help at eps", lambda one: one["helped"]),
    Column("no longer at", lambda one: one["stopped"]),
)


def sentence(text: str) -> list[Table]:
    """A table of nothing but a line of text; none without the text."""
    return [Table(columns=(), rows=(), lines=[text])] if text else []


def first_rows(
    columns: Sequence[Column], rows: Sequence[Any], clients: int, *, title: str, lines: Sequence[str]
) -> Table:
    """All rows, or the first ones where there are many clients."""
    shown = rows[:MOST_ROWS] if clients > MOST_ROWS else rows
    more = [f"{len(rows) - len(shown)} more rows are in --csv FILE and --json."] if len(shown) < len(rows) else []
    return Table.from_columns(columns, shown, title=title, lines=[*lines, *more], width=80)


def noted_table(table: Table, notes: Sequence[str]) -> Table:
    """The table with a plan's notes, the decisive lines first: where nothing is to be planned, the table's first line,
    the notes on what was made of the data, and the table's other lines as far as there is room."""
    first = [note for note in notes if NOTHING in note]
    others = " ".join(gathered([note for note in notes if note not in first]))
    head, *rest = table.lines or [""]
    lines = [*first, head, others, *rest]
    return replace(table, lines=few([str(line) for line in lines if line]))


def few(lines: Sequence[str]) -> list[str]:
    """The first `NOTES` lines, of about `LONGEST` characters at most; where anything is left out, the last says so."""
    cut = [line if len(line) <= LONGEST else f"{line[: line.rindex(' ', 0, LONGEST)]} ..." for line in lines[:NOTES]]
    whole = len(lines) <= NOTES and all(len(line) <= LONGEST for line in lines)
    return cut if whole else [*cut[:-1], cut[-1].rstrip(".") + MORE]


def constant_table(precisions: Precisions, kind: Kind) -> Table:
    """One line per client and precision, all with exact or measured plans; of many clients the first.

    Notes are of plans that have something to do, those of measured ones also of the clients alone.
    """
    rows = [row for there in precisions.values() for row in there]
    at_work = [row for row in rows if not row.starts_there]
    matrix = any(plan.matrix is not None for row in at_work for plan in row.constant())
    plans = [(row.name, row.both(kind)[: 2 if kind == "measured" else 1]) for row in at_work]
    said = [(who, dict.fromkeys(plan.note.partition(": ")[0] for plan in both)) for who, both in plans]
    notes = _noted([(note, who) for who, found in said for note in found if note], len(rows))
    if kind == "exact":
        title = "Exact plan: iterations until the mean excess is at most eps"
        lines = [f"Iterations are exact means. {MATRIX}" if matrix else WITHOUT, *notes]
    else:
        title = "Measured: iterations until the mean excess is at most eps"
        what = (
            f"Iterations are means over {max(row.measured.seeds for row in rows)} simulated paths, neither exact nor "
        )
        what += "guaranteed. In brackets: where the mean less, and plus, two standard errors falls to eps."
        lines = [what, *notes, *([MATRIX] if matrix else ())]
    return first_rows(_shown(kind), rows, len(rows[0].names), title=title, lines=lines)


def plan_table(rows: Sequence[ClientPlan], *, everybody: Sequence[dict] = (), said: Sequence[str] = ()) -> Table:
    """The guaranteed plans, one line per client and precision; below the rows' warnings, but for those `said` already.

    everybody  the promises of All-for-all
    """
    refused, known = rows[0].refusal, [row for row in rows if row.schedules is not None]
    lines = [f"These numbers are not guaranteed: {refused}."] if refused else _promised(known)
    if everybody:
        times = ", ".join(f"{one['rounds']} at {one['epsilon']:.3g}" for one in everybody)
        told = "; ".join(dict.fromkeys(f"{one['promise']} ({one['theorem']})" for one in everybody))
        lines.append(f"With one gradient of each client a round, All-for-all promises after {times}: {told}.")
    warned = [
        # numbers in the last clause are left to the JSON
        (text if text in row.notes else text.partition(",")[0].partition(" (")[0], f"{row.name} at {row.epsilon:.3g}")
        for row in rows
        for text in row.warnings
        if text not in said and not (row.measured and text.startswith(NO_EXACT_PLAN))
    ]
    lines += _noted(warned, len(rows))
    title = f"{'Estimated' if refused else 'Guaranteed'}: expected iterations to reach excess < eps"
    return first_rows(_shown("guaranteed"), known, len(rows[0].names), title=title, lines=few(lines))


def _shown(kind: Kind) -> list[Column]:
    return [columns(kind)[name] for name in ON_SCREEN[kind]]


def _noted(found: Iterable[tuple[str, str]], many: int) -> list[str]:
    """Every note once, with whose it is, the first six by short names, where it is not that of all `many` rows."""
    notes: dict[str, list[str]] = {}
    for note, who in found:
        notes.setdefault(note, []).append(who)
    lines = []
    for note, who in notes.items():
        shown = ", ".join(shortened(list(dict.fromkeys(who[:6])), NAME)) + ", ..." * (len(who) > 6)
        lines.append(f"Note: {note.removeprefix('Note: ')}" + f" ({shown})" * (len(who) < many))
    return lines


def stages_table(rows: Sequence[ClientPlan]) -> Table:
    """Schedules of three stages that are faster than the constant plan: who drops out, and the own weight in each."""
    found = [row for row in rows if row.exact is not None and row.exact.stages]
    lines = [f"{len(found)} of {len(rows)} plans are faster in stages; the others keep constant rates."]
    title = "In three stages, fixed in advance: iterations, steps, the client's own weight"
    return first_rows(STAGED, found, len(found), title=title, lines=lines)


def schedules_table(rows: Sequence[ClientPlan]) -> Table:
    """The four schedules of every client, with what each promises, alone and together."""

    def bound(plan: Any, name: str) -> float | None:
        return getattr(plan, name)["iterations_at_confidence" if name == "hitting" else "bound"]

    return Table.from_columns(
        (
            Column("client", lambda one: one[0].name, numeric=False),
            Column("eps", lambda one: one[0].epsilon),
            Column("schedule", lambda one: one[1], numeric=False),
            Column("step", lambda one: _step(one[0].schedules, one[1]), numeric=False),
            Column("alone <=", lambda one: number(bound(one[0].local, one[1]), 4)),
            Column("together <=", lambda one: number(bound(one[0].schedules, one[1]), 4)),
        ),
        [
            (row, name)
            for row in rows
            for name in Schedules._fields[:4]
            if row.schedules and (bound(row.schedules, name) is not None or name in ("constant", "decreasing"))
        ],
        title="Schedules: bounds of E[e_T 1{tau >= T}] at horizon T; for hitting, the iterations after which a path "
        "is still running with probability delta at most",
    )


def _step(schedules: Schedules, name: str) -> str:
    if name == "decreasing":
        return f"{number(schedules.decreasing['C'])}/(mu (t + {number(schedules.decreasing['gamma'])}))"
    return number(getattr(schedules, name)["eta"])


def weights_tables(precisions: Precisions) -> list[Table]:
    """The collaboration matrix of each precision at which somebody collaborates; of many clients where to find it."""
    tables = []
    for epsilon, rows in precisions.items():
        names = rows[0].names
        if not any(row.collaborators for row in rows):
            continue
        if len(names) > MOST_COLUMNS:
            return sentence(WHERE)
        wide = screen_width("".join(names)) + max(map(screen_width, names)) + GAP * (len(names) + 1) + 4 > WIDE
        heads = [str(k + 1) for k in range(len(names))] if wide else names
        cells = []
        for row in rows:
            mine = (row.followed if row.exact is None else row.exact.weights).tolist()
            shown = [number(weight, 2) if weight else "." for weight in mine]
            cells.append((f"{row.client + 1} {row.name}" if wide else row.name, *shown, number(sum(mine))))
        title = f"Collaboration matrix at {epsilon if isinstance(epsilon, str) else f'{epsilon:.3g}'}: weights of the "
        title += f"{'guaranteed' if rows[0].exact is None else 'exact'} plan, row by row"
        tables.append(Table(title=title, columns=("client", *heads, "sum"), numeric=(*heads, "sum"), rows=cells))
    return tables


def _gone(row: ClientPlan) -> str:
    """The peers that drop out."""
    *before, last = (set(np.flatnonzero(stage.weights).tolist()) for stage in row.exact.stages)
    gone = sorted(set[int]().union(*before) - last - {row.client})
    names = ", ".join(row.names[k] for k in gone)
    return "nobody" if not gone else names if len(names) <= PEERS - 5 else f"{len(gone)} of {len(row.names) - 1}"


def _promised(rows: Sequence[ClientPlan]) -> list[str]:
    """The promises of the rows, in lines: the bound up to tau, and fixed weights with the theorems behind them."""
    plans = [one for row in rows for one in (row.schedules, row.local)]
    fixed = [one.fixed for one in plans if one.fixed is not None]
    stopped = [TAU_BOUND] if len(fixed) < len(plans) else []
    keys = dict.fromkeys((one["promise"], STAGES[len(one["stages"])], one["theorem"]) for one in fixed if one["stages"])
    return [*stopped, *(f"Fixed weights in {stages} promise at that T: {said} ({key})." for said, stages, key in keys)]


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
    """A table of the smallest precision at which peers help each client; none for a plan at one precision."""
    if all(entry["helped"] is None for entry in entries):
        return sentence("Peers save no client an iteration at any of these precisions." if entries else "")
    title = "Break-even: the smallest of these precisions at which peers save an iteration"
    return [first_rows(BREAK_EVEN, entries, len(entries), title=title, lines=())]


def _hitting(plan: SimulatedPlan) -> str:
    text = f"{number(plan.time)} ({number(plan.time_se, 2)})"
    return text if plan.arrived == 1 else f"{text} {100 * (plan.arrived or 0):.0f} %"


def _over(plan: SimulatedPlan, whole: float | None) -> str:
    """The mean excess at the end of a plan, and its standard error, over another number."""
    if not whole or plan.excess is None or plan.excess_se is None:
        return "-"
    return f"{plan.excess / whole:.3f} ({number(plan.excess_se / whole, 2)})"
