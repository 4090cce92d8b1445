"""The command `suffice plan`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .app import Json, app
from .console import print_json, progress


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
    client: Annotated[str | None, typer.Option(help="Client column of a CSV (client).")] = None,
    target: Annotated[str | None, typer.Option(help="Target column of a CSV (target).")] = None,
    standardise: Annotated[str | None, typer.Option(help="Predictors: client (default), pooled or none.")] = None,
    criterion: Annotated[str | None, typer.Option(help="binary, continuous or sharp, over a setup file's.")] = None,
    standardise_target: Annotated[
        bool | None, typer.Option("--standardise-target", help="Standardise the target over all clients.")
    ] = None,
    loss: Annotated[str | None, typer.Option(help="Of data: least-squares (default) or logistic.")] = None,
    regularisation: Annotated[str | None, typer.Option(help="r in (r/2) |theta|^2 (0).")] = None,
    intercept: Annotated[
        bool | None, typer.Option("--intercept/--no-intercept", help="A column of ones (with).")
    ] = None,
    batch: Annotated[int | None, typer.Option(help="Rows that one stochastic gradient averages (1).")] = None,
    split: Annotated[
        str | None,
        typer.Option(help="Divide one table: contiguous:8, iid:8, dirichlet:8:0.1, labels:8, column:NAME."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of a random split (0).")] = None,
    positive: Annotated[list[str] | None, typer.Option(help="A label that is class 1; repeat for several.")] = None,
    certainty: Annotated[
        str | None, typer.Option(help="Constants of the logistic loss: certified, estimated or everywhere.")
    ] = None,
    numbers: Annotated[
        bool, typer.Option("--numbers", help="What the data say of each client, every number with its trust.")
    ] = False,
    simulate: Annotated[bool, typer.Option("--simulate", help="Run the plan; measured beside predicted.")] = False,
    seeds: Annotated[int, typer.Option(help="Seeds of --simulate.")] = 256,
    method: Annotated[
        str | None, typer.Option(help="One method of the network table instead of all; a wrong name lists them.")
    ] = None,
    alpha: Annotated[str, typer.Option(help="Scafflix's personalisation weight in (0, 1].")] = "0.5",
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
    from ..advice import MOST_WORK
    from ..advice import plan as make
    from ..client_data import parse_number

    weight = parse_number("alpha", alpha)
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
    source, request = _request(setup, precisions, criterion, targets, {k: v for k, v in data.items() if v is not None})
    result = make(source, **request)
    if numbers or bootstrap:
        result.check_rows("bootstrap" if bootstrap else "numbers")
    wanted = result.comparable or method is not None
    methods = result.methods(method, alpha=weight) if wanted else []
    paying = result.stops_paying() if wanted else []
    measured = runs = stable = known = None
    if simulate:
        work = result.simulation_work(seeds)
        if MUCH_WORK < work <= MOST_WORK:
            typer.echo(f"simulating the plan: up to {work:.0e} multiplications, about 1e9 a second", err=True)
        with progress("simulating the plan", patience=PATIENCE) as report:
            measured = result.simulate(seeds=seeds, progress=report)
        with progress("simulating the methods", patience=PATIENCE) as report:
            runs = result.simulate_methods(methods, measured, seeds=seeds, progress=report)
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


MUCH_WORK = 6e10
"""Multiplications: a minute."""
PATIENCE = 10.0
"""Seconds after which work that nobody watches says on stderr how long it will take."""


def _request(
    setup: str, precisions: list[float], criterion: str | None, targets: dict[str, Any], data: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """What is planned for, and the arguments of `suffice.plan`."""
    from bounds import InputError

    from ..client_data import as_label, parse_number, read
    from ..datasets import PREFIX
    from ..setup_file import read_setup

    if not setup:
        raise InputError("setup", setup, "name a setup file, a table or a folder")
    if setup.lower().endswith(".toml"):
        if data:
            name = next(iter(data)).replace("_", "-")
            raise InputError(f"--{name}", setup, "a setup file says this in its [data] table; drop the option")
        chosen = read_setup(setup, target=not precisions)
        stated = {"horizon": chosen.horizon, "confidence": chosen.confidence}
        given = {name: value for name, value in targets.items() if value is not None}
        return chosen.source, {
            "epsilon": precisions or chosen.epsilon,
            "criterion": criterion or chosen.criterion,
            **stated,
            **given,
        }
    if not (Path(setup).exists() or setup.startswith(PREFIX)):
        raise InputError("setup", setup, "no such file or folder")
    if not precisions:
        raise InputError(
            "epsilon",
            "missing",
            "name a precision: --epsilon 0.1, an excess loss to reach; --numbers shows it at the start",
        )
    if "regularisation" in data:
        data["regularisation"] = parse_number("regularisation", data["regularisation"])
    if "positive" in data:
        data["positive"] = [as_label(text) for text in data["positive"]]
    return read(setup, **data), {"epsilon": precisions, "criterion": criterion, **targets}
