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
    from suffice.verification.campaign import conduct, read_campaign, summary, table

    if jobs is not None and (scheduler is not None or collect):
        raise InputError("jobs", jobs, "--scheduler and --collect start no process here; drop them or --jobs")
    plan = read_campaign(file, out=out)
    if collect:
        print_json(summary(plan)) if as_json else typer.echo(table(plan), nl=False)
        return
    processes = jobs if jobs is not None else os.cpu_count() or 1
    try:
        with progress(f"campaign {plan.name}, cells") as bar:
            session = conduct(plan, jobs=processes, scheduler=scheduler, progress=bar)
    except KeyboardInterrupt as stop:
        echo(f"suffice: {stop}", err=True)
        raise
    if as_json:
        about = {"name": plan.name, "cells": len(plan.cells), "out": str(plan.out), "failed": len(session.failed)}
        failures = [{"cell": cell, "error": error} for cell, error in session.failed]
        print_json(session._asdict() | about | {"failures": failures})
    else:
        told = f"{session.computed} computed, {session.found} found done, {len(session.failed)} failed"
        ratio = lambda value: "-" if value is None else ratio_text(value, 6)  # noqa: E731
        found = [(row, ratio(row["worst_ratio"]), ratio(row["median_ratio"])) for row in summary(plan)]
        rows = [(row["key"], row["edition"], f"{row['instances']:,}", *ends) for row, *ends in found]
        columns = ("claim", "edition", "instances", "worst", "median")
        lines = [f"{len(plan.cells)} cells: {told}; {session.seconds:.1f} s; results in {plan.out}"]
        Table(title="Measured/bound", columns=columns, numeric=columns[2:], rows=rows, lines=lines).show()
    for cell, error in session.failed:
        echo(f"suffice: failed: {', '.join(f'{name} = {value}' for name, value in cell.items())}: {error}", err=True)
    if session.failed:
        raise typer.Exit(1)
