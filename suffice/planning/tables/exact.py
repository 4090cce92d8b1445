"""Tables of exact plans: one line per client, or a summary where there are many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from suffice.support.tables import Table, number, shortened

from ..exact.break_even import ExactBreakEven
from ..plan_row import Row
from .guaranteed import MOST_ROWS, noted

if TYPE_CHECKING:
    from ..simulated import Measured

NAME, PEERS = 14, 20
"""Characters of a client's name, and of its list of peers."""
QUESTION = (
    "alone, together: iterations, the first T with E[e_T] <= eps, exact for rows drawn with replacement; speed-up: "
    "their ratio. For predictions on new rows see suffice fit."
)
MATRIX = (
    "step: not for plain gradients: they are first multiplied by the client's matrix ({matrix}, or `matrix` "
    "in --json){who}."
)
TAU = "E[tau] <=: bound on the mean time of a single run until e < eps, at a step of its own (`hitting` in --json)."
STOP = "stop: E[e_t] rises above eps again if the step is kept up after T; keep: it stays below."


def exact_table(precisions: Mapping[float | str, Sequence[Row]]) -> Table:
    """Of the rows of one plan, all with exact plans."""
    rows = [row for there in precisions.values() for row in there]
    if len(rows[0].names) > MOST_ROWS:
        return _summary(precisions)
    numeric = ("eps", "step", "alone", "together", "speed-up", "E[tau] <=")
    tau = [TAU] if any(row.exact is not None and row.exact.hitting is not None for row in rows) else []
    stop = [STOP] if any(_holds(row) == "stop" for row in rows) else []
    return Table(
        title="Exact plan: iterations until the mean excess is at most eps",
        columns=("client", "eps", "with", "step", "alone", "together", "speed-up", "E[tau] <=", "then"),
        numeric=numeric,
        rows=[_line(row) for row in rows],
        optional=("E[tau] <=",),
        lines=[QUESTION, *matrix_line(rows), *tau, *stop, *_notes(rows)],
        width=80,
    )


def matrix_line(rows: Sequence[Row]) -> list[str]:
    """That the step goes with a matrix, where it does."""
    kind = "exact" if rows[0].exact is not None else "measured.model"
    models = {row.name: None if row.measured is None else row.measured.model for row in rows}
    plans = {row.name: models[row.name] if row.exact is None else row.exact for row in rows}
    found = [name for name, plan in plans.items() if plan is not None and plan.matrix is not None]
    if not found:
        return []
    row = f"plan[{found[0]!r}]{'[0]' if len(rows) > len(plans) else ''}"  # several precisions have several rows
    who = "" if len(found) == len(plans) else f"; here: {_some(found)}"
    return [MATRIX.format(matrix=f"{row}.{kind}.matrix", who=who)]


def _line(row: Row) -> tuple[str, ...]:
    assert row.exact is not None
    assert row.exact_local is not None
    bound = None if row.exact.hitting is None else row.exact.hitting["expected_iterations"]
    return (
        row.name,
        number(row.epsilon),
        _peers(row),
        number(row.exact.eta if row.exact.iterations else None),
        _count(row.exact_local.iterations),
        _count(row.exact.iterations),
        number(row.exact_speedup),
        number(bound),
        _holds(row),
    )


def _summary(precisions: Mapping[float | str, Sequence[Row]]) -> Table:
    """How many collaborate, in how many groups, and what it gains."""
    cells = []
    for key, rows in precisions.items():
        alone, together = (
            np.array([np.inf if one is None or one.iterations is None else one.iterations for one in plans])
            for plans in ([row.exact_local for row in rows], [row.exact for row in rows])
        )
        gains = np.array([row.exact_speedup or np.nan for row in rows])
        known = gains[np.isfinite(gains)]
        cells.append(
            (
                key if isinstance(key, str) else number(key),
                str(len(rows)),
                str(sum(bool(row.collaborators) for row in rows)),
                str(_groups(rows)),
                number(float(np.median(alone)), 4),
                number(float(np.median(together)), 4),
                number(float(np.median(known)) if known.size else None),
                number(float(known.max()) if known.size else None),
            )
        )
    columns = ("eps", "clients", "with peers", "groups", "alone", "together", "speed-up", "largest")
    rows = [row for there in precisions.values() for row in there]
    return Table(
        title="Exact plan, medians over clients: iterations to a mean excess of at most eps",
        columns=columns,
        numeric=columns,
        rows=cells,
        lines=[QUESTION, *matrix_line(rows), *_notes(rows), "Every client's plan: --csv FILE, or --json."],
        width=80,
    )


def stages_table(rows: Sequence[Row]) -> Table:
    """Schedules of three stages that are faster than the constant plan: who drops out, and the own weight in each."""
    found = [row for row in rows if row.exact is not None and row.exact.stages]
    lines = [f"{len(found)} of {len(rows)} plans are faster in stages; the others keep constant rates."]
    if len(found) > MOST_ROWS:
        lines.append(f"{len(found) - MOST_ROWS} more: --json.")
    return Table(
        title="In three stages, fixed in advance: iterations, steps, the client's own weight",
        columns=("client", "eps", "constant", "stages", "steps", "own weight", "drop out"),
        numeric=("eps", "constant"),
        rows=[_staged(row) for row in found[:MOST_ROWS]],
        lines=lines,
        width=80,
    )


