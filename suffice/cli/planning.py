"""Commands that run: simulate, campaign."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from . import sources
from .app import Json, app
from .arguments import words
from .console import print_json, progress


@app.command()
def simulate(
    setup: Annotated[
        str, typer.Argument(help=r"A setup file with \[problem] or \[data], a table, a folder, or sklearn:NAME.")
    ],
    algorithm: Annotated[str, typer.Option(help="local, all-for-one, cobo, scafflix, ...; a wrong name lists them.")],
    iterations: Annotated[int, typer.Option(help="T.")] = 100,
    seeds: Annotated[int, typer.Option(help="Independent runs.")] = 64,
    eta: Annotated[str | None, typer.Option(help="Step size; without it half of the limit that is shown.")] = None,
    option: Annotated[list[str] | None, typer.Option(help="NAME=VALUE of the algorithm; repeat for several.")] = None,
    points: Annotated[int, typer.Option(help="Iterations to report, evenly spaced.")] = 11,
    root: Annotated[int, typer.Option(help="Root of all random numbers.")] = 0,
    client: sources.Client = None,
    target: sources.Target = None,
    standardise: sources.Standardise = None,
    standardise_target: sources.StandardiseTarget = None,
    loss: sources.Loss = None,
    regularisation: sources.Regularisation = None,
    intercept: sources.Intercept = None,
    batch: sources.Batch = None,
    split: sources.Split = None,
    seed: sources.Seed = None,
    positive: sources.Positive = None,
    out: Annotated[Path | None, typer.Option(help="Save every path as a .npz file here.")] = None,
    as_json: Json = False,
) -> None:
    """Run an algorithm on a problem with known constants, many seeds at once."""
    from bounds import InputError

    from ..client_data import parse_number
    from ..experiment import experiment
    from ..setup_file import read_setup
    from .report import simulation_table

    if points < 2:
        raise InputError("points", points, "give at least 2")
    if not setup:
        raise InputError("setup", setup, "name a setup file, a table or a folder")
    asked = {
        "client": client, "target": target, "standardise": standardise, "standardise_target": standardise_target,
        "loss": loss, "regularisation": regularisation, "intercept": intercept, "batch": batch, "split": split,
        "seed": seed, "positive": positive,
    }  # fmt: skip
    given = {name: value for name, value in asked.items() if value is not None}
    if sources.is_setup(setup):
        sources.refuse_options(setup, given)
        source = read_setup(setup, target=False).source
    else:
        source = sources.read_table(setup, given)
    step = None if eta is None else parse_number("eta", eta)
    with progress("simulating") as report:
        run = experiment(
            source,
            algorithm,
            iterations=iterations,
            seeds=seeds,
            eta=step,
            options=words(option or []),
            points=points,
            root=root,
            progress=report,
        )
    if out is not None:
        run.trace.save(out)
    if as_json:
        print_json(run.to_dict())
    else:
        simulation_table(run)


@app.command()
def campaign(
    file: Annotated[Path, typer.Argument(help="A campaign file (TOML).")],
    out: Annotated[Path | None, typer.Option(help="Folder for results, over the file's.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Processes on this machine; all cores unless given.")] = None,
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask scheduler instead.")] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Compute failed cells again.")] = False,
    collect: Annotated[bool, typer.Option("--collect", help="Only print the results so far, as CSV.")] = False,
    summarise: Annotated[
        bool,
        typer.Option(
            "--summary",
            help="Only print what is there so far, as Markdown: worst ratios of claims, ends of simulations.",
        ),
    ] = False,
    plot: Annotated[Path | None, typer.Option(help="With either: draw the worst ratios into this folder.")] = None,
    as_json: Json = False,
) -> None:
    """Run a sweep of many cells; interrupted, it resumes. Exit 1 if cells failed."""
    from bounds import InputError
    from verify.campaign import Interrupted, conduct, read_campaign, report, summary, table

    from .report import campaign_table

    processes = jobs if jobs is not None else os.cpu_count() or 1
    if collect and summarise:
        raise InputError("summary", True, "give --collect or --summary, not both")
    for name, value in (("jobs", jobs), ("scheduler", scheduler), ("retry", retry or None)):
        if value is not None and (collect or summarise):
            raise InputError(name, value, "nothing is computed with --collect or --summary; drop one of the two")
    if jobs is not None and scheduler is not None:
        raise InputError("jobs", jobs, "the scheduler's workers compute; drop one of the two")
    definition = read_campaign(file, out=out)
    if plot is not None and not (collect or summarise):
        raise InputError("plot", str(plot), "give --collect or --summary with it")
    if collect or summarise:
        if plot is not None:
            from figures.sharpness import worst_ratios

            try:
                pictures = worst_ratios(definition.name, summary(definition)).save(plot)
            except OSError as error:
                raise InputError("plot", str(plot), (error.strerror or "no folder").lower()) from None
            for path in pictures:
                typer.echo(str(path), err=True)
        if as_json:
            print_json(summary(definition))
        else:
            typer.echo(report(definition) if summarise else table(definition), nl=False)
        return
    try:
        with progress(f"campaign {definition.name}, cells") as bar:
            session = conduct(definition, jobs=processes, scheduler=scheduler, retry=retry, progress=bar)
    except Interrupted as stop:
        typer.echo(f"suffice: {stop}", err=True)
        raise typer.Exit(130) from None
    if as_json:
        about = {"name": definition.name, "cells": len(definition.cells), "out": str(definition.out)}
        print_json(about | vars(session))
    else:
        campaign_table(definition, session, summary(definition))
    if session.failed:
        typer.echo(
            f"suffice: {session.failed} cells failed, see {definition.out / 'failed'}: {session.example}", err=True
        )
    if session.failed or session.skipped:
        raise typer.Exit(1)
