"""The command `suffice plan`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from . import sources
from .app import Json, app
from .console import PATIENCE, print_json, progress


@app.command()
def plan(
    setup: Annotated[str, typer.Argument(help="A setup file (TOML), a table, a folder, or sklearn:NAME.")],
    epsilon: Annotated[
        list[str] | None, typer.Option(help="Precision, an excess loss to reach; repeat for several.")
    ] = None,
    horizon: Annotated[int | None, typer.Option(help="Iterations T of the schedules with a fixed end.")] = None,
    confidence: Annotated[
        str | None, typer.Option(help="delta in (0, 1]: allowed probability of not having arrived.")
    ] = None,
    client: sources.Client = None,
    target: sources.Target = None,
    standardise: sources.Standardise = None,
    criterion: Annotated[str | None, typer.Option(help="binary, continuous or sharp, over a setup file's.")] = None,
    standardise_target: sources.StandardiseTarget = None,
    loss: sources.Loss = None,
    regularisation: sources.Regularisation = None,
    intercept: sources.Intercept = None,
    batch: sources.Batch = None,
    split: sources.Split = None,
    seed: sources.Seed = None,
    positive: sources.Positive = None,
    certainty: Annotated[
        str | None, typer.Option(help="Constants of the logistic loss: certified, estimated or everywhere.")
    ] = None,
    numbers: Annotated[
        bool,
        typer.Option("--numbers", help="What the data say of each client, with its trust; alone, no --epsilon."),
    ] = False,
    simulate: Annotated[bool, typer.Option("--simulate", help="Run the plan; measured beside predicted.")] = False,
    seeds: Annotated[int | None, typer.Option(help="Seeds of --simulate (256).")] = None,
    method: Annotated[
        str | None, typer.Option(help="One method of the network table instead of all; a wrong name lists them.")
    ] = None,
    alpha: Annotated[str | None, typer.Option(help="Scafflix's personalisation weight in (0, 1] (0.5).")] = None,
    bootstrap: Annotated[
        int, typer.Option(help="Resample every client's rows this often (50 will do): is the plan stable?")
    ] = 0,
    save_csv: Annotated[Path | None, typer.Option("--csv", help="Write the plan as a table here.")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw matrix and curves: a .pdf, .png or .svg file, or a folder.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Who should collaborate with whom, at which step size, and what it gains."""
    from bounds import InputError

    from ..advice import MOST_WORK
    from ..advice import plan as make
    from ..client_data import parse_number

    weight = ALPHA if alpha is None else parse_number("alpha", alpha)
    if seeds is not None and not simulate:
        raise InputError("seeds", seeds, "nothing is simulated without --simulate; give both or neither")
    if alpha is not None and method is not None and not method.startswith("scafflix"):
        raise InputError("alpha", alpha, f"only Scafflix has it; {method} does not, so drop it")
    data = {
        "client": client, "target": target, "standardise": standardise, "standardise_target": standardise_target,
        "loss": loss, "regularisation": regularisation, "intercept": intercept, "batch": batch, "split": split,
        "seed": seed, "positive": positive, "certainty": certainty,
    }  # fmt: skip
    targets = {
        "horizon": horizon,
        "confidence": None if confidence is None else parse_number("confidence", confidence),
    }
    precisions = [parse_number("epsilon", text) for text in epsilon or ()]
    given = {k: v for k, v in data.items() if v is not None}
    source, request = _request(setup, precisions, criterion, targets, given, numbers=numbers)
    if not request["epsilon"] and numbers:
        planned = targets | {"criterion": criterion, "method": method, "csv": save_csv, "plot": plot, "alpha": alpha}
        _numbers_alone(source, planned | {"simulate": simulate or None}, bootstrap, as_json)
        return
    result = make(source, **request)
    if numbers or bootstrap:
        result.check_rows("bootstrap" if bootstrap else "numbers")
    wanted = result.comparable or method is not None
    if alpha is not None and not wanted:
        raise InputError("alpha", alpha, "of many clients no methods are compared; add --method scafflix")
    runs_of = SEEDS if seeds is None else seeds
    methods = result.methods(method, alpha=weight) if wanted else []
    paying = result.stops_paying() if wanted else []
    measured = runs = stable = known = None
    if simulate:
        work = result.simulation_work(runs_of)
        if MUCH_WORK < work <= MOST_WORK:
            typer.echo(f"simulating the plan: up to {work:.0e} multiplications, about 1e9 a second", err=True)
        with progress("simulating the plan", patience=PATIENCE) as report:
            measured = result.simulate(seeds=runs_of, progress=report)
        with progress("simulating the methods", patience=PATIENCE) as report:
            runs = result.simulate_methods(methods, measured, seeds=runs_of, progress=report)
    if bootstrap:
        with progress("resampling", patience=PATIENCE) as report:
            stable, known = result.uncertainty(resamples=bootstrap, progress=report)
    elif numbers:
        known = result.numbers()
    from ..plan_files import write_csv, write_plot

    written = []
    if save_csv is not None:
        written.append(write_csv(save_csv, result, methods, measured=measured, runs=runs, stability=stable))
    written += [] if plot is None else write_plot(plot, result)
    if as_json:
        answer = result.to_dict()
        answer["methods"] = [entry.to_dict() for entry in methods]
        answer["stops_paying"] = [entry.to_dict() for entry in paying]
        for name, entries in (("measured", measured), ("method_runs", runs), ("stability", stable)):
            if entries is not None:
                answer[name] = [entry.to_dict() for entry in entries]
        if known is not None:
            answer["numbers"] = known.to_dict()
        print_json(answer)
        return
    from . import plan_tables as show

    show.plan_table(result, measured)
    show.weights_table(result)
    if request.get("horizon") or request.get("confidence"):
        show.schedules_table(result)
    if wanted:
        show.methods_table(methods, paying)
    else:
        typer.echo("Many clients: name one method with --method to see its plan for the network.")
    if runs:
        show.runs_table(runs)
    if known is not None and numbers:
        show.numbers_table(known)
    if stable is not None:
        show.stability_table(stable, result)
    for path in written:
        typer.echo(str(path))


