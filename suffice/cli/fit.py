"""The command `suffice fit`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .app import Json, app
from .console import echo, later, print_json


@app.command()
def fit(
    setup: Annotated[
        str, typer.Argument(help="A table, a folder, sklearn:NAME, a setup file with rows, or sites' messages.")
    ],
    more: Annotated[list[str] | None, typer.Argument(help="Further messages of sites (suffice.summarise).")] = None,
    client: Annotated[str | None, typer.Option(help="Column of sites (client).")] = None,
    target: Annotated[str | None, typer.Option(help="Column to predict (target).")] = None,
    loss: Annotated[
        str | None, typer.Option(help="auto (by the target), least-squares, logistic or multinomial.")
    ] = None,
    weight: Annotated[str | None, typer.Option(help="Column of weights of rows.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="A column to leave out; repeat for several.")] = None,
    split: Annotated[
        str | None, typer.Option(help="Divide one table: column:NAME, iid:8, contiguous:8, dirichlet:8:0.1, labels:8.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of a random split (0).")] = None,
    max_memory: Annotated[str | None, typer.Option(help="Bytes that a table may take (2e9).")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the models here: .json or .npz.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw it: a .pdf, .png or .svg file, or a folder.")] = None,
    as_json: Json = False,
) -> None:
    """A model per site for new rows, with as much from the others as predicts best."""
    from suffice.bounds import InputError
    from suffice.simulate.data.parse import parse_number

    from .._fit import fit as make

    if out is not None and out.suffix.lower() not in (".json", ".npz"):
        raise InputError("out", str(out), "name a .json or .npz file")
    given: dict[str, Any] = {
        "client": client, "target": target, "loss": loss, "weight": weight, "drop": drop, "split": split, "seed": seed,
        "max_memory": None if max_memory is None else parse_number("max_memory", max_memory),
    }  # fmt: skip
    options = {name: value for name, value in given.items() if value is not None}
    source: Any = setup
    if more or setup.lower().endswith(".json"):
        source = [setup, *(more or ())]
    elif setup.lower().endswith(".toml"):
        from ..setup_file import read_data_table

        source, said = read_data_table(setup)
        options = said | options
    with later("fitting") as report:
        found = make(source, progress=report, **options)
    written = [] if out is None else [found.save(out)]
    if plot is not None:
        written += found.plot().write(plot)
    if as_json:
        print_json(found.to_dict())
        return
    found.table().show()
    for path in written:
        echo(str(path))
