"""The command `suffice errata`: printed statements found wrong, as kept; one of them, or as JSON, recomputed now."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ..render import Table, number
from .app import Json, app
from .completion import errata_names
from .console import print_json

KINDS = {
    "false": "a claim that does not hold",
    "hypothesis": "an assumption is missing",
    "vacuous": "nothing meets the hypotheses",
    "constant": "a constant or an exponent is wrong",
    "typo": "a slip in the text",
    "code": "the released code does something else",
}
KEPT = Path(__file__).parents[1] / "errata.json"
"""The rows of the table for the library's papers, written by `make pages`: listing them needs no torch."""


@app.command()
def errata(
    identifier: Annotated[
        str | None, typer.Argument(help="A paper, or an erratum's id to recompute it.", autocompletion=errata_names)
    ] = None,
    as_json: Json = False,
) -> None:
    """List errors found in the papers, or recompute one."""
    if not as_json and (listed := kept(identifier)):
        errata_table(listed).show()
        return
    from suffice.verification import errata as entries
    from suffice.verification.errata import one

    found = entries(identifier)
    rows = [entry.to_dict() for entry in found]
    if as_json:
        print_json(rows)
    elif len(rows) == 1 and one(identifier):
        errata_page(rows[0]).show()
    elif rows:
        errata_table(rows).show()
    else:
        typer.echo(f"{identifier}: no errata")


def kept(identifier: str | None) -> list[dict[str, Any]]:
    """Rows of all errata, of a paper or of a result; none where entries have to be asked: for an id, for what is no
    part of one, and where another package adds errata."""
    from suffice.bounds.papers import OWN, PAPERS
    from suffice.bounds.theorems import ids_of, spelled

    rows = json.loads(KEPT.read_text(encoding="utf-8"))
    if any(paper.errata for paper in PAPERS if paper.key not in OWN):
        return []
    ids = [row["id"] for row in rows]
    named = ids if identifier is None else ids_of(identifier, ids)
    if identifier is not None and spelled(identifier).replace("/", "-") in named:
        return []
    return [row for row in rows if row["id"] in named]


def errata_table(rows: Sequence[dict[str, Any]]) -> Table:
    """One row per erratum."""
    return Table(
        title="Errata",
        columns=("id", "kind", "printed", "measured", "where", "what holds"),
        numeric=("printed", "measured"),
        optional=("where", "what holds"),
        rows=[
            (row["id"], row["kind"], number(row["printed"]), number(row["measured"]), row["location"], row["truth"])
            for row in rows
        ],
        lines=[
            "printed: the value that the text implies; measured: the true value on a small example. The quantity "
            "differs from row to row; `suffice errata ID` names it and shows the example and what holds.",
            "; ".join(f"{kind}: {words}" for kind, words in KINDS.items() if any(row["kind"] == kind for row in rows)),
        ],
    )


def errata_page(row: dict[str, Any]) -> Table:
    """One erratum in lines: what is claimed, what is true, the instance and its numbers, and how to cite it."""
    from suffice.bounds.papers import PAPERS

    cited = next((paper.reference for paper in PAPERS if paper.title == row["paper"]), "")
    names = ("id", "paper", "location", "kind", "claim", "truth")
    said = row | {"paper": cited or row["paper"]}
    lines = [f"{name:9s} {said[name]}" for name in names]
    lines += [f"  {name} = {value}" for name, value in row["inputs"].items()]
    lines += [f"printed   {row['printed']:.10g}", f"measured  {row['measured']:.10g}"]
    if row["printed"] * row["measured"] > 0:
        lines.append(f"ratio     {row['measured'] / row['printed']:.4g} (measured / printed)")
    if row["key"]:
        lines.append(f"corrected suffice theorem {row['key']}")
    return Table(columns=(), rows=(), lines=lines)
