"""Tables of plans: exact, measured, guaranteed, in stages; collaboration matrices and schedules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from suffice.support.tables import GAP, WIDE, Column, Table, gathered, number, screen_width, shortened

from ..number import Kind, Number
from ..plan_row import Row
from ..schedules import Schedules
from .notes import NOTHING, busy, few, idle, noted, over_known, worth

MOST_COLUMNS = 12
"""Clients up to which the collaboration matrix is printed."""
MOST_ROWS = 20
"""Clients up to which each has its line."""
NO_EXACT_PLAN = "no exact plan"
NAME, PEERS = 14, 14
"""Characters of a client's name, and of its list of peers."""
MATRIX = (
    "The step is for averaged gradients multiplied by the client's matrix, "
    "which is in `matrices` of --json and in --out DIR"
)

TAU_BOUND = (
    "Predictions bound E[tau], where tau = min{t: e_t < eps}. They hold up to tau; nothing is guaranteed after it."
)
STAGES = ("no step", "one step", "two stages")
"""Of fixed weights, by the number of stages."""
Precisions = Mapping[float | str, Sequence[Row]]

CLIENT = Column("client", lambda row: row.name, numeric=False)
EPSILON = Column("eps", lambda row: row.epsilon)
EXACT = (
    CLIENT,
    EPSILON,
    Column("with", lambda row: _peers(row), numeric=False),
    Column("step", lambda row: row.exact.eta if row.exact.iterations else None),
    Column("plain", lambda row: row.plain and row.plain.iterations),
    Column("alone", lambda row: row.exact_local.iterations),
    Column("together", lambda row: row.exact.iterations),
    Column("speed-up", lambda row: None if idle(row) else row.exact_speedup),
    Column(
        "E[tau] <=",
        lambda row: _hitting(row.exact.long_run.hitting),
        optional=True,
    ),
    Column("then", lambda row: _holds(row), numeric=False),
)
MEASURED = (
    CLIENT,
    EPSILON,
    Column("with", lambda row: _count(row, "measured") if row.peers("measured") else _nobody(row), numeric=False),
    Column("step", lambda row: row.measured.eta),
    Column("alone", lambda row: _between(row.measured_local.time, row.measured_local.model.time)),
    Column("together", lambda row: _between(row.measured.time, row.measured.model.time)),
    Column("speed-up", lambda row: None if idle(row) else row.measured_speedup),
)
GUARANTEED = (
    CLIENT,
    EPSILON,
    Column("with", lambda row: ", ".join(row.peers("guaranteed")) or "nobody", numeric=False),
    Column("rule", lambda row: _rule(row), numeric=False, optional=True),
    Column("limit", lambda row: None if row.schedules.fixed else row.sufficient.step_limit, optional=True),
    Column("step", lambda row: row.schedules.eta),
    Column("alone <=", lambda row: row.local.time.value, digits=4),
    Column("together <=", lambda row: row.schedules.time.value, digits=4),
    Column("speed-up", lambda row: row.guaranteed_speedup),
)
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
NOTEBOOK = (
    CLIENT,
    Column("precision", lambda row: row.epsilon, digits=4),
    Column("collaborates with", lambda row: ", ".join(row.collaborators) or "nobody", numeric=False),
    Column("step", lambda row: row.times()[1], digits=4),
    Column("alone", lambda row: row.times()[2], digits=4),
    Column("together", lambda row: row.times()[3], digits=4),
    Column("speed-up", lambda row: row.recommended_speedup),
)
SUMMARY = (
    Column("eps", lambda one: one[0]),
    Column("clients", lambda one: len(one[1])),
    Column("to plan", lambda one: len(busy(one[1]))),
    Column("with peers", lambda one: sum(bool(row.collaborators) for row in one[1])),
    Column("groups", lambda one: _groups(one[1]), optional=True),
    Column("plain", lambda one: _median(row.plain.iterations for row in busy(one[1]) if row.plain), digits=4),
    Column("alone", lambda one: _median(row.exact_local.iterations for row in busy(one[1])), digits=4),
    Column("together", lambda one: _median(row.exact.iterations for row in busy(one[1])), digits=4),
    Column("speed-up", lambda one: over_known(np.median, one[1])),
    Column("largest", lambda one: over_known(np.max, one[1])),
)
"""Of a precision and its rows: medians over those with something to plan."""


