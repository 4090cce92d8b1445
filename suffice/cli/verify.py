"""The command `suffice verify`: check claims, and what came of it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from suffice.support.progress import progress
from suffice.support.tables import Cell, Table, times_text

from .app import Json, app
from .arguments import argument, option
from .console import print_json, run_next

if TYPE_CHECKING:
    from suffice.bounds import Theorem
    from suffice.verification import Verdict

MOST, REFUTED = "measured/bound", "wrong variants refuted"
"""The largest ratio seen, above 1 where a bound is exceeded; and how many made wrong on purpose the check finds."""


@app.command()
def verify(
    keys: Annotated[
        list[str] | None,
        argument(
            "Keys, papers (cobo) or patterns (cobo/*). Without any, everything is checked: in some 10 seconds, or "
            "a minute with full effort."
        ),
    ] = None,
    edition: Annotated[str, option("Edition: printed, corrected or all.")] = "all",
    effort: Annotated[str, option("Effort: quick, or full as for the saved verdicts.")] = "quick",
    root: Annotated[int, option("Root from which all random numbers are derived.")] = 0,
    write: Annotated[Path | None, option("Also add the verdicts to this JSON file, replacing earlier ones.")] = None,
    jobs: Annotated[
        int | None, option("Number of processes (default: all cores when many claims are checked).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check that theorems hold. The exit code is 1 if a corrected statement is violated, or if its test is too weak."""
    from suffice.bounds.saved_verdicts import write_verdicts
    from suffice.verification import unchecked
    from suffice.verification import verify as check

    if write is not None:
        write_verdicts(write, (), effort)  # what cannot be written is refused before minutes are spent
    with progress("checking claims") as bar:
        few = bool(keys) and all("/" in key and "*" not in key for key in keys or ())
        processes = jobs if jobs is not None else 1 if few else os.cpu_count() or 1
        verdicts = check(keys or (), edition=edition, effort=effort, root=root, jobs=processes, progress=bar)
    if as_json:
        print_json([verdict.to_dict() for verdict in verdicts])
    else:
        verdict_table(verdicts, unchecked(keys or (), edition=edition)).show()
        worst = max(verdicts, key=lambda verdict: verdict.worst_ratio if verdict.instances else 0.0, default=None)
        if worst is not None:
            run_next("what the worst of these says", "theorem", worst.theorem.key, "--edition", worst.theorem.edition)
    if write is not None:
        write_verdicts(write, verdicts, effort)
    if any(not verdict.expected for verdict in verdicts if verdict.theorem.guarantee):
        raise typer.Exit(1)


def answer(verdicts: Sequence[Verdict]) -> str:
    """The outcomes of all, in a sentence for each edition."""
    said = []
    for edition in ("corrected", "printed"):
        found = Counter(verdict.outcome.value for verdict in verdicts if verdict.theorem.edition == edition)
        counts = [f"{count} {_verb(outcome, count)}" for outcome, count in found.most_common()]
        many = "s" * (found.total() > 1)
        said += [f"Of {found.total()} {edition} statement{many} {', '.join(counts)}."] if counts else []
    return " ".join(said)


def _verb(outcome: str, count: int) -> str:
    return "hold" + "s" * (count == 1) if outcome == "holds" else f"{'is' if count == 1 else 'are'} {outcome}"


def verdict_table(verdicts: Sequence[Verdict], left: Sequence[Theorem] = ()) -> Table:
    """`left` are the records asked for that no claim checks."""
    weak = [verdict for verdict in verdicts if verdict.survivors]
    lines: list[Cell] = [(f"{one.theorem.key}: not refuted: {'; '.join(one.survivors)}.", "red") for one in weak]
    if left:
        lines.append(f"Not evaluated: {_left(left)}.")
    return Table(
        title=answer(verdicts),
        columns=("claim", "edition", "verdict", "instances", MOST, REFUTED, "engine", "seconds"),
        numeric=("instances", MOST, REFUTED, "seconds"),
        optional=(REFUTED, "instances", "seconds", "engine"),
        rows=[_row(verdict) for verdict in verdicts],
        lines=lines,
    )


def _row(verdict: Verdict) -> tuple[Cell, ...]:
    return (
        verdict.theorem.key,
        verdict.theorem.edition,
        (verdict.outcome.value, "green" if verdict.expected else "red"),
        f"{verdict.instances:,}",
        times_text(verdict.worst_ratio) if verdict.instances else "-",
        f"{verdict.refuted}/{verdict.mutants}" if verdict.mutants else "-",
        verdict.engine,
        f"{verdict.seconds:.1f}",
    )


def _left(records: Sequence[Theorem]) -> str:
    """How many statements give an order only, by edition, and which ones no claim checks."""
    orders = Counter(record.edition for record in records if record.order_only)
    others = [f"{record.key} ({record.edition})" for record in records if not record.order_only]
    counts = ", ".join(f"{count} {edition}" for edition, count in orders.items())
    parts = [f"order only ({counts})"] * bool(counts) + [f"no claim checks {', '.join(others)}"] * bool(others)
    return "; ".join(parts)
