"""Tables for people: simulations, theorems, verdicts, errata, campaigns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.text import Text

from bounds import Theorem, latex
from bounds.describe import condition_names

from ..verdicts import known
from .console import console, number, table

if TYPE_CHECKING:
    from verify import Verdict
    from verify.campaign import Campaign, Session

    from ..experiment import Experiment


MOST_CLIENTS, PER_TABLE = 10, 5
"""Clients that `simulate` shows, and how many of them side by side."""


def simulation_table(run: Experiment) -> None:
    """Mean excess over seeds per client at each grid point, with standard errors and costs."""
    trace, names = run.trace, run.problem.names
    mean, error = run.mean(), run.standard_error()
    error = np.where(error < 1e-12 * mean, 0, error)  # rounding of equal numbers
    title = f"{trace.algorithm}: mean excess over {len(trace.seeds)} seeds, step {run.eta:.3g}"
    out, shown = console(), min(len(names), MOST_CLIENTS)
    for begin in range(0, shown, PER_TABLE):
        some = range(begin, min(begin + PER_TABLE, shown))
        costs = ("oracle calls", "vectors sent") if some[-1] == shown - 1 else ()
        columns = ("iteration", *(f"{names[i]} (s.e.)" for i in some), *costs)
        made = table("" if begin else title, *columns, numeric=columns)
        for at, t in enumerate(trace.iterations):
            cells = [f"{number(mean[at, i].item())} ({number(error[at, i].item(), 2)})" for i in some]
            spent = (f"{trace.oracle_calls[at]:,.0f}", f"{trace.vectors_sent[at]:,.0f}") if costs else ()
            made.add_row(str(t), *cells, *spent)
        out.print(made, highlight=False)
    if shown < len(names):
        out.print(f"{len(names) - shown} more clients: see --json.", highlight=False)
    out.print(f"step {run.eta:.3g}: {run.step_from}", highlight=False, soft_wrap=True)
    for note in run.notes:
        out.print(f"note: {note}", highlight=False, soft_wrap=True)
    for warning in run.warnings:
        out.print(f"warning: {warning}", highlight=False, soft_wrap=True)


def theorem_row(record: Theorem) -> dict[str, Any]:
    """The row of `suffice theorem --json`."""
    return {
        "key": record.key,
        "edition": record.edition,
        "title": record.title,
        "source": str(record.source),
        "quantity": record.quantity.name,
        "direction": record.direction,
        "mode": record.mode,
        "conditions": condition_names(record),
        "latex": latex(record),
        "guarantee": record.guarantee,
        "order_only": record.order_only,
        "verdict": known().get((record.key, record.edition), {}).get("verdict"),
    }


def theorem_table(records: Sequence[Theorem]) -> None:
    verdicts = known()
    made = table("Theorems", "key", "edition", "bounds", "source", "verdict")
    for record in records:
        verdict = verdicts.get((record.key, record.edition), {}).get("verdict")
        made.add_row(
            record.key,
            record.edition,
            record.quantity.expression,
            record.source.locator,
            verdict or ("order only" if record.order_only else "-"),
        )
    out = console()
    out.print(made, highlight=False)
    out.print("Verdicts of the last kept verification; `suffice theorem KEY` shows a statement.", highlight=False)
    if any(record.order_only for record in records):
        out.print(
            "Order only: the statement gives no number to evaluate or check (hidden constants, a random right-hand "
            "side); its page says why.",
            highlight=False,
        )


def verdict_table(verdicts: Sequence[Verdict], left: Sequence[Theorem] = ()) -> None:
    """`left` are the records asked for that no claim checks."""
    numeric = ("instances", "worst ratio", "mutants", "seconds")
    made = table(
        "Verdicts", "claim", "edition", "verdict", "instances", "worst ratio", "mutants", "engine", "seconds",
        numeric=numeric,
    )  # fmt: skip
    for verdict in verdicts:
        good = verdict.expected
        refuted = f"{verdict.refuted}/{verdict.mutants}" if verdict.mutants else "-"
        ratio = f"{verdict.worst_ratio:.4g}" if verdict.instances else "-"
        made.add_row(
            verdict.theorem.key,
            verdict.theorem.edition,
            Text(verdict.outcome.value, style="yellow" if verdict.note else "green" if good else "red"),
            f"{verdict.instances:,}",
            ratio,
            refuted,
            verdict.engine,
            f"{verdict.seconds:.1f}",
        )
    out = console()
    out.print(made, highlight=False)
    for verdict in verdicts:
        if verdict.note:
            out.print(f"{verdict.theorem.key} is weak: {verdict.note}.", highlight=False, markup=False)
        elif verdict.survivors:
            out.print(f"{verdict.theorem.key}: not refuted: {'; '.join(verdict.survivors)}.", style="red", markup=False)
    if left:
        out.print(f"Not evaluated: {_left(left)}.", highlight=False, markup=False)
    sampled = [verdict.error_probability for verdict in verdicts if verdict.error_probability]
    if not sampled:
        return
    out.print(
        f"Probability of a false alarm in this run: at most {sum(sampled):.1g}, over {len(sampled)} sampled claims.",
        highlight=False,
    )


def _left(records: Sequence[Theorem]) -> str:
    """How many statements give no number, and which ones give one that nothing checks."""
    orders = [record for record in records if record.order_only]
    others = [f"{record.key} ({record.edition})" for record in records if not record.order_only]
    editions = {record.edition for record in orders}
    kind = f"{editions.pop()} " if len(editions) == 1 else ""
    count = f"{len(orders)} {kind}statement{'s' if len(orders) > 1 else ''} that give{'s' if len(orders) == 1 else ''} "
    parts = [f"{count}an order only"] if orders else []
    return "; ".join([*parts, *([f"no claim checks {', '.join(others)}"] if others else [])])


def campaign_table(campaign: Campaign, session: Session, rows: Sequence[dict[str, Any]]) -> None:
    """What a run of a campaign did, and the worst ratio of each claim so far."""
    out = console()
    if rows:
        numeric = ("instances", "worst ratio")
        made = table("Worst ratios", "claim", "edition", "instances", "worst ratio", numeric=numeric)
        for row in rows:
            worst = row["worst_ratio"]  # infinite where a bound is 0 or a threshold is missed: no dash
            made.add_row(row["key"], row["edition"], f"{row['instances']:,}", "-" if worst is None else f"{worst:.6g}")
        out.print(made, highlight=False)
    failed = f", {session.failed} failed" if session.failed else ""
    skipped = f", {session.skipped} left as failed earlier (--retry)" if session.skipped else ""
    out.print(
        f"{len(campaign.cells)} cells: {session.computed} computed, {session.found} found done{failed}{skipped}; "
        f"{session.seconds:.1f} s; results in {campaign.out}",
        highlight=False,
    )


def errata_table(rows: Sequence[dict[str, Any]]) -> None:
    made = table("Errata", "id", "where", "kind", "printed", "measured", "what holds", numeric=("printed", "measured"))
    for row in rows:
        made.add_row(
            row["id"], row["location"], row["kind"], number(row["printed"]), number(row["measured"]), row["truth"]
        )
    console().print(made, highlight=False)


def errata_page(row: dict[str, Any]) -> None:
    out = console()
    for name in ("id", "paper", "location", "kind", "claim", "truth"):
        out.print(f"{name:9s} {row[name]}", highlight=False)
    for name, value in row["inputs"].items():
        out.print(f"  {name} = {value}", highlight=False)
    out.print(f"printed   {row['printed']:.10g}\nmeasured  {row['measured']:.10g}", highlight=False)