def exact_table(precisions: Precisions) -> Table:
    """Of the rows of one plan, all with exact plans; medians of many clients."""
    rows = [row for there in precisions.values() for row in there]
    notes: dict[str, list[str]] = {}
    for row in rows:
        if row.exact.note and not idle(row):
            notes.setdefault(row.exact.note, []).append(row.name)
    said = [noted(note) + ("" if len(names) == len(rows) else f" ({_some(names)})") for note, names in notes.items()]
    many = len(rows[0].names) > MOST_ROWS
    if many:
        said.insert(0, "The plan of every client is in --csv FILE and --json.")
    plain = any(row.plain and row.exact_local.matrix is not None for row in rows)
    columns = [one for one in (SUMMARY if many else EXACT) if one.head != "plain" or plain]
    reached = "to a mean excess of at most eps" if many else "until the mean excess is at most eps"
    return Table.of(
        columns,
        precisions.items() if many else rows,
        title=f"Exact plan{', medians over clients' if many else ''}: iterations {reached}",
        lines=[*worth(rows), *said],
        width=80,
    )


def measured_plan_table(precisions: Precisions) -> Table:
    """One line per client and precision; of many clients the first."""
    rows = [row for there in precisions.values() for row in there]
    shown = rows if len(rows[0].names) <= MOST_ROWS else rows[:MOST_ROWS]
    notes: dict[str, list[str]] = {}
    for row in rows:
        for note in () if idle(row) else dict.fromkeys(filter(None, (row.measured.note, row.measured_local.note))):
            notes.setdefault(note.partition(": ")[0], []).append(row.name)
    return Table.of(
        MEASURED,
        shown,
        title="Measured: iterations until the mean excess is at most eps",
        lines=[
            f"Iterations are means over {max(row.measured.seeds for row in rows)} simulated paths, neither exact nor "
            "guaranteed. In brackets: where the mean less, and plus, two standard errors falls to eps.",
            *(f"{noted(note)} ({_some(list(dict.fromkeys(names)), None)})" for note, names in notes.items()),
            *([f"{len(rows) - len(shown)} more rows are in --json."] if len(rows) > len(shown) else ()),
            *matrix_line(shown),
        ],
        width=80,
    )


def plan_table(
    rows: Sequence[Row],
    *,
    everybody: Sequence[dict[str, Any]] = (),
    said: Sequence[str] = (),
) -> Table:
    """What is guaranteed: one line per client and precision, the rows' warnings below, but for those `said` already.

    everybody  what All-for-all promises
    """
    notes = [
        noted(warning) + ("" if len(where) == len(rows) else f" ({', '.join(where)})")
        for warning, where in _grouped(rows).items()
        if warning not in said and not (rows[0].measured and warning.startswith(NO_EXACT_PLAN))
    ]
    refused, many = rows[0].refusal, len(rows[0].names) > MOST_ROWS
    known = [row for row in rows if row.schedules is not None]
    return Table.of(
        GUARANTEED,
        known[:MOST_ROWS] if many else known,
        title=f"{'Estimated' if refused else 'Guaranteed'}: expected iterations to reach excess < eps",
        lines=few([
            *([f"These numbers are not guaranteed: {refused}."] if refused else _promised(known)),
            *_everybody(everybody),
            *([f"{len(known) - MOST_ROWS} more rows are in --csv FILE and --json."] if many else ()),
            *notes,
        ]),
        width=80,
    )  # fmt: skip


