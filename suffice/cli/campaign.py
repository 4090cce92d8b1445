"""The command `suffice campaign`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.support.progress import progress

from .app import Json, app
from .console import echo, print_json

if TYPE_CHECKING:
    from suffice.support.tables import Table
    from suffice.verification.campaign import Campaign, Session


@app.command()
def campaign(
    file: Annotated[Path, typer.Argument(help="A campaign file (TOML).")],
    out: Annotated[Path | None, typer.Option(help="Folder for the results (default: the file's).")] = None,
    jobs: Annotated[int | None, typer.Option(help="Number of processes on this machine (default: all cores).")] = None,
    scheduler: Annotated[str | None, typer.Option(help="Dask scheduler whose workers compute (default: none).")] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Recompute failed cells.")] = False,
    collect: Annotated[bool, typer.Option("--collect", help="Print the results so far as CSV.")] = False,
    summarise: Annotated[
        bool, typer.Option("--summary", help="Print a Markdown summary of the results so far.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Folder for a plot of the worst ratios; needs --collect or --summary.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a parameter sweep, which resumes where it was interrupted. If a cell failed, exit with 1."""
    from suffice.support.errors import InputError
    from suffice.support.files import make_folder
    from suffice.verification.campaign import Interrupted, conduct, read_campaign, report, summary, table

    processes = jobs if jobs is not None else os.cpu_count() or 1
    if collect and summarise:
        raise InputError("summary", True, "give --collect or --summary, not both")
    for name, value in (("jobs", jobs), ("scheduler", scheduler), ("retry", retry or None)):
        if value is not None and (collect or summarise):
            raise InputError(name, value, "--collect and --summary compute nothing; drop them or this option")
    if jobs is not None and scheduler is not None:
        raise InputError("jobs", jobs, "with --scheduler its workers compute; drop --jobs or --scheduler")
    definition = read_campaign(file, out=out)
    if plot is not None and not (collect or summarise):
        raise InputError("plot", str(plot), "the plot is of results so far: give --collect or --summary with it")
    if collect or summarise:
        if plot is not None:
            from suffice.figures.sharpness import worst_ratios

            for path in worst_ratios(definition.name, summary(definition)).save(make_folder(plot, "plot")):
                echo(str(path), err=True)
        if as_json:
            print_json(summary(definition))
        else:
            typer.echo(report(definition) if summarise else table(definition), nl=False)
        return
    try:
        with progress(f"campaign {definition.name}, cells") as bar:
            session = conduct(definition, jobs=processes, scheduler=scheduler, retry=retry, progress=bar)
    except Interrupted as stop:
        echo(f"suffice: {stop}", err=True)
        raise typer.Exit(130) from None
    if as_json:
        about = {"name": definition.name, "cells": len(definition.cells), "out": str(definition.out)}
        print_json(about | vars(session))
    else:
        campaign_table(definition, session, summary(definition)).show()
    if session.failed:
        echo(f"suffice: {session.failed} cells failed, see {definition.out / 'failed'}: {session.example}", err=True)
    if session.failed or session.skipped:
        raise typer.Exit(1)


def campaign_table(campaign: Campaign, session: Session, rows: Sequence[dict[str, Any]]) -> Table:
    """What a run of a campaign did, and the worst ratio of each claim so far."""
    from suffice.support.tables import Table

    failed = f", {session.failed} failed" if session.failed else ""
    skipped = f", {session.skipped} left as failed earlier (--retry)" if session.skipped else ""
    return Table(
        title="Worst ratios",
        columns=("claim", "edition", "instances", "worst ratio"),
        numeric=("instances", "worst ratio"),
        rows=[
            # infinite where a bound is 0 or a threshold is missed: no dash
            (row["key"], row["edition"], f"{row['instances']:,}", "-" if worst is None else f"{worst:.6g}")
            for row in rows
            for worst in (row["worst_ratio"],)
        ],
        lines=[
            f"{len(campaign.cells)} cells: {session.computed} computed, {session.found} found done{failed}{skipped}; "
            f"{session.seconds:.1f} s; results in {campaign.out}"
        ],
    )
