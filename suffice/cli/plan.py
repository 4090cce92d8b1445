"""The command `suffice plan`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.support.progress import PATIENCE, progress

from .app import Json, app
from .completion import of
from .console import echo, print_json
from .data_options import check_exists, is_setup, memory_limit, read_table, refuse_options, takes_data

if TYPE_CHECKING:
    from suffice.planning.plan import Plan
    from suffice.support.tables import Table

SEEDS = 256
MUCH_WORK = 6e10
"""So many multiplications take about a minute."""


@app.command()
@takes_data
def plan(
    setup: Annotated[str, typer.Argument(help="A setup file (TOML), a table, a folder, or sklearn:NAME.")],
    epsilon: Annotated[
        list[str] | None,
        typer.Option(
            help="Excess loss to reach: a number, a share such as 10% of each client's excess over its best constant, "
            "or noise (what its rows can tell, default). Repeat the option for several."
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            help="Where models start: constant (each client's best constant, default) or zero.",
            autocompletion=of("constant", "zero"),
        ),
    ] = None,
    gradients: Annotated[
        str,
        typer.Option(
            help="Gradients to average: preconditioned (multiplied by a matrix if that is faster, default) or plain.",
            autocompletion=of("preconditioned", "plain"),
        ),
    ] = "preconditioned",
    horizon: Annotated[int | None, typer.Option(help="Iterations T, for schedules with a fixed horizon.")] = None,
    confidence: Annotated[
        str | None, typer.Option(help="Allowed probability of not reaching epsilon in time, in (0, 1].")
    ] = None,
    criterion: Annotated[
        str | None,
        typer.Option(
            help="Criterion that weighs peers: binary, continuous or sharp (default: that of the setup file).",
            autocompletion=of("binary", "continuous", "sharp"),
        ),
    ] = None,
    numbers: Annotated[
        bool,
        typer.Option("--numbers", help="Show each client's constants and how reliable they are (needs no --epsilon)."),
    ] = False,
    schedule: Annotated[
        bool, typer.Option("--schedule", help="Look for a three-stage schedule that is faster than a constant step.")
    ] = False,
    simulate: Annotated[bool, typer.Option("--simulate", help="Simulate the plan, for comparison.")] = False,
    seeds: Annotated[int | None, typer.Option(help="Number of runs of --simulate and --methods (default 256).")] = None,
    methods: Annotated[
        bool,
        typer.Option("--methods", help="Measure other methods beside the plan, each at its best step."),
    ] = False,
    root: Annotated[int | None, typer.Option(help="Random root of --simulate and --methods (default 0).")] = None,
    save_csv: Annotated[Path | None, typer.Option("--csv", help="Write the plan to this CSV file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Plot the plan: a .pdf, .png or .svg file, or a folder.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write plan.json, weights.csv and a trainer, train.py, to this folder.")
    ] = None,
    as_json: Json = False,
    *,
    data: dict[str, Any],
) -> None:
    """Plan who should collaborate with whom, at which step size, and how much faster that is."""
    from suffice.planning.constant_prediction import started
    from suffice.planning.plan import MOST_WORK
    from suffice.planning.plan import plan as make
    from suffice.support.errors import InputError
    from suffice.support.parse import parse_number

    if seeds is not None and not (simulate or methods):
        raise InputError("seeds", seeds, "without --simulate nothing is simulated; give both or neither")
    if root is not None and not (simulate or methods):
        raise InputError("root", root, "without --simulate or --methods nothing is random; give one of them too")
    targets = {
        "horizon": horizon,
        "confidence": None if confidence is None else parse_number("confidence", confidence),
    }
    precisions = [_precision(text) for text in epsilon or ()]
    source, request = _request(setup, precisions, criterion, targets, data, numbers=numbers)
    if not precisions and not request["epsilon"] and numbers:
        planned = targets | {"criterion": criterion, "csv": save_csv, "plot": plot, "out": out}
        only_planned = {"simulate": simulate or None, "schedule": schedule or None, "methods": methods or None}
        _statistics_alone(started(source, start), planned | only_planned, as_json)
        return
    with progress("planning", patience=PATIENCE) as report:
        how: dict[str, Any] = {"schedule": schedule, "start": start, "gradients": gradients}
        result = make(source, **(request | memory_limit(data) | how), progress=report)
    _hint(result.problem or source, request["epsilon"])  # what is refused above has one line
    statistics = result.statistics() if numbers else None
    runs_of: dict[str, Any] = {"seeds": SEEDS if seeds is None else seeds, "root": root or 0}
    measured = compared = None
    if simulate:
        work = result.simulation_work(runs_of["seeds"])
        if MUCH_WORK < work <= MOST_WORK:
            typer.echo(f"simulating the plan takes up to {work:.0e} multiplications, at 1e9 a second", err=True)
        with progress("simulating the plan", patience=PATIENCE) as report:
            measured = result.simulate(progress=report, **runs_of)
    if methods:
        from suffice.planning.methods import compare_methods

        with progress("measuring methods", patience=PATIENCE) as report:
            compared = compare_methods(result, progress=report, **runs_of)
    from suffice.planning.tables.csv import write_csv

    written = []
    if save_csv is not None:
        written.append(write_csv(save_csv, result.rows, measured=measured))
    if plot is not None:
        written += result.plot().write(plot)
    if out is not None:
        written += result.export(out, rows=not _has_sites(setup, data))
    if as_json:
        print_json(_answer(result, measured, compared, statistics))
        return
    scheduled = bool(request.get("horizon") or request.get("confidence"))
    for table in _tables(result, measured, compared, statistics, scheduled=scheduled):
        table.show()
    for path in written:
        echo(str(path))


def _answer(result: Plan, measured: Any, compared: Any, statistics: Any) -> dict[str, Any]:
    """The object of `--json`: the plan, and what was asked for beside it."""
    answer = result.to_dict()
    for name, entries in (("break_even", result.break_even()), ("measured", measured)):
        if entries:
            answer[name] = [entry.to_dict() for entry in entries]
    for name, found in (("methods", compared), ("numbers", statistics)):
        if found is not None:
            answer[name] = found.to_dict()
    return answer


def _tables(result: Plan, measured: Any, compared: Any, statistics: Any, *, scheduled: bool) -> list[Table]:
    """The same as tables; with schedules where a horizon or a confidence is given."""
    from suffice.planning.tables import plans, trials
    from suffice.support.tables import Table

    tables = [Table(columns=(), rows=(), lines=[result.lead])] if result.lead else []
    tables += result.tables()
    if measured is not None:
        if result.rows[0].exact is not None:
            tables.append(trials.exact_measured_table(measured))
        elif result.rows[0].measured is not None:
            tables.append(trials.repeated_table(measured))
        tables.append(trials.measured_table(measured))
    if not result.there:
        tables += plans.weights_tables(result.precisions)
    if scheduled:
        tables.append(plans.schedules_table(result.rows))
    if not result.there:
        tables.append(trials.break_even_table(result.break_even()))
    tables += [] if compared is None else compared.tables()
    if statistics is not None:
        tables += [replace(statistics, notes=()).table(), *statistics.pair_tables()]  # the plan has said the notes
    return tables


def _has_sites(setup: str, data: dict[str, Any]) -> bool:
    """Whether a trainer finds every row's site in the file itself."""
    from suffice.simulate.data.text_file import is_csv

    path = Path(setup)
    return path.is_file() and is_csv(path) and ("split" not in data or data["split"].startswith("column:"))


