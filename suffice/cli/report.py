"""Tables for people: plans, theorems, verdicts, errata."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.text import Text

from bounds import Row, Theorem, latex
from bounds.describe import condition_names
from bounds.method_plan import MethodPlan
from bounds.paying import Paying

from ..advice import Measured, Plan
from ..stability import Stability
from ..verdicts import known
from .console import console, number, table

if TYPE_CHECKING:
    from verify import Verdict
    from verify.campaign import Campaign, Session

    from ..experiment import Experiment


def plan_table(plan: Plan, measured: Sequence[Measured] | None) -> None:
    """One line per client and precision; measured hitting times beside the predicted ones."""
    numeric = ["eps", "step", "alone <=", "together <=", "speed-up"]
    columns = ["client", "eps", "collaborates with", "rule", "step", "alone <=", "together <=", "speed-up"]
    if measured is not None:
        extra = ["measured alone", "measured together", "measured speed-up", "measured/predicted"]
        columns += extra
        numeric += extra
    made = table("Expected iterations to reach excess < eps", *columns, numeric=tuple(numeric))
    for at, row in enumerate(plan):
        cells = [
            row.name,
            number(row.epsilon),
            ", ".join(row.collaborators) or "nobody",
            _rule(row),
            number(row.schedules.hitting["eta"]),
            number(row.local.hitting["expected_iterations"], 4),
            number(row.schedules.hitting["expected_iterations"], 4),
            number(row.speedup),
        ]
        if measured is not None:
            entry = measured[at]
            cells += [
                _time(entry.alone, entry.alone_se, entry.alone_arrived),
                _time(entry.together, entry.together_se, entry.together_arrived),
                number(entry.alone / entry.together if entry.together else None),
                f"{number(entry.ratio_alone, 2)}, {number(entry.ratio_together, 2)}",
            ]
        made.add_row(*cells)
    out = console()
    out.print(made)
    out.print(
        "Predictions bound E[tau], tau = min{t: e_t < eps}: stopped guarantees, nothing is promised after tau.",
        highlight=False,
    )
    for warning, rows in _grouped(plan).items():
        where = "" if len(rows) == len(plan) else f" ({', '.join(rows)})"
        out.print(f"note: {warning}{where}", highlight=False)
    if measured is not None:
        out.print(
            f"Measured: mean (standard error) over {measured[0].seeds} seeds, exact similarities; "
            "a share in % where not every path arrived. Measured/predicted: alone, together.",
            highlight=False,
        )


def methods_table(plans: Sequence[MethodPlan], paying: Sequence[Paying]) -> None:
    """Every method for the whole network, the lower bound beneath; then where collaboration stops paying."""
    numeric = ("eps", "samples per client", "vectors")
    made = table(
        "The network: what each method costs until every client is served, and what it then promises",
        "method", "eps", "samples per client", "vectors", "controls", "theorem, or why it is refused",
        numeric=numeric,
    )  # fmt: skip
    told: set[tuple[str, str]] = set()
    for plan in plans:
        beneath = plan.method == "lower-bound"
        controls = plan.quantity.partition(", ")[0]
        if "excess_of_the_solution" in plan.settings:
            controls += f"; the clients' mean excess at x_i* is {number(plan.settings['excess_of_the_solution'])}"
        last = plan.theorem
        if plan.failure is not None:
            seen = (plan.method, plan.failure["reason"])
            last = f"refused: {plan.failure['reason']}" if seen in told else _refusal(plan)
            told.add(seen)
        sign = ">= " if beneath else ""
        made.add_row(
            Text("lower bound" if beneath else plan.method, style="dim" if not plan.applies else ""),
            number(plan.epsilon),
            f"{sign}{number(plan.samples_per_client, 4)}",
            number(plan.vectors, 4),
            controls,
            last,
        )
    out = console()
    out.print(made)
    promises = dict.fromkeys(f"{plan.method}: {plan.guarantee}" for plan in plans if plan.applies)
    for promise in promises:
        out.print(promise, highlight=False)
    one = [plan for plan in plans if plan.applies and plan.method != "lower-bound"]
    if len({plan.method for plan in plans} - {"lower-bound"}) == 1:
        for plan in one:
            out.print(f"{plan.method} at {plan.epsilon:.3g}: {_settings(plan)}", highlight=False)
    stops = [
        f"{entry.name} {'never pays' if entry.epsilon is None else f'{entry.epsilon:.3g}'}" for entry in paying[:12]
    ]
    more = f", {len(paying) - 12} more in --json" if len(paying) > 12 else ""
    out.print(
        f"Collaboration stops paying below these precisions (All-for-one): {', '.join(stops)}{more}.", highlight=False
    )


def _refusal(plan: MethodPlan) -> str:
    assert plan.failure is not None
    sides = [number(plan.failure[side]) if np.isfinite(plan.failure[side]) else "unknown" for side in ("lhs", "rhs")]
    return f"refused: {plan.failure['condition']} fails ({sides[0]} > {sides[1]}); {plan.failure['reason']}"


def _settings(plan: MethodPlan) -> str:
    """Numbers and short lists of a plan's settings."""
    parts = []
    for name, value in plan.to_dict()["settings"].items():
        if isinstance(value, float):
            parts.append(f"{name} {value:.6g}")
        elif isinstance(value, list) and value and all(isinstance(item, float) for item in value) and len(value) <= 12:
            parts.append(f"{name} {', '.join(f'{item:.4g}' for item in value)}")
        elif isinstance(value, str):
            parts.append(f"{name} {value}")
    return "; ".join(parts)


