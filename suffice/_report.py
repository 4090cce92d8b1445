"""`report`: one page to pass on, with the data's summary, the plan, the models, pictures and what each number is."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice.bounds import InputError, Row, write_whole
from suffice.bounds.html import text
from suffice.simulate.data.design import CHANGED, NOTE

from .levels import served
from .render import Table

if TYPE_CHECKING:
    from suffice.figures import Figure

    from ._plan import Plan
    from .fitted import Fit

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>
:root {{ color-scheme: light dark }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }}
table {{ border-collapse: collapse; font-size: .85rem; margin: 1rem 0 }}
caption {{ font-style: italic; padding: .3rem 0 }}
th, td {{ padding: .15rem .8rem .15rem 0; border-bottom: 1px solid #8884; vertical-align: top }}
img {{ max-width: 100%; background: #fff }} li, .note {{ font-size: .9rem }}
code {{ font-size: .9em; overflow-wrap: anywhere }}
</style></head><body>
<h1>{title}</h1>
{body}
<hr><p class="note">Made by suffice {version}: <code>{command}</code></p>
</body></html>
"""
PENALTY = 0.1
"""r in (r/2) |theta|^2 of a plan for two classes, on standardised columns: few rows are often separable, and then have
no minimiser without."""
BOTH = """Two questions, two answers: the first table says whose rows improve a site's predictions on <em>new</em> rows,
the second whose gradients bring it sooner to the optimum of the rows at hand, whatever those are worth elsewhere. A
site may count for the one and not for the other, and one of few rows may even get a large weight in the second."""
VACUOUS = (
    "The papers' guaranteed bounds let nobody collaborate here and are left out: <code>suffice plan</code> has them."
)
_KINDS = """<dl>
<dt><b>Exact</b></dt><dd>The mean over all random draws of rows, computed from second moments: no simulation, no
assumption beyond drawing rows with replacement.</dd>
<dt><b>Guaranteed</b></dt><dd>A theorem's upper bound whose conditions were checked on these numbers. E[tau] is the
expected first iteration at which the excess loss is below the precision; nothing is promised after it.</dd>
<dt><b>Measured</b></dt><dd>Means over simulated paths, with standard errors: neither exact nor guaranteed.</dd>
<dt><b>Estimated from held-out rows</b></dt><dd>Losses of the models on rows that were left out when they were fitted,
with standard errors over rows.</dd></dl>"""


def report(
    source: str | Path,
    path: str | Path,
    *,
    epsilon: float | str = "10%",
    progress: Callable[[str], None] | None = None,
    **options: Any,
) -> Path:
    """Write a self-contained HTML page about the clients' data in `source`, and return its path.

    source    a table, a folder, "sklearn:NAME" or a setup file, as `suffice.read` and `suffice.read_setup` take it
    epsilon   the precision of the plan: an excess loss, or a share such as "10%" of each client's initial excess
    progress  called with the name of each part before it is computed
    options   client, target, drop, split, seed, as `suffice.read` and `suffice.fit` take them

    The plan is for the loss of the models: for two classes the logistic one with a penalty of 0.1 (`PENALTY`), or what
    a setup file says.
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
    loss = {} if fitted is None or fitted.loss == "least-squares" else {"loss": fitted.loss, "regularisation": PENALTY}
    planned: Plan | None = tried("plan", lambda: _planned(source, epsilon, loss | options))
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
            f"<p>The losses of this plan have the penalty ({ridge:g}/2) |theta|^2.</p>" if ridge else "",
            _section(first, planned.plot()),
            *map(_section, others),
            f"<p>{VACUOUS}</p>" if len(others) + 1 < len(planned.tables()) else "",
        ]
    names = {"plan": "Plan of the training", "fit": "Models for new rows"}
    body += [f"<h2>{names[part]}</h2><p>Not made: {text(error)}</p>" for part, error in refused.items()]
    given = [(name, value) for name, values in options.items() for value in (values if name == "drop" else [values])]
    flags = "".join(f" --{name} {shlex.quote(str(value))}" for name, value in given)
    command = f"suffice report {shlex.quote(str(source))}{flags} --epsilon {epsilon} --out {shlex.quote(str(path))}"
    page = _PAGE.format(
        title=text(f"Collaboration between the sites of {Path(source).name}"),
        body="\n".join([*body, "<h2>What kind of number is this?</h2>", _KINDS]),
        version=version("suffice"),
        command=text(command),
    )
    return write_whole(path, page.encode(errors="backslashreplace"))  # a name may be half of a surrogate pair


def _planned(source: str | Path, epsilon: float | str, options: dict[str, Any]) -> Plan:
    from ._plan import plan
    from .setup_file import read_setup

    if str(source).lower().endswith(".toml"):
        return plan(read_setup(source, target=False, data=options).source, epsilon=epsilon)
    from suffice.simulate.data.read import read

    if options.get("loss") == "multinomial":
        raise InputError("loss", "multinomial", "plans are for targets of numbers or of two classes, not of more")
    return plan(read(source, **options), epsilon=epsilon)


def _fitted(source: str | Path, options: dict[str, Any]) -> Fit:
    from ._fit import fit
    from .setup_file import read_data_table

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
        level = f"{asked} of that at the start" if isinstance(asked, str) else f"{asked:g}"
        idle = {row.client for row in served(planned.problem, rows)}
        sooner = sum(_sooner(row) for row in rows if row.client not in idle)
        where = f"{len(idle)} of {len(rows)} sites"
        rest = f" At {where} a constant prediction reaches it: nothing to plan." if idle else ""
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


def _section(shown: Table, drawn: Figure | None = None) -> str:
    """A picture, the table below it, its notes."""
    picture = ""
    if drawn is not None:
        coded = base64.b64encode(drawn.picture("svg")).decode()
        picture = f'<img alt="{text(drawn.title)}" src="data:image/svg+xml;base64,{coded}">'
    return picture + shown._repr_html_()
