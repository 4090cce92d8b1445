"""The command `suffice predict`."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ..render import some
from .app import Json, app
from .console import echo, print_json


@app.command()
def predict(
    model: Annotated[str, typer.Argument(help="Models saved by `suffice fit --out`.")],
    file: Annotated[str, typer.Argument(help="CSV with the columns of the training data; the target may be missing.")],
    client: Annotated[str | None, typer.Option(help="Column that names the site (default: as in the fit).")] = None,
    site: Annotated[str | None, typer.Option(help="Site of all rows, if no column names it.")] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Put the prediction beside the file's own columns.")] = False,
    as_probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Of classes: one column for each, its probability.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="CSV file for the predictions (default: print).")] = None,
    as_json: Json = False,
) -> None:
    """Predict new rows with their sites' models; unknown sites get the population's model."""
    from suffice.bounds import InputError, csv_text, make_folder, write_whole
    from suffice.simulate.data.csv_frame import csv_frames, csv_rows
    from suffice.simulate.data.csv_lines import Dialect, dialect_of
    from suffice.simulate.data.memory import as_path

    from ..fitted import load

    fit = load(model)
    fit = fit if client is None else replace(fit, client=client)
    path = as_path("file", file)
    if not path.is_file():
        raise InputError("file", str(path), "no such file")
    sites: list[str] = []
    lines: list[int] = []
    levels: dict[str, dict[str, None]] = {}
    values: list[float | str] = []
    shares: list[list[float]] = []
    dialect = dialect_of(path, fit.needed.__contains__)
    for frame in csv_frames(path, dialect):
        with warnings.catch_warnings(action="ignore"):  # of new levels, which are gathered and said once below
            values += fit.predict(frame, site=site).tolist()
            shares += fit.probabilities(frame, site=site).tolist() if as_probabilities else [[]] * frame.rows
        sites += [site] * frame.rows if site is not None else [name or "" for name in frame.texts(fit.client).tolist()]
        lines += frame.lines
        for name, new in fit.unknown_levels(frame).items():
            levels.setdefault(name, {}).update(dict.fromkeys(new))
    unknown = [name for name in dict.fromkeys(sites) if name not in fit.by_name]
    if as_json:
        shown = {name: list(new) for name, new in levels.items()}
        answer = {"line": lines, "site": sites, "prediction": values, "population": unknown, "unknown_levels": shown}
        print_json(answer | ({"classes": fit.classes, "probabilities": shares} if as_probabilities else {}))
        return
    if unknown:
        named = some([name or "rows without a site" for name in unknown])
        echo(f"suffice: not fitted, so predicted by the population's model: {named}", err=True)
    for name, new in levels.items():
        reference = fit.encoding.references.get(name, "the reference level")
        echo(f"suffice: no row of the fit had {name} = {some(list(new))}: predicted as {reference}", err=True)
    header, *cells = csv_rows(path, dialect) if keep else [["line", "site"], *map(list, zip(lines, sites))]
    name = "prediction" if "prediction" not in header else f"prediction of {fit.target}"
    of_classes = [f"probability of {kind}" for kind in fit.classes if as_probabilities]
    rows = [(*header, name, *of_classes), *((*row, value, *more) for row, value, more in zip(cells, values, shares))]
    written = dialect if keep else Dialect()
    text = csv_text(rows, written.separator, written.decimal)
    if out is None:
        typer.echo(text, nl=False)
        return
    make_folder(out.parent, "out")
    echo(str(write_whole(out, text.encode())))