def _numbers_alone(source: Any, planned: dict[str, Any], bootstrap: int, as_json: bool) -> None:
    """`--numbers` without a precision: nothing is planned, and options of a plan are refused."""
    from bounds import Constants, InputError

    from ..client_numbers import known_numbers

    for name, value in planned.items():
        if value is not None:
            raise InputError("epsilon", "missing", f"--{name} needs a plan: name a precision too, --epsilon 0.1")
    if isinstance(source, Constants):
        raise InputError("numbers", "constants", "there are no rows behind it; it needs client data")
    with progress("resampling", patience=PATIENCE) as report:
        known = known_numbers(source, resamples=bootstrap, progress=report)
    if as_json:
        print_json({"clients": [], "numbers": known.to_dict()})
        return
    from .plan_tables import numbers_table

    numbers_table(known)
    typer.echo("To plan, name a precision below the initial excess: --epsilon.")


ALPHA = 0.5
SEEDS = 256
MUCH_WORK = 6e10
"""Multiplications: a minute."""


def _request(
    setup: str,
    precisions: list[float],
    criterion: str | None,
    targets: dict[str, Any],
    data: dict[str, Any],
    *,
    numbers: bool,
) -> tuple[Any, dict[str, Any]]:
    """What is planned for, and the arguments of `suffice.plan`; without a precision only when `numbers` are asked."""
    from bounds import InputError

    from ..setup_file import read_setup

    if not setup:
        raise InputError("setup", setup, "name a setup file, a table or a folder")
    if sources.is_setup(setup):
        sources.refuse_options(setup, data)
        chosen = read_setup(setup, target=not precisions and not numbers)
        stated = {"horizon": chosen.horizon, "confidence": chosen.confidence}
        given = {name: value for name, value in targets.items() if value is not None}
        return chosen.source, {
            "epsilon": precisions or chosen.epsilon,
            "criterion": criterion or chosen.criterion,
            **stated,
            **given,
        }
    sources.check_exists(setup)
    if not precisions and not numbers:
        raise InputError(
            "epsilon",
            "missing",
            "name a precision: --epsilon 0.1, an excess loss to reach; --numbers instead shows that at the start",
        )
    return sources.read_table(setup, data), {"epsilon": precisions, "criterion": criterion, **targets}
