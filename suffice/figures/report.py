"""HTML pages to pass on, each in one file: `report` of a problem, with its plan, models, pictures and what each number
is; `save_report` of verdicts, with a section and a picture for every claim.
"""

from __future__ import annotations

import base64
import io
import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.planning.constant_prediction import served
from suffice.planning.plan_row import Row
from suffice.planning.precision import NOISE
from suffice.simulate.data.design import CHANGED, NOTE
from suffice.support.errors import InputError
from suffice.support.files import write_whole
from suffice.support.html import table, text
from suffice.support.pictures import Picture
from suffice.support.tables import Table, ratio_text

from .style import BLUE, VERMILION, style

if TYPE_CHECKING:
    from suffice.fitting.fitted import Fit
    from suffice.planning.plan import Plan
    from suffice.verification import Verdict


_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>
:root {{ color-scheme: light dark }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }}
table {{ border-collapse: collapse; font-size: .85rem; margin: 1rem 0 }}
caption {{ font-style: italic; padding: .3rem 0 }}
th, td {{ padding: .15rem .8rem .15rem 0; border-bottom: 1px solid #8884; vertical-align: top }}
img, svg {{ max-width: 100%; background: #fff }} li, .note {{ font-size: .9rem }}
code {{ font-size: .9em; overflow-wrap: anywhere }}
section {{ display: flex; gap: 2rem; border-top: 1px solid #8884; padding: 1.2rem 0 }} section > div {{ flex: 1 }}
section h2 {{ font-size: 1.1rem; margin: 0 }}
</style></head><body>
<h1>{title}</h1>
{body}
<hr><p class="note">Made by suffice {version}{command}</p>
</body></html>
"""
BOTH = """Two questions, two answers: the first table says whose rows improve a site's predictions on <em>new</em> rows,
the second whose gradients bring it sooner to the optimum of the rows at hand, whatever those are worth elsewhere. A
site may count for the one and not for the other, and one of few rows may even get a large weight in the second."""
VACUOUS = (
    "The papers' guaranteed bounds let nobody collaborate here and are left out: <code>suffice plan</code> has them."
)
SHARES = {"start": "that at the start", "constant": "that of their means", "base rate": "that of their base rates"}
TOLD = "what as many new rows could tell from none"
_KINDS = """<dl>
<dt><b>Exact</b></dt><dd>The mean over all random draws of rows, computed from second moments: no simulation, no
assumption beyond drawing rows with replacement.</dd>
<dt><b>Guaranteed</b></dt><dd>A theorem's upper bound whose conditions were checked on these numbers. E[tau] is the
expected first iteration at which the excess loss is below the precision; nothing is promised after it.</dd>
<dt><b>Measured</b></dt><dd>Means over simulated paths, with standard errors: neither exact nor guaranteed.</dd>
<dt><b>Estimated from held-out rows</b></dt><dd>Losses of the models on rows that were left out when they were fitted,
with standard errors over rows.</dd></dl>"""

_EVIDENCE = """In each picture a point is an instance that met the hypotheses and the line is measured = bound. An upper
bound holds when no point lies above the line, a lower bound when none lies below. "Holds" is evidence from the engines
named, not a proof."""
_COLOURS = {"holds": "#1a7f37", "weak": "#9a6700", "violated": "#cf222e", "vacuous": "#6e40c9"}
"""Verdicts are printed in these colours."""


def report(
    source: str | Path,
    path: str | Path,
    *,
    epsilon: float | str | None = None,
    progress: Callable[[str], None] | None = None,
    **options: Any,
) -> Path:
    """Write a self-contained HTML page about the clients' data in `source`, and return its path.

    source    a table, a folder, "sklearn:NAME" or a setup file, as `suffice.read` and `suffice.read_setup` take it
    epsilon   the precision of the plan, as `suffice.plan` takes it
    progress  called with the name of each part before it is computed
    options   client, target, drop, split, seed, as `suffice.read` and `suffice.fit` take them

    The plan is for the loss of the models: for two classes the logistic one with a penalty of 0.1, or what a setup file
    says.
    If the data do not allow a part, the page says why. Raises `InputError` if no part can be made.
    """
    say = progress or (lambda part: None)
    refused: dict[str, InputError] = {}

    def tried(part: str, make: Callable[[], Any]) -> Any:
        say(part)
        try:
            return make()
        except InputError as error:
            refused[part] = error
            return None

    fitted: Fit | None = tried("fit", lambda: _fitted(source, options))
    labels = fitted is not None and fitted.loss == "multinomial"
    planned: Plan | None = tried("plan", lambda: _planned(source, epsilon, options, labels=labels))
    if planned is None and fitted is None:
        raise refused["fit"]
    body = [_summary(planned, fitted)]
    if fitted is not None and planned is not None:
        body.append(f"<p>{BOTH}</p>")
    if fitted is not None:
        body += ["<h2>A model for each site</h2>", _section(fitted.table(), fitted.plot())]
    if planned is not None:
        told = () if fitted is None else {*map(CHANGED.format, fitted.left_out), *map(NOTE.format, fitted.notes)}
        first, *others = replace(planned, notes=tuple(note for note in planned.notes if note not in told)).tables()
        rows = planned.rows
        if others and rows[0].measured is not None and all(len(row.cluster) < 2 for row in rows):
            others.pop()  # bounds of so little use beside what was measured; the line below says where they are
        ridge = getattr(planned.problem, "regularisation", 0)
        body += [
            "<h2>Who trains with whom</h2>",
            f"<p>{text(planned.lead)}</p>" if planned.lead else "",
            f"<p>The losses of this plan have the penalty ({ridge:g}/2) |theta|^2.</p>" if ridge else "",
            _section(first, planned.plot()),
            *map(_section, others),
            f"<p>{VACUOUS}</p>" if len(others) + 1 < len(planned.tables()) else "",
        ]
    names = {"plan": "Plan of the training", "fit": "Models for new rows"}
    body += [f"<h2>{names[part]}</h2><p>Not made: {text(error)}</p>" for part, error in refused.items()]
    given = [(name, value) for name, values in options.items() for value in (values if name == "drop" else [values])]
    flags = "".join(f" --{name} {shlex.quote(str(value))}" for name, value in given)
    flags += "" if epsilon is None else f" --epsilon {epsilon}"
    command = f"suffice report {shlex.quote(str(source))}{flags} --out {shlex.quote(str(path))}"
    body += ["<h2>What kind of number is this?</h2>", _KINDS]
    return _page(path, f"Collaboration between the sites of {Path(source).name}", body, command)


def save_report(verdicts: Sequence[Verdict], path: str | Path) -> Path:
    """Write a self-contained HTML page of verdicts, and return its path."""
    kinds = Counter(verdict.outcome.value for verdict in sorted(verdicts, key=lambda verdict: verdict.outcome.name))
    summary = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    columns = ("claim", "edition", "verdict", "engine", "instances", "worst ratio", "mutants refuted", "seconds")
    body = [
        f"<p>{len(verdicts)} claims: {summary or 'none'}. {_EVIDENCE}</p>",
        table(columns, map(_row, verdicts)),
        *map(_claim, verdicts),
    ]
    return _page(path, "Verdicts", body)


def _page(path: str | Path, title: str, body: Sequence[str], command: str = "") -> Path:
    page = _PAGE.format(
        title=text(title),
        body="\n".join(body),
        version=version("suffice"),
        command=f": <code>{text(command)}</code>" if command else "",
    )
    return write_whole(path, page.encode(errors="backslashreplace"))  # a name may be half of a surrogate pair


def _planned(source: str | Path, epsilon: float | str | None, options: dict[str, Any], *, labels: bool) -> Plan:
    from suffice.planning.plan import plan
    from suffice.simulate.setup_file import read_setup

    if str(source).lower().endswith(".toml"):
        return plan(read_setup(source, target=False).source, epsilon=epsilon)
    from suffice.simulate.problems.read import read

    if labels:
        raise InputError("loss", "multinomial", "plans are for numeric targets or two classes, not for more")
    return plan(read(source, **options), epsilon=epsilon)


def _fitted(source: str | Path, options: dict[str, Any]) -> Fit:
    from suffice.fitting.fit import fit
    from suffice.simulate.setup_file import read_data_table

    if str(source).lower().endswith(".toml"):
        source, options = read_data_table(source)
    return fit(source, **options)


def _summary(planned: Plan | None, fitted: Fit | None) -> str:
    """What there is and what comes of it, in a few sentences."""
    said = []
    if fitted is not None:
        models = list(fitted)
        said.append(
            f"{len(models)} sites with {sum(model.rows for model in models):,} rows; "
            f"{len(models[0].coefficients)} columns predict {fitted.target} ({fitted.loss})."
        )
        gain, error = fitted.rule["network_gain"], fitted.rule["network_gain_se"]
        alone = [model.expected_loss_alone for model in models if model.expected_loss_alone is not None]
        if gain is not None and error is not None and alone:
            size = f"{gain:.3g} per row, with two standard errors of {2 * error:.2g}"
            said.append(
                f"On new rows, models that learn from the other sites lower the loss by {size}."
                if gain > 2 * error
                else f"On new rows, each site does better alone: learning from others gains {size}."
                if gain < -2 * error
                else f"These rows cannot tell whether models for new rows gain from other sites: {size}."
            )
    if planned is not None:
        rows = planned.rows
        kind = "exact" if rows[0].exact else "measured" if rows[0].measured else "guaranteed"
        asked = next(iter(planned.precisions))
        of = rows[0].epsilon_of
        level = TOLD if of == NOISE else f"{asked} of {SHARES[of]}" if isinstance(asked, str) else f"{asked:g}"
        idle = {row.client for row in served(planned.problem, rows)}
        sooner = sum(_sooner(row) for row in rows if row.client not in idle)
        where = f"{len(idle)} of {len(rows)} sites"
        rest = f" At {where} a constant prediction reaches it, so that there is nothing to plan." if idle else ""
        said.append(
            f"In training, {sooner} of {len(rows)} sites reach an excess loss of {level} on their own rows sooner with "
            f"the help of others ({kind}).{rest}"
        )
    return "".join(f"<p>{text(sentence)}</p>" for sentence in said)


def _sooner(row: Row) -> bool:
    """Whether a site arrives sooner with others: of what was measured, if the intervals do not meet."""
    if row.measured is not None and row.measured_local is not None:
        latest, earliest = row.measured.between[1], row.measured_local.between[0]
        return latest is not None and earliest is not None and latest < earliest
    return bool(row.collaborators) and (row.exact is None or (row.exact_speedup or 1) > 1)


def _section(shown: Table, drawn: Picture | None = None) -> str:
    """A picture, the table below it, its notes."""
    picture = ""
    if drawn is not None:
        coded = base64.b64encode(drawn.picture("svg")).decode()
        picture = f'<img alt="{text(drawn.title)}" src="data:image/svg+xml;base64,{coded}">'
    return picture + shown._repr_html_()


def _row(verdict: Verdict) -> list[str]:
    """Cells of the table of verdicts."""
    refuted = f"{verdict.refuted} of {verdict.mutants}" if verdict.mutants else "-"
    ratio = ratio_text(verdict.worst_ratio, 6) if verdict.instances else "-"
    link = f'<a href="#{_anchor(verdict)}">{verdict.theorem.key}</a>'
    return [link, verdict.theorem.edition, _outcome(verdict), text(verdict.engine), f"{verdict.instances:,}", ratio,
            refuted, f"{verdict.seconds:.2f}"]  # fmt: skip


def _claim(verdict: Verdict) -> str:
    theorem = verdict.theorem
    facts = [verdict.summary]
    if theorem.fault:
        facts.append(f"In print: {theorem.fault}")
    if verdict.error_probability:
        facts.append(f"The probability of a false alarm is at most {verdict.error_probability:.1g}.")
    if verdict.survivors:
        facts.append(f"These wrong variants are not refuted: {'; '.join(verdict.survivors)}.")
    instance = ", ".join(
        f"{name} = {value:.6g}" if isinstance(value, float) else f"{name}: {value}"
        for name, value in verdict.worst_instance.items()
        if name != "values"
    )
    lines = "".join(f"<p>{text(fact)}</p>" for fact in facts)
    return (
        f'<section id="{_anchor(verdict)}"><div><h2>{theorem.key} ({theorem.edition}) {_outcome(verdict)}</h2>'
        f"<p>{text(theorem.statement)}</p>{lines}"
        f"<p>Worst instance: <code>{text(instance) or 'none'}</code></p></div>{_scatter(verdict)}</section>"
    )


def _outcome(verdict: Verdict) -> str:
    colour = _COLOURS.get(verdict.outcome.value, "inherit")
    return f'<span class="verdict" style="color:{colour}">{verdict.outcome.value}</span>'


def _anchor(verdict: Verdict) -> str:
    return f"{verdict.theorem.key}-{verdict.theorem.edition}".replace("/", "-")


def _scatter(verdict: Verdict) -> str:
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
