"""The command `suffice theorem`: list the statements, show one, evaluate it, invert it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.support.tables import Table

from .app import Json, app
from .arguments import argument, assignments, option
from .console import print_json, wrapped

if TYPE_CHECKING:
    from suffice.bounds import Theorem


@app.command()
def theorem(
    key: Annotated[str | None, argument("A key shows that statement; a part of a key lists all that match.")] = None,
    values: Annotated[list[str] | None, argument("Parameters as NAME=VALUE, to evaluate the bound.")] = None,
    edition: Annotated[
        str | None,
        option("Edition: printed or corrected. Without it a list shows both, and one statement is the corrected one."),
    ] = None,
    solve: Annotated[str | None, option("Parameter to solve for, such as T, eta or eps.")] = None,
    target: Annotated[str | None, option("Value that the bound must not exceed; needs --solve.")] = None,
    bibtex: Annotated[bool, option("Print how to cite the statement.", "--bibtex")] = False,
    as_json: Json = False,
) -> None:
    """List the theorems, or show, evaluate or solve one."""
    from suffice.bounds import find
    from suffice.bounds.describe import definition_page
    from suffice.bounds.theorems import DEFINITIONS, rows, spelled
    from suffice.support.errors import InputError

    if (solve is None) != (target is None):
        missing = "solve" if solve is None else "target"
        raise InputError(missing, "missing", "--solve NAME and --target VALUE go together")
    listed = [] if key is None else rows(key)
    if key is not None and any(entry.key == spelled(key) for entry in listed):
        listed = []  # a whole key: its statement is shown
    if key is None or (listed and not values and solve is None):
        if solve is not None:
            raise InputError("theorem", "missing", "name the theorem to solve")
        if bibtex:
            raise InputError("theorem", key or "missing", "name one to cite")
        return _list(key, listed, edition, as_json)
    defined = [entry for entry in DEFINITIONS if entry.key == spelled(key)]
    if defined and not values and solve is None and not as_json and not bibtex:
        typer.echo("\n\n".join(definition_page(entry) for entry in defined if edition in (None, entry.edition)))
        return
    if bibtex:
        return _cite(defined[0] if defined else find(key, edition or "corrected"))
    record = find(key, edition or "corrected")
    if values or solve is not None:
        _compute(record, assignments(values or []), solve, target, as_json)
    else:
        _show(record, as_json)


def _list(part: str | None, listed: Sequence[Theorem], edition: str | None, as_json: bool) -> None:
    """The statements that a part of a key names, of one edition or both; without a part, the results."""
    from suffice.bounds import THEOREMS
    from suffice.bounds.saved_errata import wrong_in_print
    from suffice.bounds.theorems import spelled
    from suffice.support.errors import InputError

    if edition not in (None, "printed", "corrected"):
        raise InputError("edition", edition, "use printed or corrected")
    chosen = [entry for entry in listed or THEOREMS if edition in (None, entry.edition)]
    if as_json:
        print_json([theorem_row(entry) for entry in chosen])
        return
    if part is None:
        result_table(chosen).show()
        return
    wrong = wrong_in_print(part, {entry.key for entry in listed})
    lines = [
        f"{spelled(part)}: {len(chosen)} statement{'s' * (len(chosen) > 1)}",
        *([f"Wrong in print: {wrong}"] if wrong else []),
        "The verdicts are those of the most recent saved verification; `suffice theorem KEY` shows a statement.",
    ]
    if any(record.superseded_by for record in chosen):
        lines.append("Superseded: the statement is true, and a sharper record replaces it.")
    if any(record.order_only for record in chosen):
        lines.append("Order only: the statement gives no number to evaluate or check; its page says why.")
    Table(lines=lines).show()
    for kind, words in (("printed", "as printed"), ("corrected", "corrected")):
        if rows := [
            (entry.key, _verdict(entry), entry.quantity.expression, entry.source.locator)
            for entry in chosen
            if entry.edition == kind
        ]:
            title = f"Theorems {words} ({len(rows)})"
            columns = ("key", "verdict", "bounds", "source")
            Table(title=title, columns=columns, optional=("source", "bounds"), rows=rows).show()


def _verdict(record: Theorem) -> str:
    """The word of the most recent saved verification, or why there is none."""
    from suffice.bounds.saved_verdicts import known

    kept = known().get((record.key, record.edition), {}).get("verdict", "order only" if record.order_only else "-")
    return "superseded" if record.superseded_by else kept


def result_table(records: Sequence[Theorem]) -> Table:
    """A row for each result of a paper, with the worst of what is wrong with it in print."""
    from suffice.bounds.saved_errata import errata_of, said

    results = [found[0] if (found := re.match(r".*?[a-z]-\d+", record.key)) else "" for record in records]
    groups: dict[str, list[Theorem]] = {}
    for record, result in zip(records, results):  # a result of one statement has no row of its own
        alone = not result or results.count(result) == 1
        groups.setdefault(f"{record.key.partition('/')[0]} (others)" if alone else result, []).append(record)
    papers = list(dict.fromkeys(record.key.partition("/")[0] for record in records))
    rows = []
    for name in sorted(groups, key=lambda name: (papers.index(re.split("[ /]", name)[0]), name.endswith(")"))):
        errata = errata_of("" if name.endswith(")") else name, {entry.key for entry in groups[name]})
        worst = re.sub("the (lower )?bound is ", "", said(errata[0])) if errata else "-"
        rows.append((name, str(len(groups[name])), str(len(errata)), worst))
    title = f"{len(records)} statements of {len(rows)} results; `suffice theorem RESULT` lists those of one"
    columns = ("result", "statements", "errata", "the worst erratum")
    return Table(title=title, columns=columns, numeric=("statements", "errata"), rows=rows)


def _cite(cited: Any) -> None:
    from suffice.bounds.bibtex import cited as citation
    from suffice.bounds.papers import PAPERS

    paper = next(paper for paper in PAPERS if cited.key.startswith(paper.key + "/"))
    typer.echo(citation(paper, cited.key, f"{cited.key}, a record of suffice", cited.source.locator))


def _compute(record: Theorem, numbers: dict[str, Any], solve: str | None, target: str | None, as_json: bool) -> None:
    """The bound at these numbers, or the value of one more that meets a target."""
    from suffice.bounds import evaluate
    from suffice.bounds import solve as invert
    from suffice.support.parse import parse_number

    goal = {} if target is None else {"name": solve, "target": parse_number("target", target)}
    run: Callable[..., Any] = partial(invert if goal else evaluate, record, **goal)
    _complete(record, numbers, run, f" --solve {solve} --target {target}" if goal else "", solve)
    found = run(**numbers)
    told = vars(found) if goal else {"bound": float(found)}
    if as_json:
        about = {"key": record.key, "edition": record.edition, "values": numbers, "guarantee": record.guarantee}
        print_json(about | told)
        return
    if goal:
        relation = ">=" if found.side == "smallest" else "<="
        last = ", the last that was tried: the target may be met beyond it" if found.end else ""
        typer.echo(f"{solve} {relation} {found.value:.10g}{last}")
    _bound(record, told["bound"])


def _show(record: Theorem, as_json: bool) -> None:
    """The statement's page, and what is known of its truth."""
    from suffice.bounds import page
    from suffice.bounds.saved_verdicts import known, saved_proof, saved_verdict, sharpness_of

    if as_json:
        print_json([theorem_row(record)])
        return
    typer.echo(wrapped(page(record)))
    if sharp := sharpness_of(known().get((record.key, record.edition))):
        typer.echo(wrapped(f"sharpness   {sharp}"))
    if proof := saved_proof(record):
        typer.echo(wrapped(f"proof       {proof}"))
    typer.echo(wrapped(f"verdict     {saved_verdict(record)}"))


