"""Tables of a plan: clients, schedules, weights, what was measured, how sure it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from suffice.support.tables import GAP, WIDE, Table, number, screen_width

from ..guaranteed.break_even import BreakEven
from ..plan_row import Row

if TYPE_CHECKING:  # a plan of constants is shown without torch
    from ..bootstrap import Interval, Stability
    from ..simulated import Measured

MOST_COLUMNS = 12
"""Clients up to which the collaboration matrix is printed."""
MOST_ROWS = 20
"""Clients up to which each has its line."""


def noted(text: str) -> str:
    """A line of notes; those of the data begin with the word already."""
    return f"note: {text.removeprefix('Note: ')}"


MOST_LISTED = 12
"""Clients, or numbers of a setting, that one line lists."""


def plan_table(rows: Sequence[Row], *, estimable: bool = False) -> Table:
    """One line per client and precision, the rows' warnings below.

    estimable  the constants are certified, and estimated ones may be had
    """
    notes = [
        noted(warning) + ("" if len(where) == len(rows) else f" ({', '.join(where)})")
        for warning, where in _grouped(rows, estimable).items()
    ]
    refused, many = rows[0].refusal, len(rows[0].names) > MOST_ROWS
    known = [(row, row.schedules.hitting, row.local.hitting) for row in rows if row.schedules and row.local]
    return Table(
        title=f"{'Estimated' if refused else 'Guaranteed'}: expected iterations to reach excess < eps",
        columns=("client", "eps", "with", "rule", "limit", "step", "alone <=", "together <=", "speed-up"),
        numeric=("eps", "limit", "step", "alone <=", "together <=", "speed-up"),
        rows=[
            (
                row.name,
                number(row.epsilon),
                ", ".join(row.names[k] for k in row.cluster if k != row.client) or "nobody",
                _rule(row),
                number(row.step_limit),
                number(together["eta"]),
                number(alone["expected_iterations"], 4),
                number(together["expected_iterations"], 4),
                number(row.guaranteed_speedup),
            )
            for row, together, alone in (known[:MOST_ROWS] if many else known)
        ],
        optional=("rule", "limit"),
        lines=[
            f"Not guaranteed: {refused}." if refused else
            "Predictions bound E[tau], tau = min{t: e_t < eps}: guarantees up to tau, none after it.",
            *([f"{len(known) - MOST_ROWS} more rows: --csv FILE, or --json."] if many else ()),
            *notes,
        ],
        width=80,
    )  # fmt: skip


def measured_table(measured: Sequence[Measured]) -> Table:
    """Hitting times beside the predicted ones."""
    numeric = ("eps", "alone", "/bound", "together", "/bound ", "speed-up")
    partial = any(min(entry.alone_arrived, entry.together_arrived) < 1 for entry in measured)
    return Table(
        title=f"Measured over {measured[0].seeds} seeds: mean hitting time (standard error), over its bound",
        columns=("client", *numeric),
        numeric=numeric,
        rows=[
            (
                entry.name,
                number(entry.epsilon),
                _time(entry.alone, entry.alone_se, entry.alone_arrived),
                number(entry.ratio_alone, 2),
                _time(entry.together, entry.together_se, entry.together_arrived),
                number(entry.ratio_together, 2),
                number(entry.alone / entry.together if entry.together else None),
            )
            for entry in measured
        ],
        lines=["A share in %: not every path arrived, and the mean is over those that did."] if partial else (),
        width=80,
    )


def schedules_table(rows: Sequence[Row]) -> Table:
    """The four schedules of every client, with what each promises, alone and together."""
    cells = []
    for row in rows:
        if row.schedules is None:
            continue
        for name in ("constant", "horizon", "decreasing", "hitting"):
            mine, alone = getattr(row.schedules, name), getattr(row.local, name)
            key = "iterations_at_confidence" if name == "hitting" else "bound"
            if mine[key] is None and name in ("horizon", "hitting"):
                continue
            bounds = (number(part[key], 4) for part in (alone, mine))
            cells.append((row.name, number(row.epsilon), name, _step(name, mine), *bounds))
    return Table(
        title="Schedules: bounds of E[e_T 1{tau >= T}] at horizon T; hitting: iterations that leave at most delta "
        "running",
        columns=("client", "eps", "schedule", "step", "alone <=", "together <="),
        numeric=("eps", "alone <=", "together <="),
        rows=cells,
    )


def _step(name: str, schedule: dict[str, float | None]) -> str:
    if name == "decreasing":
        return f"{number(schedule['C'])}/(mu (t + {number(schedule['gamma'])}))"
    return number(schedule["eta"])


def weights_tables(precisions: Mapping[float | str, Sequence[Row]]) -> list[Table]:
    """The collaboration matrix of each precision at which somebody collaborates, for few clients."""
    tables = []
    for epsilon, rows in precisions.items():
        names = rows[0].names
        if len(names) > MOST_COLUMNS or not any(row.collaborators for row in rows):
            continue
        weights = [row.weights if row.exact is None else row.exact.weights for row in rows]
        wide = screen_width("".join(names)) + max(map(screen_width, names)) + GAP * (len(names) + 1) + 4 > WIDE
        heads = [str(k + 1) for k in range(len(names))] if wide else names
        kind = "that the guaranteed similarities give" if rows[0].exact is None else "of the exact plan"
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


def guaranteed_break_even_table(break_even: Sequence[BreakEven]) -> Table:
    """Lines that say below which precision peers do not make a client's guaranteed plan faster."""
    shown, more = break_even[:MOST_LISTED], len(break_even) - MOST_LISTED
    stops = [f"{entry.name} {'never' if entry.epsilon is None else f'{entry.epsilon:.3g}'}" for entry in shown]
    line = (
        f"Break-even precisions of the guaranteed plans (All-for-one), no gain below them: {', '.join(stops)}"
        f"{f', {more} more in --json' if more > 0 else ''}."
    )
    if all(entry.epsilon is None for entry in break_even):
        line = "Guaranteed plans (All-for-one): peers help no client at any precision below the initial excess."
    return Table(columns=(), rows=(), lines=[line] if break_even else [])


