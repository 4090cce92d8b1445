"""The `suffice` command: one function per subcommand, each thin over the Python interface."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from bounds import SufficeError

from .console import print_json, progress

if TYPE_CHECKING:
    from bounds import Theorem

app = typer.Typer(
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    help="Is the theorem true, what should I run, and what does it look like: "
    "bounds, plans, verdicts and figures for collaborative federated learning.",
)
Json = Annotated[bool, typer.Option("--json", help="Machine output on stdout.")]


@app.command()
def demo(out: Annotated[Path, typer.Option(help="Where the figure goes.")] = Path("out")) -> None:
    """The main job in under a minute: Figure 1, a plan for eight clients, verdicts, errata."""
    from .demo import run_demo

    if not run_demo(out):
        raise typer.Exit(1)


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
def theorem(
    key: Annotated[str | None, typer.Argument(help="A key such as adaptive/theorem-2-constant.")] = None,
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
    from .report import theorem_row, theorem_table

    if (solve is None) != (target is None):
        raise InputError(
            "solve" if solve is None else "target", "missing", "--solve NAME and --target VALUE go together"
        )
    if key is None:
        if solve is not None:
            raise InputError("theorem", "missing", "name the theorem to solve")
        if edition not in (None, "printed", "corrected"):
            raise InputError("edition", edition, "use printed or corrected")
        chosen = [entry for entry in THEOREMS if edition in (None, entry.edition)]
        if as_json:
            print_json([theorem_row(entry) for entry in chosen])
        else:
            theorem_table(chosen)
        return
    record = find(key, edition or "corrected")
    if solve is not None and target is not None:
        numbers = _assignments(values or [])
        found = invert(record, solve, target=parse_number("target", target), **numbers)
        if as_json:
            print_json({"key": key, "edition": record.edition, "values": numbers, "guarantee": record.guarantee}
                       | vars(found))  # fmt: skip
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
        return
    numbers = _assignments(values)
    bound = float(evaluate(record, **numbers))
    if as_json:
        print_json(
            {"key": key, "edition": record.edition, "values": numbers, "bound": bound, "guarantee": record.guarantee}
        )
        return
    _bound(record, bound)


def _bound(record: Theorem, bound: float) -> None:
    typer.echo(f"{record.quantity.expression} {'<=' if record.direction == 'upper' else '>='} {bound:.10g}")
    if not record.guarantee:
        typer.echo(f"printed edition, not a guarantee: {record.fault}")


@app.command()
def verify(
    keys: Annotated[list[str] | None, typer.Argument(help="Theorem keys; all when none is given.")] = None,
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
    """Check claims. A violated printed claim is good news; exit 1 only if a corrected one is violated or weak."""
    from verify import verify as check

    from ..verdicts import keep
    from .report import verdict_table

    with progress("checking claims") as bar:
        processes = jobs if jobs is not None else 1 if keys else os.cpu_count() or 1
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
        verdict_table(verdicts)
    if any(not verdict.expected for verdict in verdicts if verdict.theorem.guarantee):
        raise typer.Exit(1)


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
            options=_words(option or []),
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


@app.command()
def errata(
    identifier: Annotated[str | None, typer.Argument(help="An erratum's id, to reproduce it now.")] = None,
    as_json: Json = False,
) -> None:
    """Printed statements found wrong, each recomputed as you read."""
    from verify import errata as entries

    from .report import errata_page, errata_table

    rows = [entry.to_dict() for entry in entries(identifier)]
    if as_json:
        print_json(rows)
    elif identifier is None:
        errata_table(rows)
    else:
        errata_page(rows[0])


@app.command()
def figure(
    name: Annotated[str, typer.Argument(help="A figure's name, or all.")],
    edition: Annotated[str, typer.Option(help="stated or published.")] = "stated",
    out: Annotated[Path, typer.Option(help="Folder for NAME.pdf, .png, .csv and .json.")] = Path("out"),
    reuse: Annotated[bool, typer.Option("--reuse", help="Draw again from the CSV and JSON in the folder.")] = False,
) -> None:
    """Draw a figure of the papers, with the data behind every curve."""
    from bounds import InputError
    from figures import FIGURES, redraw
    from figures import figure as draw

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("out", str(out), f"{(error.strerror or 'no folder').lower()}; name a folder") from None
    for entry in FIGURES if name == "all" else (name,):
        try:
            with progress(entry) as report:
                made = redraw(entry, out) if reuse else draw(entry, edition=edition, progress=report)
        except InputError as error:
            if name != "all":
                raise
            typer.echo(f"{entry} left out: {error}", err=True)  # no data at hand, or no such edition
            continue
        for path in made.save(out):
            typer.echo(str(path))


def _version(wanted: bool) -> None:
    if wanted:
        import platform
        from importlib.metadata import version

        names = ("suffice", "numpy", "scipy", "sympy", "torch", "matplotlib")
        typer.echo(" ".join([f"{name} {version(name)}" for name in names] + [f"python {platform.python_version()}"]))
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print versions.")
    ] = False,
) -> None:
    """Options before the subcommand."""


def _words(values: list[str]) -> dict[str, Any]:
    """NAME=VALUE pairs whose values are numbers or words."""
    from bounds import InputError

    words: dict[str, Any] = {}
    for entry in values:
        name, sign, text = entry.partition("=")
        if not sign or not name:
            raise InputError("option", entry, "write NAME=VALUE, for example period=5")
        if name in words:
            raise InputError(name, text, "given twice; give it once")
        try:
            words[name] = float(text)
        except ValueError:
            words[name] = text
    return words


def _assignments(values: list[str]) -> dict[str, Any]:
    from bounds import InputError

    from ..client_data import parse_number

    numbers: dict[str, Any] = {}
    for entry in values:
        name, sign, text = entry.partition("=")
        if not sign or not name:
            raise InputError("argument", entry, "write NAME=VALUE, for example mu=0.5")
        if name in numbers:
            raise InputError(name, text, "given twice; give it once")
        numbers[name] = parse_number(name, text)
    return numbers


def main() -> NoReturn:
    """Entry point: a user's mistake is one line on stderr and exit code 2, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")  # a client's name may not fit the terminal's encoding
    try:
        code = app(standalone_mode=False)
    except SufficeError as error:
        _refuse(str(error))
    except typer.Exit as stop:
        code = stop.exit_code
    except (typer.Abort, KeyboardInterrupt):
        sys.exit(130)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _refuse(f"{where}{error.strerror or error}")
    except Exception as error:
        complaint = getattr(error, "format_message", None)  # typer's own, about the arguments
        if complaint is None:
            raise
        _refuse(" ".join(complaint().split()) + " (suffice --help)")
    sys.exit(code if isinstance(code, int) else 0)


def _refuse(message: str) -> NoReturn:
    typer.echo(f"suffice: {message if len(message) <= 600 else message[:600] + '...'}", err=True)
    sys.exit(2)
