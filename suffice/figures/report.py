"""One self-contained HTML page of verdicts: a table, and for every claim measured against bound."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from suffice.bounds import write_whole
from suffice.verification import Outcome, Verdict

from .style import BLUE, VERMILION, style

_COLOURS = {
    Outcome.HOLDS: "#1a7f37",
    Outcome.WEAK: "#9a6700",
    Outcome.VIOLATED: "#cf222e",
    Outcome.VACUOUS: "#6e40c9",
}
_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Verdicts</title><style>
body {{ font: 15px/1.45 system-ui, sans-serif; max-width: 1100px; margin: 2em auto; padding: 0 1em; color: #1f2328 }}
table {{ border-collapse: collapse; width: 100%; font-size: 13px }}
th, td {{ text-align: left; padding: 3px 10px 3px 0; border-bottom: 1px solid #d8dee4 }}
td.number {{ text-align: right; font-variant-numeric: tabular-nums }}
section {{ display: flex; gap: 2em; border-top: 1px solid #d8dee4; padding: 1.2em 0 }}
section > div {{ flex: 1 }} h2 {{ font-size: 16px; margin: 0 }} svg {{ width: 320px; height: auto }}
code {{ font-size: 13px }} .verdict {{ font-weight: 600 }}
</style></head><body>
<h1>Verdicts</h1>
<p>{count} claims: {summary}. In each picture a point is an instance that met the hypotheses and the
line is measured = bound.
An upper bound holds when no point lies above the line, a lower bound when none lies below. "Holds" is evidence from
the engines named, not a proof.</p>
<table><tr><th>claim</th><th>edition</th><th>verdict</th><th>engine</th><th>instances</th><th>worst ratio</th>
<th>mutants refuted</th><th>seconds</th></tr>
{rows}
</table>
{sections}
</body></html>
"""


def save_report(verdicts: Sequence[Verdict], path: str | Path) -> Path:
    """Write the page (whole, then renamed); returns its path."""
    kinds = [verdict.outcome for verdict in verdicts]
    summary = ", ".join(f"{kinds.count(kind)} {kind.value}" for kind in Outcome if kind in kinds)
    text = _PAGE.format(
        count=len(verdicts),
        summary=summary or "none",
        rows="\n".join(_row(verdict) for verdict in verdicts),
        sections="\n".join(_section(verdict) for verdict in verdicts),
    )
    return write_whole(path, text.encode())


def _row(verdict: Verdict) -> str:
    refuted = f"{verdict.refuted} of {verdict.mutants}" if verdict.mutants else "-"
    ratio = f"{verdict.worst_ratio:.6g}" if verdict.instances else "-"
    numbers = (f"{verdict.instances:,}", ratio, refuted, f"{verdict.seconds:.2f}")
    return (
        f'<tr><td><a href="#{_anchor(verdict)}">{verdict.theorem.key}</a></td><td>{verdict.theorem.edition}</td>'
        f"<td>{_outcome(verdict)}</td><td>{html.escape(verdict.engine)}</td>"
        + "".join(f'<td class="number">{number}</td>' for number in numbers)
        + "</tr>"
    )


def _section(verdict: Verdict) -> str:
    theorem = verdict.theorem
    facts = [verdict.summary]
    if theorem.fault:
        facts.append(f"In print: {theorem.fault}.")
    if verdict.error_probability:
        facts.append(f"Probability of a false alarm: at most {verdict.error_probability:.1g}.")
    if verdict.survivors:
        facts.append(f"Wrong variants not refuted: {'; '.join(verdict.survivors)}.")
    instance = ", ".join(
        f"{name} = {value:.6g}" if isinstance(value, float) else f"{name}: {value}"
        for name, value in verdict.worst_instance.items()
        if name != "values"
    )
    lines = "".join(f"<p>{html.escape(fact)}</p>" for fact in facts)
    return (
        f'<section id="{_anchor(verdict)}"><div><h2>{theorem.key} ({theorem.edition}) {_outcome(verdict)}</h2>'
        f"<p>{html.escape(theorem.statement)}</p>{lines}"
        f"<p>Worst instance: <code>{html.escape(instance) or 'none'}</code></p></div>{_picture(verdict)}</section>"
    )


def _outcome(verdict: Verdict) -> str:
    colour = _COLOURS.get(verdict.outcome, "#1f2328")
    return f'<span class="verdict" style="color:{colour}">{verdict.outcome.value}</span>'


def _anchor(verdict: Verdict) -> str:
    return f"{verdict.theorem.key}-{verdict.theorem.edition}".replace("/", "-")


def _picture(verdict: Verdict) -> str:
    """An inline SVG of measured against bound on logarithmic axes; nothing when no instance is positive."""
    from matplotlib.figure import Figure as Canvas

    points = np.array(verdict.points, dtype=float).reshape(-1, 2)
    points = points[(points > 0).all(1) & np.isfinite(points).all(1)]
    if len(points) == 0:
        return ""
    bound, measured = points.T
    broken = measured > bound * (1 + 1e-9) if verdict.theorem.direction == "upper" else measured < bound * (1 - 1e-9)
    with style():
        canvas = Canvas(figsize=(3.2, 2.4))
        axes = canvas.subplots()
        ends = np.array([points.min(), points.max()])
        axes.loglog(ends, ends, color="black", linewidth=0.8, linestyle="--")
        axes.loglog(bound[~broken], measured[~broken], ".", color=BLUE, markersize=3)
        axes.loglog(bound[broken], measured[broken], "x", color=VERMILION, markersize=4)
        axes.set_xlabel(f"{verdict.theorem.direction} bound")
        axes.set_ylabel("measured")
        buffer = io.StringIO()
        canvas.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
