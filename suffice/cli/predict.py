"""The command `suffice predict`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .app import Json, app
from .console import echo, print_json


@app.command()
def predict(
    model: Annotated[str, typer.Argument(help="Models that `suffice fit --out` wrote.")],
    file: Annotated[str, typer.Argument(help="A CSV with the same columns; the target is not needed.")],
    site: Annotated[str | None, typer.Option(help="Site of all rows, where the file has no column of sites.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write a CSV of predictions here instead of printing it.")] = None,
    as_json: Json = False,
) -> None:
    """Predict new rows by the models of their sites; a site that was not fitted gets the population's."""
    from suffice.bounds import InputError, csv_text, make_folder, write_whole
    from suffice.simulate.data.csv_frame import csv_frames
    from suffice.simulate.data.memory import as_path

    from ..fitted import load

    fit = load(model)
    path = as_path("file", file)
    if not path.is_file():
        raise InputError("file", str(path), "no such file")
    sites: list[str] = []
    values: list[float | str] = []
    for frame in csv_frames(path):
        values += fit.predict(frame, site=site).tolist()
        sites += [site] * frame.rows if site is not None else [str(name) for name in frame.texts(fit.client).tolist()]
    unknown = [name for name in dict.fromkeys(sites) if name not in fit.by_name]
    if as_json:
        print_json({"site": sites, "prediction": values, "population": unknown})
        return
    if unknown:
        shown = ", ".join(unknown[:12]) + (f" and {len(unknown) - 12} more" if len(unknown) > 12 else "")
        echo(f"suffice: not fitted, so predicted by the population's model: {shown}", err=True)
    text = csv_text([("site", "prediction"), *zip(sites, values)])
    if out is None:
        typer.echo(text, nl=False)
        return
    make_folder(out.parent, "out")
    echo(str(write_whole(out, text.encode())))