def stability_table(entries: Sequence[Stability], names: Sequence[str]) -> Table:
    """How often each planned peer is in the cluster when all rows are resampled; `names` are all clients'."""

    def peers(entry: Stability, chosen: Sequence[int]) -> str:
        return ", ".join(f"{names[k]} ({100 * entry.share[k]:.0f} %)" for k in chosen if k != entry.client)

    failed = f"; {entries[0].failed} more had no constants" if entries[0].failed else ""
    return Table(
        title=f"Is the cluster stable? {entries[0].resamples} resamples of every client's rows",
        columns=(
            "client", "eps", "planned peers (share of resamples)", "others in half or more", "same cluster",
            "together <=", "alone <=", "speed-up",
        ),
        numeric=("eps", "same cluster"),
        rows=[
            (
                entry.name,
                number(entry.epsilon),
                peers(entry, entry.cluster) or "nobody",
                peers(entry, entry.missing) or "-",
                f"{100 * entry.same:.0f} %",
                _between(entry.iterations),
                _between(entry.local_iterations),
                _between(entry.speedup),
            )
            for entry in entries
        ],
        lines=[
            "Iterations and speed-ups: the middle 95 % of the resamples' plans. Resampling adds "
            f"noise, so the shares overstate instability{failed}."
        ],
    )  # fmt: skip


def _between(ends: Interval | None) -> str:
    return "-" if ends is None else f"{number(ends[0])} to {number(ends[1])}"


def _grouped(rows: Sequence[Row], estimable: bool) -> dict[str, list[str]]:
    """Warnings with the rows that carry them, numbers in the last clause left to the JSON."""
    groups: dict[str, list[str]] = {}
    for row in rows:
        for warning in row.warnings:
            text = warning if warning in row.notes else warning.partition(",")[0].partition(" (")[0]
            text += _remedy(text, estimable and len(row.names) > 1)  # a single client has no pairs
            groups.setdefault(text, []).append(f"{row.name} at {row.epsilon:.3g}")
    return groups


def _remedy(note: str, estimable: bool) -> str:
    """The option that a note leads to; empty where there is none."""
    if note.startswith("continuous weights promise fewer iterations"):
        return ": --criterion continuous"
    if estimable and note.startswith("0 of ") and "pairs are similar by these constants" in note:
        return "; sampled ones may admit some: suffice plan --certainty estimated"
    return ""


def _rule(row: Row) -> str:
    threshold = getattr(row.criterion, "threshold", None)
    return row.criterion.kind if threshold is None else f"r >= {threshold:.3g}"


def _time(mean: float, error: float, arrived: float) -> str:
    text = f"{number(mean)} ({number(error, 2)})"
    return text if arrived == 1 else f"{text} {100 * arrived:.0f} %"
