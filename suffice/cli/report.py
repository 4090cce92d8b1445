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


def simulation_table(run: Experiment) -> None:
    """Mean excess over seeds per client at each grid point, with standard errors and costs."""
    trace, names = run.trace, run.problem.names
    shown = min(len(names), 4)
    labels = [f"{name} (s.e.)" for name in names[:shown]]
    made = table(
        f"{trace.algorithm}: mean excess over {len(trace.seeds)} seeds, step {run.eta:.3g}",
        "iteration", *labels, "oracle calls", "vectors sent",
        numeric=("iteration", *labels, "oracle calls", "vectors sent"),
    )  # fmt: skip
    mean, error = trace.mean(), trace.standard_error()
    for at, t in enumerate(trace.iterations):
        error[at] = np.where(error[at] < 1e-12 * mean[at], 0, error[at])  # rounding of equal numbers
        cells = [f"{number(float(mean[at, i]))} ({number(float(error[at, i]), 2)})" for i in range(shown)]
        made.add_row(str(t), *cells, f"{trace.oracle_calls[at]:,.0f}", f"{trace.vectors_sent[at]:,.0f}")
    out = console()
    out.print(made, highlight=False)
    if shown < len(names):
        out.print(f"{len(names) - shown} more clients: see --json.", highlight=False)


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


def verdict_table(verdicts: Sequence[Verdict]) -> None:
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
    sampled = [verdict.error_probability for verdict in verdicts if verdict.error_probability]
    if not sampled:
        return
    out.print(
        f"Probability of a false alarm in this run: at most {sum(sampled):.1g}, over {len(sampled)} sampled claims.",
        highlight=False,
    )


def campaign_table(campaign: Campaign, session: Session, rows: Sequence[dict[str, Any]]) -> None:
    """What a run of a campaign did, and the worst ratio of each claim so far."""
    out = console()
    if rows:
        numeric = ("instances", "worst ratio")
        made = table("Worst ratios", "claim", "edition", "instances", "worst ratio", numeric=numeric)
        for row in rows:
            made.add_row(row["key"], row["edition"], f"{row['instances']:,}", number(row["worst_ratio"], 6))
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
