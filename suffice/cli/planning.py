"""Commands that run or advise: plan, simulate, campaign."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .app import Json, app
from .arguments import words
from .console import print_json, progress

if TYPE_CHECKING:
    pass


@app.command()
def plan(
    setup: Annotated[Path, typer.Argument(help="A setup file (TOML), a CSV with a client column, or a folder.")],
    epsilon: Annotated[list[str] | None, typer.Option(help="Precision; repeat for several.")] = None,
    client: Annotated[str | None, typer.Option(help="Client column of a CSV (client).")] = None,
    target: Annotated[str | None, typer.Option(help="Target column of a CSV (target).")] = None,
    standardise: Annotated[str | None, typer.Option(help="Predictors of a CSV: client, pooled or none.")] = None,
    criterion: Annotated[str | None, typer.Option(help="binary, continuous or sharp, over a setup file's.")] = None,
    standardise_target: Annotated[
        bool | None, typer.Option("--standardise-target", help="Standardise a CSV's target over all clients.")
    ] = None,
    loss: Annotated[str | None, typer.Option(help="Of data: least-squares (default) or logistic.")] = None,
    regularisation: Annotated[str | None, typer.Option(help="r in (r/2) |theta|^2 (0).")] = None,
    split: Annotated[
        str | None,
        typer.Option(help="Divide one table: contiguous:8, iid:8, dirichlet:8:0.1, labels:8, column:NAME."),
    ] = None,
    positive: Annotated[list[str] | None, typer.Option(help="A label that is class 1; repeat for several.")] = None,
    certainty: Annotated[
        str | None, typer.Option(help="Constants of the logistic loss: certified, estimated or everywhere.")
    ] = None,
    simulate: Annotated[bool, typer.Option("--simulate", help="Run the plan; measured beside predicted.")] = False,
    seeds: Annotated[int, typer.Option(help="Seeds of --simulate.")] = 256,
    method: Annotated[
        str | None, typer.Option(help="One method of the network table instead of all; a wrong name lists them.")
    ] = None,
    alpha: Annotated[str, typer.Option(help="Scafflix's personalisation weight in (0, 1].")] = "0.5",
    bootstrap: Annotated[
        int, typer.Option(help="Resample every client's rows this often (50 will do): is the cluster stable?")
    ] = 0,
    save_csv: Annotated[Path | None, typer.Option("--csv", help="Write the plan as a table here.")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw matrix and curves: a .pdf, .png or .svg file, or a folder.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Who should collaborate with whom, at which step size, and what it gains."""
    from bounds import InputError

    from ..advice import plan as make
    from ..client_data import as_label, parse_number, read
    from ..setup_file import read_setup
    from .report import plan_table

    if not str(setup) or setup == Path("."):
        raise InputError("setup", str(setup), "name a setup file, a table or a folder")
    precisions = [parse_number("epsilon", text) for text in epsilon or ()]
    if setup.suffix.lower() == ".toml":
        given = [name for name, value in (("client", client), ("target", target), ("standardise", standardise),
                 ("standardise-target", standardise_target), ("loss", loss), ("regularisation", regularisation),
                 ("split", split), ("positive", positive), ("certainty", certainty)) if value is not None]  # fmt: skip
        if given:
            raise InputError(f"--{given[0]}", str(setup), "a setup file says this in its [data] table; drop the option")
        chosen = read_setup(setup)
        result = make(
            chosen.source,
            precisions or chosen.epsilon,
            criterion=criterion or chosen.criterion,
            horizon=chosen.horizon,
            confidence=chosen.confidence,
        )
    else:
        if not (setup.exists() or str(setup).startswith("sklearn:")):
            raise InputError("setup", str(setup), "no such file or folder")
        if not precisions:
            raise InputError("epsilon", "missing", "name a precision: --epsilon 0.1")
        problem = read(
            setup,
            client=client or "client",
            target=target or "target",
            standardise=standardise or "client",
            standardise_target=bool(standardise_target),
            loss=loss or "least-squares",
            regularisation=parse_number("regularisation", regularisation or "0"),
            split=split,
            positive=[as_label(text) for text in positive or ()],
            certainty=certainty or "certified",
        )
        result = make(problem, precisions, criterion=criterion)
    measured = None
    if simulate:
        with progress("simulating the plan") as report:
            measured = result.simulate(seeds=seeds, progress=report)
    from ..plan_files import write_csv, write_plot
    from .report import methods_table, stability_table

    wanted = result.comparable or method is not None
    methods = result.methods(method, alpha=parse_number("alpha", alpha)) if wanted else []
    paying = result.stops_paying() if wanted else []
    stable = None
    if bootstrap:
        with progress("resampling") as report:
            stable = result.stability(resamples=bootstrap, progress=report)
    written = [] if save_csv is None else [write_csv(save_csv, result, methods, measured=measured, stability=stable)]
    written += [] if plot is None else write_plot(plot, result)
    if as_json:
        answer = result.to_dict()
        answer["methods"] = [entry.to_dict() for entry in methods]
        answer["stops_paying"] = [entry.to_dict() for entry in paying]
        if measured is not None:
            answer["measured"] = [entry.to_dict() for entry in measured]
        if stable is not None:
            answer["stability"] = [entry.to_dict() for entry in stable]
        print_json(answer)
        return
    plan_table(result, measured)
    if wanted:
        methods_table(methods, paying)
    else:
        typer.echo("Many clients: name one method with --method to see its plan for the network.")
    if stable is not None:
        stability_table(stable, result)
    for path in written:
        typer.echo(str(path))


@app.command()
def simulate(
    setup: Annotated[Path, typer.Argument(help="A setup file with [problem] or [data].")],
    algorithm: Annotated[str, typer.Option(help="local, all-for-one, cobo, scafflix, ...; a wrong name lists them.")],
    iterations: Annotated[int, typer.Option(help="T.")] = 100,
    seeds: Annotated[int, typer.Option(help="Independent runs.")] = 64,
    eta: Annotated[str | None, typer.Option(help="Step size (half of 1 / the largest smoothness).")] = None,
    option: Annotated[list[str] | None, typer.Option(help="NAME=VALUE of the algorithm; repeat for several.")] = None,
    points: Annotated[int, typer.Option(help="Iterations to report, evenly spaced.")] = 11,
    root: Annotated[int, typer.Option(help="Root of all random numbers.")] = 0,
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
    source = read_setup(setup, target=False).source
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
    plot: Annotated[Path | None, typer.Option(help="With --collect: draw worst ratios into this folder.")] = None,
    as_json: Json = False,
) -> None:
    """Run a sweep of many cells; interrupted, it resumes. Exit 1 if cells failed."""
    from verify.campaign import conduct, read_campaign, summary, table

    from .report import campaign_table

    definition = read_campaign(file, out=out)
    if collect:
        if plot is not None:
            from figures.worst_ratio import worst_ratios

            for path in worst_ratios(definition.name, summary(definition)).save(plot):
                typer.echo(str(path), err=True)
        if as_json:
            print_json(summary(definition))
        else:
            typer.echo(table(definition), nl=False)
        return
    with progress(definition.name) as bar:
        processes = jobs if jobs is not None else os.cpu_count() or 1
        session = conduct(definition, jobs=processes, scheduler=scheduler, retry=retry, progress=bar)
    if as_json:
        about = {"name": definition.name, "cells": len(definition.cells), "out": str(definition.out)}
        print_json(about | vars(session))
    else:
        campaign_table(definition, session, summary(definition))
    if session.failed or session.skipped:
        raise typer.Exit(1)