def stages_table(rows: Sequence[Row]) -> Table:
    """Schedules of three stages that are faster than the constant plan: who drops out, and the own weight in each."""
    found = [row for row in rows if row.exact is not None and row.exact.stages]
    lines = [f"{len(found)} of {len(rows)} plans are faster in stages; the others keep constant rates."]
    if len(found) > MOST_ROWS:
        lines.append(f"{len(found) - MOST_ROWS} more plans are in --json.")
    title = "In three stages, fixed in advance: iterations, steps, the client's own weight"
    return Table.of(STAGED, found[:MOST_ROWS], title=title, lines=lines, width=80)


def schedules_table(rows: Sequence[Row]) -> Table:
    """The four schedules of every client, with what each promises, alone and together."""
    key = {name: "iterations_at_confidence" if name == "hitting" else "bound" for name in Schedules._fields[:4]}
    entries = [
        (row, name)
        for row in rows
        if row.schedules is not None
        for name in Schedules._fields[:4]
        if getattr(row.schedules, name)[key[name]] is not None or name not in ("horizon", "hitting")
    ]
    return Table.of(
        (
            Column("client", lambda one: one[0].name, numeric=False),
            Column("eps", lambda one: one[0].epsilon),
            Column("schedule", lambda one: one[1], numeric=False),
            Column("step", lambda one: _step(one[0].schedules, one[1]), numeric=False),
            Column("alone <=", lambda one: number(getattr(one[0].local, one[1])[key[one[1]]], 4)),
            Column("together <=", lambda one: number(getattr(one[0].schedules, one[1])[key[one[1]]], 4)),
        ),
        entries,
        title="Schedules: bounds of E[e_T 1{tau >= T}] at horizon T; for hitting, the iterations after which a path "
        "is still running with probability delta at most",
    )


def _step(schedules: Schedules, name: str) -> str:
    if name == "decreasing":
        return f"{number(schedules.decreasing['C'])}/(mu (t + {number(schedules.decreasing['gamma'])}))"
    return number(getattr(schedules, name)["eta"])


def notebook_table(rows: Sequence[Row], notes: Sequence[str]) -> Table:
    """What the plan recommends, in one table."""
    exact = "First iteration with a mean excess of at most the precision, exactly, on these rows"
    title = "Bounds on E[tau], the time to reach the precision" if rows[0].exact is None else exact
    return Table.of(NOTEBOOK, rows, title=title, lines=[*matrix_line(rows), *gathered(notes)])


def weights_tables(precisions: Precisions) -> list[Table]:
    """The collaboration matrix of each precision at which somebody collaborates, for few clients."""
    tables = []
    for epsilon, rows in precisions.items():
        names = rows[0].names
        if len(names) > MOST_COLUMNS or not any(row.collaborators for row in rows):
            continue
        weights = [row.followed if row.exact is None else row.exact.weights for row in rows]
        wide = screen_width("".join(names)) + max(map(screen_width, names)) + GAP * (len(names) + 1) + 4 > WIDE
        heads = [str(k + 1) for k in range(len(names))] if wide else names
        kind = f"of the {'guaranteed' if rows[0].exact is None else 'exact'} plan"
        tables.append(
            Table(
                title=f"Collaboration matrix at {epsilon if isinstance(epsilon, str) else f'{epsilon:.3g}'}: weights "
                f"{kind}, row by row",
                columns=("client", *heads, "sum"),
                numeric=(*heads, "sum"),
                rows=[
                    (
                        f"{row.client + 1} {row.name}" if wide else row.name,
                        *(number(weight.item(), 2) if weight else "." for weight in mine),
                        number(mine.sum().item()),
                    )
                    for row, mine in zip(rows, weights)
                ],
                lines=["All digits: --json."],
            )
        )
    return tables


def matrix_line(rows: Sequence[Row]) -> list[str]:
    """That the step goes with a matrix, where it does."""
    plans = {row.name: row.exact or (row.measured and row.measured.model) for row in rows}
    found = [name for name, plan in plans.items() if plan is not None and plan.matrix is not None]
    who = "" if len(found) == len(plans) else f" ({_some(found)})"
    return [f"{MATRIX}{who}."] if found else []