def _precision(text: str) -> float | str:
    from suffice.planning.precision import NOISE
    from suffice.support.errors import InputError
    from suffice.support.parse import parse_number

    if text.strip().endswith("%") or text.strip() == NOISE:
        return text
    try:
        return parse_number("epsilon", text)
    except InputError:
        raise InputError("epsilon", text, "give a number, a share such as 10%, or noise") from None


def _hint(source: Any, precisions: Any) -> None:
    """Say so on stderr where a share was probably meant: a number of less than 1e-6 of every client's start."""
    from suffice.bounds import Constants

    excess = source.excess if isinstance(source, Constants) else source.excess(source.start[None])[0].double()
    for epsilon in precisions or ():
        if isinstance(epsilon, str) or excess is None:
            continue
        share = epsilon / max(float(excess.min()), 1e-300)
        if 0 < share < 1e-6:
            meant = f"{100 * epsilon:g}%" if 1e-3 <= epsilon < 1 else "10%"
            echo(f"epsilon {epsilon:g} is {share:.0e} of the initial excess; did you mean {meant}?", err=True)


def _statistics_alone(source: Any, planned: dict[str, Any], as_json: bool) -> None:
    """`--numbers` without a precision: nothing is planned, and options of a plan are refused."""
    from suffice.bounds import Constants
    from suffice.planning.client_statistics import statistics
    from suffice.support.errors import InputError

    for name, value in planned.items():
        if value is not None:
            raise InputError("epsilon", "missing", f"--{name} needs a plan: give --epsilon 0.1, for example")
    if isinstance(source, Constants):
        raise InputError("numbers", "constants", "a setup without data has no rows; give client data")
    found = statistics(source)
    if as_json:
        print_json({"clients": [], "numbers": found.to_dict()})
        return
    for table in (found.table(), *found.pair_tables()):
        table.show()
    typer.echo("To plan, name a precision below the initial excess by --epsilon.")


def _request(
    setup: str,
    precisions: list[float | str],
    criterion: str | None,
    targets: dict[str, Any],
    data: dict[str, Any],
    *,
    numbers: bool,
) -> tuple[Any, dict[str, Any]]:
    """What is planned for, and the arguments of `suffice.plan`; rows need no precision, nor do `numbers`."""
    from suffice.simulate.setup_file import read_setup
    from suffice.support.errors import InputError

    if not setup:
        raise InputError("setup", setup, "name a setup file, a table or a folder")
    if setup.lower().endswith(".json"):
        remedy = "models of a fit hold no rows to plan for; plan from what they were fitted to: "
        raise InputError("setup", setup, f"{remedy}suffice plan TABLE.csv, or in Python sf.plan(sf.fit(...))")
    if is_setup(setup):
        refuse_options(setup, data)
        chosen = read_setup(setup, target=False, **memory_limit(data))
        rows = getattr(chosen.source, "row_counts", None)
        if not (precisions or numbers or chosen.epsilon or rows):
            read_setup(setup, **memory_limit(data))  # says what is missing
        stated = {"horizon": chosen.horizon, "confidence": chosen.confidence}
        given = {name: value for name, value in targets.items() if value is not None}
        return chosen.source, {
            "epsilon": precisions or chosen.epsilon or (None if rows else []),
            "criterion": criterion or chosen.criterion,
            **stated,
            **given,
        }
    check_exists(setup)
    return read_table(setup, data), {"epsilon": precisions or None, "criterion": criterion, **targets}
