"""The command `suffice campaign`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from suffice.support.progress import progress

from .app import Json, app
from .console import echo, print_json


@app.command()
def campaign(
    file: Annotated[Path, typer.Argument(help="A campaign file (TOML).")],
    out: Annotated[Path | None, typer.Option(help="Folder for the results (default: the file's).")] = None,
    jobs: Annotated[int | None, typer.Option(help="Number of processes on this machine (default: all cores).")] = None,
    scheduler: Annotated[str | None, typer.Option(help="Dask scheduler whose workers compute (default: none).")] = None,
    collect: Annotated[bool, typer.Option("--collect", help="Print the results so far as CSV.")] = False,
    as_json: Json = False,
) -> None:
    """Run a parameter sweep, which resumes where it was interrupted. If a cell failed, exit with 1."""
    from suffice.support.errors import InputError
    from suffice.support.tables import Table, ratio_text
    from suffice.verification.campaign import Interrupted, conduct, read_campaign, summary, table

    if jobs is not None and (scheduler is not None or collect):
        raise InputError("jobs", jobs, "--scheduler and --collect start no process here; drop them or --jobs")
    definition = read_campaign(file, out=out)
    if collect:
        print_json(summary(definition)) if as_json else typer.echo(table(definition), nl=False)
        return
    processes = jobs if jobs is not None else os.cpu_count() or 1
    try:
        with progress(f"campaign {definition.name}, cells") as bar:
            session = conduct(definition, jobs=processes, scheduler=scheduler, progress=bar)
    except Interrupted as stop:
        echo(f"suffice: {stop}", err=True)
        raise typer.Exit(130) from None
    if as_json:
        about = {"name": definition.name, "cells": len(definition.cells), "out": str(definition.out)}
        failures = [{"cell": cell, "error": error} for cell, error in session.failed]
        print_json(about | vars(session) | {"failed": len(failures), "failures": failures})
    else:
        names = ("worst_ratio", "median_ratio")
        cells = f"{len(definition.cells)} cells: {session.computed} computed, {session.found} found done"
        failed = f", {len(session.failed)} failed" if session.failed else ""
        Table(
            title="Measured/bound",
            columns=("claim", "edition", "instances", "worst", "median"),
            numeric=("instances", "worst", "median"),
            # infinite where a bound is 0 or a threshold is missed: no dash
            rows=[(row["key"], row["edition"], f"{row['instances']:,}",
                   *("-" if row[name] is None else ratio_text(row[name], 6) for name in names))
                  for row in summary(definition)],
            lines=[f"{cells}{failed}; {session.seconds:.1f} s; results in {definition.out}"],
        ).show()  # fmt: skip
    for cell, error in session.failed:
        echo(f"suffice: failed: {', '.join(f'{name} = {value}' for name, value in cell.items())}: {error}", err=True)
    if session.failed:
        raise typer.Exit(1)
