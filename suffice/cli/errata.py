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
        columns=("id", "where", "kind", "printed", "measured", "what holds"),
        numeric=("printed", "measured"),
        optional=("where", "kind", "what holds"),
        rows=[
            (row["id"], row["location"], row["kind"], number(row["printed"]), number(row["measured"]), row["truth"])
            for row in rows
        ],
        lines=[
            "printed, measured: what the text gives and what is true at one small instance, each of a quantity of its "
            "own. `suffice errata ID` names it and shows what is printed, what holds and the instance."
        ],
    )


def errata_page(row: dict[str, Any]) -> Table:
    """One erratum in lines: what is claimed, what is true, the instance and its numbers."""
    names = ("id", "paper", "location", "kind", "claim", "truth")
    lines = [f"{name:9s} {row[name]}" for name in names]
    lines += [f"  {name} = {value}" for name, value in row["inputs"].items()]
    lines += [f"printed   {row['printed']:.10g}", f"measured  {row['measured']:.10g}"]
    return Table(columns=(), rows=(), lines=lines)