def _staged(row: Row) -> tuple[str, ...]:
    assert row.exact is not None
    stages = row.exact.stages
    follows = [set(np.flatnonzero(stage.weights).tolist()) for stage in stages]
    gone = sorted(set[int]().union(*follows[:-1]) - follows[-1] - {row.client})
    names = ", ".join(row.names[k] for k in gone)
    return (
        row.name,
        number(row.epsilon),
        _count(row.exact.iterations),
        f"{row.exact.scheduled} = " + "+".join(str(stage.iterations) for stage in stages),
        " ".join(number(stage.eta, 2) for stage in stages),
        " ".join(f"{stage.weights[row.client]:.2f}" for stage in stages),
        "nobody" if not gone else names if len(names) <= PEERS - 5 else f"{len(gone)} of {len(row.names) - 1}",
    )


def break_even_table(entries: Sequence[ExactBreakEven]) -> Table:
    """Down to which precision peers help each client; no line of more clients than fit."""
    lines = ["Precisions are halved from half of the start on; peers help where they save an iteration and 2 %."]
    lines.append("2 x batch: iterations at the plan's precision if a gradient averaged twice as many rows.")
    lines.append("For the effect of more rows see suffice fit.")
    if len(entries) > MOST_ROWS:
        lines.append(f"{len(entries) - MOST_ROWS} more: --json.")
    return Table(
        title="Break-even: precisions at which peers help, and the effect of a larger batch",
        columns=("client", "help at eps", "no longer at", "smallest tried", "iterations", "2 x batch"),
        numeric=("help at eps", "no longer at", "smallest tried", "iterations", "2 x batch"),
        rows=[
            (
                one.name, number(one.helped), number(one.stopped), number(one.tried),
                _count(one.iterations), _count(one.doubled),
            )
            for one in entries[:MOST_ROWS]
        ],
        lines=lines,
        width=80,
    )  # fmt: skip


def _groups(rows: Sequence[Row]) -> int:
    """Sets of clients that are linked by following one another, single clients included."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    follows = np.array([np.zeros(len(rows)) if row.exact is None else row.exact.weights > 0 for row in rows])
    return int(connected_components(csr_matrix(follows), directed=False)[0])


def exact_measured_table(measured: Sequence[Measured]) -> Table:
    """What is exact, guaranteed and measured side by side, with peers; the last line is about both, alone too."""
    many = len({entry.client for entry in measured}) > MOST_ROWS
    numeric = ("eps", "T", "exact", "measured/exact", "E[tau] <=", "E[tau]")
    lines = ["E[tau]: at the step for which the bound beside it is guaranteed, often a smaller one than the plan's."]
    for how in ("alone", "together", "scheduled"):
        ratios = [ratio for entry in measured if (ratio := entry.plans[how].excess_ratio) is not None]
        if ratios:
            lines.append(
                f"Mean excess at T, measured/exact, {how}: {min(ratios):.3f} to {max(ratios):.3f}, "
                f"median {np.median(ratios):.3f}."
            )
    if many:
        lines.append(f"{len(measured) - MOST_ROWS} more: --csv FILE, or --json.")
    return Table(
        title=f"With peers, {measured[0].seeds} seeds (standard error): mean excess at T, and hitting time",
        columns=("client", *numeric),
        numeric=numeric,
        rows=[_three_numbers(entry) for entry in (measured[:MOST_ROWS] if many else measured)],
        lines=lines,
        width=80,
    )


def _three_numbers(entry: Measured) -> tuple[str, ...]:
    plan = entry.plans["together"]
    exact, error, ratio = plan.exact, plan.excess_se, plan.excess_ratio
    quotient = "-" if not exact or error is None or ratio is None else f"{ratio:.3f} ({number(error / exact, 2)})"
    return (
        entry.name,
        number(entry.epsilon),
        _count(plan.iterations),
        number(exact),
        quotient,
        number(plan.predicted),
        f"{number(plan.time)} ({number(plan.time_se, 2)})",
    )


def _holds(row: Row) -> str:
    return "-" if row.exact is None or row.exact.holds is None else "keep" if row.exact.holds else "stop"


def _count(iterations: int | None) -> str:
    return "-" if iterations is None else f"{iterations}"


def _peers(row: Row) -> str:
    text = ", ".join(row.collaborators)
    return "nobody" if not text else text if len(text) <= PEERS else f"{len(row.collaborators)} of {len(row.names) - 1}"


def _notes(rows: Sequence[Row]) -> list[str]:
    """Why something is missing, once each with the clients that it is about."""
    groups: dict[str, list[str]] = {}
    for row in rows:
        told = [row.exact.note] if row.exact is not None and row.exact.note else []
        if row.exact is not None and row.exact.iterations and row.exact.hitting is None:
            told.append(
                "no bound on E[tau], the time of single runs, was found; the mean iterations are exact all the same"
            )
        if row.refusal:
            told.append(f"exact, but without the guarantees of the papers' theorems (suffice theorem): {row.refusal}")
        for note in told:
            groups.setdefault(note, []).append(row.name)
    return [noted(note) + ("" if len(names) == len(rows) else f" ({_some(names)})") for note, names in groups.items()]


def _some(names: Sequence[str]) -> str:
    first = list(dict.fromkeys(names[:6]))
    return ", ".join(shortened(first, NAME)) + (", ..." if len(names) > 6 else "")
