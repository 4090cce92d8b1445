"""The command `suffice simulate`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.support.errors import InputError
from suffice.support.parse import parse_number
from suffice.support.progress import progress
from suffice.support.tables import Table, number, shortened
from suffice.support.text import printable

from .app import Json, app
from .arguments import Parameters, words
from .console import print_json, run_next
from .data_options import DataOptions, grouped, option, source_of

if TYPE_CHECKING:
    from suffice.simulate.experiment import Experiment

ALGORITHM = "Algorithm to run: local, all-for-one, cobo, scafflix, ... An unknown name lists all of them."
MOST_CLIENTS, PER_TABLE = 10, 3
"""So many clients are shown at most, and so many of them stand side by side."""
LONGEST = 14
"""A name is cut to so many characters."""


@app.command()
@grouped
def simulate(
    setup: Annotated[
        str, typer.Argument(help=r"A setup file with \[problem] or \[data], a table, a folder, or sklearn:NAME.")
    ],
    algorithm: Annotated[str, option(ALGORITHM)],
    iterations: Annotated[int, option("Number of iterations.")] = 100,
    seeds: Annotated[int, option("Number of independent runs.")] = 64,
    eta: Annotated[str | None, option("Step size (default: half of the step limit, which is printed).")] = None,
    parameters: Parameters = None,
    points: Annotated[int, option("Number of evenly spaced iterations to report.")] = 11,
    root: Annotated[int, option("Root from which all random numbers are derived.")] = 0,
    out: Annotated[Path | None, option("Save every path to this .npz file.")] = None,
    as_json: Json = False,
    *,
    data: DataOptions,
) -> None:
    """Simulate an algorithm with many seeds at once."""
    from suffice.simulate.experiment import simulated

    if points < 2:
        raise InputError("points", points, "give at least 2")
    source, _ = source_of(setup, data)
    step = None if eta is None else parse_number("eta", eta)
    how: dict[str, Any] = {"iterations": iterations, "seeds": seeds, "eta": step, "points": points, "root": root}
    with progress("simulating") as report:
        run = simulated(source, algorithm, **how, options=words(parameters or []), progress=report)
    if out is not None:
        run.trace.save(out)
    if as_json:
        print_json(run.to_dict())
        return
    for table in simulation_tables(run):
        table.show()
    remarks = [f"The step is {run.eta:.3g}: {run.step_from}.", *(f"Note: {note}" for note in run.notes)]
    Table(columns=(), rows=(), lines=[*remarks, *(f"warning: {warning}" for warning in run.warnings)]).show()
    if algorithm == "local" or parameters or eta:
        run_next("half of the standard errors", *sys.argv[1:], "--seeds", 4 * seeds)
    else:
        run_next("each client alone, to compare", *sys.argv[1:], "--algorithm", "local")


def answer(run: Experiment) -> str:
    """A sentence on what the algorithm did in the mean of the clients, and one on what the table below shows."""
    mean, trace = run.trace.mean(), run.trace
    first, last = (float(mean[at].mean()) for at in (0, -1))
    way = "lowers" if last < first else "raises" if last > first else "leaves"
    moved = f"from {number(first, 4)} to {number(last, 4)}" if last != first else f"at {number(first, 4)}"
    return (
        f"{trace.algorithm} {way} the excess loss, in the mean of {len(run.problem.names)} clients, {moved} in "
        f"{trace.iterations[-1]:,} iterations. Below: the mean over {len(trace.seeds)} seeds (and its standard error)."
    )


def simulation_tables(run: Experiment) -> list[Table]:
    """Mean excess over seeds per client at each grid point, with standard errors and costs."""
    trace, names = run.trace, run.problem.names
    mean, error = run.trace.mean(), run.trace.standard_error()
    error[error < 1e-12 * mean] = 0  # rounding of equal numbers
    tables, shown = [], min(len(names), MOST_CLIENTS)
    for begin in range(0, shown, PER_TABLE):
        some = range(begin, min(begin + PER_TABLE, shown))
        columns = ("iteration", *shortened([printable(names[i]) for i in some], LONGEST))
        rows = [
            (str(t), *(f"{number(mean[at, i].item())} ({number(error[at, i].item(), 2)})" for i in some))
            for at, t in enumerate(trace.iterations)
        ]
        tables.append(Table(title="" if begin else answer(run), columns=columns, numeric=columns, rows=rows))
    columns = ("iteration", "oracle calls", "vectors sent")
    costs = zip(trace.iterations, trace.oracle_calls, trace.vectors_sent)
    rows = [(str(t), f"{calls:,.0f}", f"{sent:,.0f}") for t, calls, sent in costs]
    more = [f"{len(names) - shown} more clients are in --json."] if shown < len(names) else []
    return [*tables, Table(columns=columns, numeric=columns, rows=rows, lines=more)]