def _nobody(row: Row) -> str:
    return NOTHING if idle(row) else "nobody"


def _median(iterations: Iterable[int | None]) -> float:
    known = [np.inf if steps is None else steps for steps in iterations]
    return float(np.median(known)) if known else float("nan")


def _groups(rows: Sequence[Row]) -> int:
    """Sets of clients that are linked by following one another, single clients included."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    follows = np.array([row.exact.weights > 0 for row in rows])
    return int(connected_components(csr_matrix(follows), directed=False)[0])


def _hitting(bound: dict[str, float] | None) -> float | None:
    return None if bound is None else bound["expected_iterations"]


def _holds(row: Row) -> str:
    holds = row.exact.long_run.holds
    return "-" if holds is None else "keep" if holds else "stop"


def _gone(row: Row) -> str:
    """The peers that drop out."""
    *before, last = (set(np.flatnonzero(stage.weights).tolist()) for stage in row.exact.stages)
    gone = sorted(set[int]().union(*before) - last - {row.client})
    names = ", ".join(row.names[k] for k in gone)
    return "nobody" if not gone else names if len(names) <= PEERS - 5 else f"{len(gone)} of {len(row.names) - 1}"


def _peers(row: Row) -> str:
    text = ", ".join(row.collaborators)
    return _nobody(row) if not text else text if len(text) <= PEERS else _count(row, "exact")


def _count(row: Row, kind: Kind) -> str:
    return f"{len(row.peers(kind))} of {len(row.names) - 1}"


def _between(time: Number, model: Number) -> str:
    """T with its interval, or what is known instead."""
    if time.value is None:
        return f"- (model {number(model.value)})"
    return f"{time.value} ({'-'.join('?' if end is None else str(end) for end in time.error)})"


def _some(names: Sequence[str], most: int | None = NAME) -> str:
    """The first six, of at most so many characters."""
    first = list(dict.fromkeys(names[:6]))
    return ", ".join(first if most is None else shortened(first, most)) + (", ..." if len(names) > 6 else "")


def _grouped(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Warnings with the rows that carry them, numbers in the last clause left to the JSON."""
    groups: dict[str, list[str]] = {}
    for row in rows:
        for warning in row.warnings:
            text = warning if warning in row.notes else warning.partition(",")[0].partition(" (")[0]
            text += _remedy(text)
            groups.setdefault(text, []).append(f"{row.name} at {row.epsilon:.3g}")
    return groups


def _remedy(note: str) -> str:
    """The option that a note leads to; empty where there is none."""
    if note.startswith("continuous weights promise fewer iterations"):
        return "; choose them by --criterion continuous"
    return ""


def _promised(rows: Sequence[Row]) -> list[str]:
    """What the rows promise, those of fixed weights with the theorem behind it."""
    plans = [one for row in rows for one in (row.schedules, row.local)]
    fixed = [one.fixed for one in plans if one.fixed is not None]
    stopped = [TAU_BOUND] if len(fixed) < len(plans) else []
    keys = dict.fromkeys((one["promise"], STAGES[len(one["stages"])], one["theorem"]) for one in fixed if one["stages"])
    return [*stopped, *(f"Fixed weights in {stages} promise at that T: {said} ({key})." for said, stages, key in keys)]


def _everybody(found: Sequence[dict[str, Any]]) -> list[str]:
    if not found:
        return []
    times = ", ".join(f"{one['rounds']} at {one['epsilon']:.3g}" for one in found)
    said = "; ".join(dict.fromkeys(f"{one['promise']} ({one['theorem']})" for one in found))
    return [f"With one gradient of each client a round, All-for-all promises after {times}: {said}."]


def _rule(row: Row) -> str:
    if row.schedules.fixed is not None:
        return STAGES[len(row.schedules.fixed["stages"])]
    threshold = getattr(row.sufficient.criterion, "threshold", None)
    return row.sufficient.criterion.kind if threshold is None else f"r >= {threshold:.3g}"
