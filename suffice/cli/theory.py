"""Commands on statements: theorem, verify, errata."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .app import Json, app
from .arguments import assignments
from .console import print_json, progress

if TYPE_CHECKING:
    from bounds import Theorem


@app.command()
def theorem(
    key: Annotated[
        str | None,
        typer.Argument(help="A key such as adaptive/theorem-2-constant; a part of one lists those that have it."),
    ] = None,
    values: Annotated[list[str] | None, typer.Argument(help="NAME=VALUE, to evaluate the bound.")] = None,
    edition: Annotated[str | None, typer.Option(help="printed or corrected (default corrected; a list: both).")] = None,
    solve: Annotated[
        str | None, typer.Option(help="Invert: the parameter to solve for, such as T, eta or eps.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="With --solve: what the bound has to reach.")] = None,
    as_json: Json = False,
) -> None:
    """List the theorems, show one, evaluate it, or solve it for a parameter on the safe side."""
    from bounds import THEOREMS, InputError, evaluate, find, page
    from bounds import solve as invert

    from ..client_data import parse_number
    from ..verdicts import kept
    from .report import theorem_row, theorem_table

    if (solve is None) != (target is None):
        raise InputError(
            "solve" if solve is None else "target", "missing", "--solve NAME and --target VALUE go together"
        )
    listed = [] if key is None else _listed(key)
    if key is None or (listed and not values and solve is None):
        if solve is not None:
            raise InputError("theorem", "missing", "name the theorem to solve")
        if edition not in (None, "printed", "corrected"):
            raise InputError("edition", edition, "use printed or corrected")
        chosen = [entry for entry in listed or THEOREMS if edition in (None, entry.edition)]
        if as_json:
            print_json([theorem_row(entry) for entry in chosen])
        else:
            theorem_table(chosen)
        return
    record = find(key, edition or "corrected")
    if solve is not None and target is not None:
        numbers = assignments(values or [])
        found = invert(record, solve, target=parse_number("target", target), **numbers)
        if as_json:
            row = {"key": record.key, "edition": record.edition, "values": numbers, "guarantee": record.guarantee}
            print_json(row | vars(found))
            return
        relation = ">=" if found.side == "smallest" else "<="
        typer.echo(f"{solve} {relation} {found.value:.10g}")
        _bound(record, found.bound)
        return
    if not values:
        if as_json:
            print_json([theorem_row(record)])
        else:
            typer.echo(page(record))
            typer.echo(f"verdict     {kept(record)}")
        return
    numbers = assignments(values)
    bound = float(evaluate(record, **numbers))
    if as_json:
        row = {"key": record.key, "edition": record.edition, "values": numbers, "bound": bound}
        print_json(row | {"guarantee": record.guarantee})
        return
    _bound(record, bound)


def _listed(part: str) -> list[Theorem]:
    """The records that a part of a key names; none for a whole key, which is shown instead."""
    from bounds.theorems import rows, spelled

    found = rows(part)
    return [] if any(entry.key == spelled(part) for entry in found) else found


def _bound(record: Theorem, bound: float) -> None:
    typer.echo(f"{record.quantity.expression} {'<=' if record.direction == 'upper' else '>='} {bound:.10g}")
    if not record.guarantee:
        typer.echo(f"printed edition, not a guarantee: {record.fault}")


@app.command()
def verify(
    keys: Annotated[
        list[str] | None, typer.Argument(help="Keys, papers (cobo) or patterns (cobo/*); none: all, minutes.")
    ] = None,
    edition: Annotated[str, typer.Option(help="printed, corrected or all.")] = "all",
    effort: Annotated[str, typer.Option(help="quick or full.")] = "quick",
    root: Annotated[int, typer.Option(help="Root of all random numbers.")] = 0,
    keep_verdicts: Annotated[
        bool, typer.Option("--keep", help="Keep the verdicts for listings, as --effort full always does.")
    ] = False,
    report: Annotated[Path | None, typer.Option(help="Also write an HTML page with a picture per claim here.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Processes; all cores when many claims are checked.")] = None,
    as_json: Json = False,
) -> None:
    """Check claims. A violated printed claim is good news; exit 1 only if a corrected one is violated, or weak and not
    said to be."""
    from verify import unchecked
    from verify import verify as check

    from ..verdicts import keep
    from .report import verdict_table

    with progress("checking claims") as bar:
        few = bool(keys) and all("/" in key and "*" not in key for key in keys or ())
        processes = jobs if jobs is not None else 1 if few else os.cpu_count() or 1
        verdicts = check(keys or (), edition=edition, effort=effort, root=root, jobs=processes, progress=bar)
    if report is not None:
        from figures import save_report

        save_report(verdicts, report)
    if effort == "full" or keep_verdicts:
        try:
            keep(verdicts, effort)
        except OSError as error:
            typer.echo(f"verdicts not kept: {error.strerror or error}", err=True)
    if as_json:
        print_json([verdict.to_dict() for verdict in verdicts])
    else:
        verdict_table(verdicts, unchecked(keys or (), edition=edition))
    if any(not verdict.expected for verdict in verdicts if verdict.theorem.guarantee):
        raise typer.Exit(1)


@app.command()
def errata(
    identifier: Annotated[
        str | None, typer.Argument(help="A paper, to list its own; an id, to reproduce it now.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Printed statements found wrong, each recomputed as you read."""
    from verify import errata as entries
    from verify.errata import one

    from .report import errata_page, errata_table

    found = entries(identifier)
    rows = [entry.to_dict() for entry in found]
    if as_json:
        print_json(rows)
    elif len(rows) == 1 and one(identifier):
        errata_page(rows[0])
    elif rows:
        errata_table(rows)
    else:
        typer.echo(f"{identifier}: no errata")