def _complete(
    record: Theorem, numbers: Mapping[str, Any], run: Callable[..., Any], options: str = "", solved: str | None = None
) -> None:
    """Refuse parameters that are missing, all at once, with a line that `run` accepts: as given where that can be."""
    from suffice.explorer.exact_values import middle
    from suffice.support.errors import InputError, SufficeError

    names = [parameter.name for parameter in record.parameters if parameter.name != solved]
    missing = [name for name in names if name not in numbers]
    if not missing or record.bound is None or not set(numbers) <= set(names):
        return
    edition = "" if record.edition == "corrected" else f" --edition {record.edition}"
    for given in (numbers, {}):
        values = {name: value for name, value in middle(record, **given).items() if name != solved}
        try:
            run(**values)
        except SufficeError:
            continue
        told = " ".join(f"{name}={value}" for name, value in values.items())
        line = f"suffice theorem {record.key}{edition} {told}{options}"
        names = ", ".join(missing)
        raise InputError(names, "missing", f"{record.key} needs {names}; this line runs: {line}")


def _bound(record: Theorem, bound: float) -> None:
    """The claim in words; a probability is at most 1, whatever a formula gives."""
    least = 1.0 if record.direction == "upper" and record.quantity.is_probability else math.inf
    relation = "<=" if record.direction == "upper" else ">="
    typer.echo(f"{record.quantity.expression} {relation} {min(bound, least):.10g}")
    if bound > least:
        typer.echo(f"as every probability: the formula gives {bound:.10g}")
    if not record.guarantee:
        kind = "printed edition" if record.true_as_printed else "printed edition, not a guarantee"
        typer.echo(f"{kind}: {record.fault}")


def theorem_row(record: Theorem) -> dict[str, Any]:
    """The row of `suffice theorem --json`."""
    from suffice.bounds.saved_errata import errata_of
    from suffice.bounds.saved_verdicts import known, saved_proof

    kept = known().get((record.key, record.edition), {})
    told = ("key", "edition", "title", "direction", "mode", "guarantee", "order_only")
    return {
        **{name: getattr(record, name) for name in told},
        "source": str(record.source),
        "quantity": record.quantity.name,
        "conditions": record.condition_names(),
        "latex": record.latex(),
        "superseded_by": record.superseded_by.key if record.superseded_by else None,
        **{name: kept.get(name) for name in ("verdict", "worst_ratio", "attained", "regime")},
        "proof": saved_proof(record) or None,
        "errata": [row["id"] for row in errata_of("", [record.key])],
    }
