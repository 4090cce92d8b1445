"""The command `suffice errata`: printed statements found wrong, as kept; one of them, or as JSON, recomputed now.

Statements that are true, of which something is to be said, have a table of their own and are not counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from suffice.support.tables import Table, number

from .app import Json, app
from .arguments import argument, option
from .console import print_json


@app.command()
def errata(
    identifier: Annotated[
        str | None, argument("A paper lists its errata; an erratum's id recomputes that one.")
    ] = None,
    bibtex: Annotated[bool, option("Print how to cite the erratum with its paper.", "--bibtex")] = False,
    as_json: Json = False,
) -> None:
    """List errors found in the papers, or recompute one."""
    if not as_json and not bibtex and (listed := saved_errata(identifier)):
        show(listed)
        return
    from suffice.bounds.bibtex import cited
    from suffice.bounds.papers import PAPERS
    from suffice.support.errors import InputError
    from suffice.verification import errata as entries
    from suffice.verification.errata import one

    found = entries(identifier)
    if bibtex:
        if not one(identifier):
            raise InputError("erratum", identifier or "missing", "name one to cite; `suffice errata` lists them")
        paper = next(paper for paper in PAPERS if paper.title == found[0].paper)
        title = f"Erratum {found[0].id}: {found[0].location}"
        typer.echo(cited(paper, found[0].id, title, found[0].location))
        return
    rows = [entry.to_dict() for entry in found]
    if as_json:
        print_json(rows)
    elif len(rows) == 1 and one(identifier):
        errata_page(rows[0]).show()
    elif rows:
        show(rows)
    else:
        typer.echo(f"{identifier}: no errata")


def show(rows: Sequence[Mapping[str, Any]]) -> None:
    """A table of errors, the worst first, then one of true statements that have an entry."""
    from suffice.bounds.saved_errata import KINDS, LOOSE, by_damage

    ranked = by_damage(rows)
    wrong, loose = ([row for row in ranked if (row["kind"] == LOOSE) is kind] for kind in (False, True))
    if wrong:
        lines = [
            f"{len(wrong)} errors in print, the most damaging first. On a small example the text implies the value "
            "`printed`, and the true one is `measured`; `suffice errata ID` shows the example and what holds.",
            "; ".join(f"{kind}: {words}" for kind, words in KINDS.items() if any(row["kind"] == kind for row in wrong)),
        ]
        Table(lines=lines).show()
        _table(wrong, ("id", "kind", "printed", "measured"), "what holds")
    if loose:
        title = "No error, and not counted: what is printed stands, and something is to be added"
        _table(loose, ("id",), "what is to be added", title=title)


def _table(rows: Sequence[Mapping[str, Any]], own: tuple[str, ...], last: str, title: str = "") -> None:
    """A few columns of the rows, numbers from the third on; where each is, and the truth, stand in columns behind."""
    cells = [
        (*(row[name] for name in own[:2]), *(number(row[name]) for name in own[2:]), row["location"], row["truth"])
        for row in rows
    ]
    Table(title=title, columns=(*own, "where", last), numeric=own[2:], optional=("where", last), rows=cells).show()


def saved_errata(identifier: str | None) -> list[dict[str, Any]]:
    """Rows of all errata, of a paper or of a result; none where entries have to be asked: for an id, also a withdrawn
    one, for what is no part of one, and where another package adds errata."""
    from suffice.bounds.papers import OWN, PAPERS
    from suffice.bounds.saved_errata import WITHDRAWN, saved_rows
    from suffice.bounds.theorems import ids_of, spelled

    rows = saved_rows()
    if any(paper.errata for paper in PAPERS if paper.key not in OWN):
        return []
    if identifier is not None and spelled(identifier).replace("/", "-") in {row["id"] for row in rows}:
        return []
    ids = [row["id"] for row in rows if row["kind"] != WITHDRAWN]
    named = ids if identifier is None else ids_of(identifier, ids)
    return [row for row in rows if row["id"] in named]


def errata_page(row: dict[str, Any]) -> Table:
    """One erratum in lines: what is claimed, what is true, the instance and its numbers, and how to cite it."""
    from suffice.bounds.papers import PAPERS
    from suffice.bounds.saved_errata import LOOSE, WITHDRAWN, said
    from suffice.bounds.theorems import rows as rows_of

    of = next((paper for paper in PAPERS if paper.title == row["paper"]), None)
    read = f" (Read: {of.read}.)" if of and of.read else ""
    shown = row | {"paper": f"{(of and of.reference) or row['paper']}{read}"}
    if row["kind"] == LOOSE:
        shown["kind"] = "loose: no error, what is printed stands"
    if row["kind"] == WITHDRAWN:
        lines = [f"{name:9s} {shown[name]}" for name in ("id", "paper", "location", "kind")]
        return Table(lines=[*lines, f"it said   {row['claim']}", f"reason    {row['truth']}"])
    names = ("id", "paper", "location", "kind", "claim", "truth")
    lines = [f"{row['location']}: {said(row)}", *(f"{name:9s} {shown[name]}" for name in names)]
    lines += [f"  {name} = {value}" for name, value in row["inputs"].items()]
    lines += [f"printed   {row['printed']:.10g}", f"measured  {row['measured']:.10g}"]
    if row["key"]:
        lines.append(f"commands: suffice theorem {row['key']}")
        if any(record.edition == "printed" for record in rows_of(row["key"])):
            lines.append(f"{'':9s} suffice theorem {row['key']} --edition printed")
    return Table(lines=lines)
