"""The command `suffice predict`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from suffice.support.tables import some

from .app import Json, app
from .arguments import option
from .console import echo, print_json

MODEL = "Models saved by `suffice fit --out`, or models.npz of `suffice train`."
NETWORK = "The package.module:Factory of a network of one's own, which is imported."
PROBABILITIES = "For a classifier, write the probability of each class as a column."


@app.command()
def predict(
    model: Annotated[str, typer.Argument(help=MODEL)],
    file: Annotated[str, typer.Argument(help="CSV with the columns of the training data; the target may be missing.")],
    client: Annotated[str | None, option("Column that names the client (default: as in the fit).")] = None,
    site: Annotated[str | None, option("The client of all rows, where no column names it.")] = None,
    network: Annotated[str | None, option(NETWORK)] = None,
    keep: Annotated[bool, option("Write the predictions beside the file's own columns.", "--keep")] = False,
    as_probabilities: Annotated[bool, option(PROBABILITIES, "--probabilities")] = False,
    out: Annotated[Path | None, option("Write the predictions to this CSV file (default: print them).")] = None,
    as_json: Json = False,
) -> None:
    """Predict new rows with their clients' models; unknown clients get the population's model, or the mean of all
    networks' predictions."""
    from suffice.fitting.new_rows import new_rows
    from suffice.simulate.data.csv_file import TextFile
    from suffice.support.files import make_folder, write_whole
    from suffice.support.text import csv_text

    fit, of_unknown = _models(model, network)
    fit = fit if client is None else replace(fit, client=client)
    path = Path(file)
    rows = new_rows(fit, path, site)
    values, sites, lines = fit.labels(rows.scores).tolist(), rows.sites, rows.lines
    shares = fit.shares(rows.scores).tolist() if as_probabilities else [[]] * len(lines)
    unknown = [name for name in dict.fromkeys(sites) if name not in fit.by_name]
    if as_json:
        shown = {name: list(new) for name, new in rows.levels.items()}
        answer = {"line": lines, "site": sites, "prediction": values, "population": unknown, "unknown_levels": shown,
                  "filled": rows.filled, "far": {name: len(far) for name, far in rows.far.items()}}  # fmt: skip
        print_json(answer | ({"classes": fit.classes, "probabilities": shares} if as_probabilities else {}))
        return
    if unknown:
        named = some([name or "rows without a site" for name in unknown])
        echo(f"suffice: not fitted, so predicted by {of_unknown}: {named}", err=True)
    for line in rows.warnings(fit):
        echo(f"suffice: {line}", err=True)
    own = TextFile(path, fit.needed.__contains__) if keep else None
    header, cells = ("line", "site"), zip(lines, sites)
    if own:
        header, cells = own.header, (row for frame, _ in own.pieces() for row in frame.iter_rows())
    name = "prediction" if "prediction" not in header else f"prediction of {fit.target}"
    of_classes = [f"probability of {kind}" for kind in fit.classes if as_probabilities]
    table = [(*header, name, *of_classes), *((*row, value, *more) for row, value, more in zip(cells, values, shares))]
    text = csv_text(table, *((own.separator, own.decimal) if own else ()))
    if out is None:
        typer.echo(text, nl=False)
        return
    make_folder(out.parent, "out")
    echo(str(write_whole(out, text.encode())))


def _models(path: str, network: str | None) -> tuple[Any, str]:
    """The models of a file, and what predicts the rows of a client that has none."""
    if Path(path).suffix == ".npz":
        from suffice.training.saved_networks import read_networks

        return read_networks(path, network), "the mean of all networks"
    from suffice.fitting.fitted import load

    return load(path), "the population's model"
