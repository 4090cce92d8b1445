"""The command `suffice fit`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from suffice.support.progress import progress

from .app import Json, app
from .console import echo, print_json, run_next
from .data_options import Client, Drop, Split, Target, has_sites, option

SETUP = r"A table, a folder, sklearn:NAME, a setup file with \[data], or messages from clients."
LOSS = "Loss: auto (from the target, default), least-squares, logistic or multinomial."


@app.command()
def fit(
    setup: Annotated[str, typer.Argument(help=SETUP)],
    more: Annotated[list[str] | None, typer.Argument(help="More messages from clients (suffice.summarise).")] = None,
    client: Client = None,
    target: Target = None,
    loss: Annotated[str | None, option(LOSS)] = None,
    drop: Drop = None,
    split: Split = None,
    seed: Annotated[int | None, option("Seed of a random split (default 0).")] = None,
    keep: Annotated[list[str] | None, option("Client not to leave out. Repeat it for several.")] = None,
    max_memory: Annotated[str | None, option("Memory limit in bytes for the table (default 2e9).")] = None,
    out: Annotated[Path | None, option("Save the models to this .json file.")] = None,
    plot: Annotated[Path | None, option("Plot influence and gains: a .pdf, .png or .svg file, or a folder.")] = None,
    as_json: Json = False,
) -> None:
    """Fit a model for each client, a site for example, that borrows from the others where that improves predictions."""
    from suffice.fitting.fit import fit as make
    from suffice.support.errors import InputError
    from suffice.support.parse import parse_number
    from suffice.support.tables import console

    if out is not None and out.suffix.lower() != ".json":
        raise InputError("out", str(out), "name a .json file")
    given = {"client": client, "target": target, "loss": loss, "drop": drop, "split": split, "seed": seed, "keep": keep}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if max_memory is not None:
        options["max_memory"] = parse_number("max_memory", max_memory)
    source: Any = setup
    if more or setup.lower().endswith(".json"):
        source = [setup, *(more or ())]
    elif setup.lower().endswith(".toml"):
        from suffice.simulate.setup_file import read_data_table

        source, said = read_data_table(setup)
        options = said | options
    with progress("fitting", after=2) as report:
        found = make(source, progress=report, **options)
    written = [] if out is None else [found.save(out)]
    if plot is not None:
        written += found.plot().write(plot)
    if as_json:
        print_json(found.to_dict())
        return
    found.table(console().width).show()
    for path in written:
        echo(str(path))
    _next(setup, out, sites=source == setup and has_sites(setup, split))


def _next(setup: str, out: Path | None, *, sites: bool) -> None:
    """Suggest what to run next: a command that saves the models, predicts by them, or shows them."""
    if out is None:
        run_next("saves the models", *sys.argv[1:], "--out", "models.json")
    elif sites:
        run_next("predictions of these rows, or of new ones", "predict", out, setup)
    else:
        run_next("who learns from whom, in a picture", *sys.argv[1:], "--plot", "fit.png")