def stability_table(entries: Sequence[Stability], plan: Plan) -> None:
    """How often each planned peer is in the cluster when all rows are resampled."""
    made = table(
        f"Is the cluster stable? {entries[0].resamples} resamples of every client's rows",
        "client", "eps", "planned peers (share of resamples)", "others in half of them or more", "same cluster",
        numeric=("eps", "same cluster"),
    )  # fmt: skip
    names = plan.rows[0].names
    for entry in entries:
        peers = [f"{names[k]} ({100 * entry.share[k]:.0f} %)" for k in entry.cluster if k != entry.client]
        others = [f"{names[k]} ({100 * entry.share[k]:.0f} %)" for k in entry.missing]
        made.add_row(
            entry.name,
            number(entry.epsilon),
            ", ".join(peers) or "nobody",
            ", ".join(others) or "-",
            f"{100 * entry.same:.0f} %",
        )
    out = console()
    out.print(made)
    failed = f"; {entries[0].failed} more had no constants" if entries[0].failed else ""
    out.print(f"A resample adds the rows' noise once more: shares err towards instability{failed}.", highlight=False)


def _grouped(plan: Plan) -> dict[str, list[str]]:
    """Warnings with the rows that carry them, numbers in the last clause left to the JSON."""
    groups: dict[str, list[str]] = {}
    for row in plan:
        for warning in row.warnings:
            text = warning if warning in row.notes else warning.partition(",")[0].partition(" (")[0]
            groups.setdefault(text, []).append(f"{row.name} at {row.epsilon:.3g}")
    return groups


def _rule(row: Row) -> str:
    threshold = getattr(row.criterion, "threshold", None)
    return row.criterion.kind if threshold is None else f"r >= {threshold:.3g}"


def _time(mean: float, error: float, arrived: float) -> str:
    text = f"{number(mean)} ({number(error, 2)})"
    return text if arrived == 1 else f"{text} {100 * arrived:.0f} %"


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
        refuted = f"{verdict.mutants - len(verdict.survivors)}/{verdict.mutants}" if verdict.mutants else "-"
        ratio = f"{verdict.worst_ratio:.4g}" if verdict.instances else "-"
        made.add_row(
            verdict.theorem.key,
            verdict.theorem.edition,
            Text(verdict.outcome.value, style="green" if good else "red"),
            f"{verdict.instances:,}",
            ratio,
            refuted,
            verdict.engine,
            f"{verdict.seconds:.1f}",
        )
    out = console()
    out.print(made, highlight=False)
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
