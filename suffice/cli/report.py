"""The command `suffice report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .app import app
from .console import echo


@app.command()
def report(
    setup: Annotated[str, typer.Argument(help="A table, a folder, sklearn:NAME or a setup file.")],
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("report.html"),
    epsilon: Annotated[
        str, typer.Option(help="Precision of the plan: an excess loss, or 10% of each client's own at the start.")
    ] = "10%",
    client: Annotated[str | None, typer.Option(help="Column of sites (client).")] = None,
    target: Annotated[str | None, typer.Option(help="Column to predict (target).")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="A column to leave out; repeat for several.")] = None,
    split: Annotated[
        str | None, typer.Option(help="Divide one table: column:NAME, iid:8, contiguous:8, dirichlet:8:0.1, labels:8.")
    ] = None,
) -> None:
    """Write one HTML page to pass on: data, models, plan, pictures, and what is exact, guaranteed or estimated."""
    import sys

    from suffice.bounds import InputError
    from suffice.simulate.data.parse import parse_number

    from .._report import report as write

    if out.suffix.lower() not in (".html", ".htm"):
        raise InputError("out", str(out), "name a .html file")
    precision = epsilon.strip() if epsilon.strip().endswith("%") else parse_number("epsilon", epsilon)
    given: dict[str, Any] = {"client": client, "target": target, "drop": drop, "split": split}
    terminal = sys.stderr is not None and sys.stderr.isatty()
    echo(
        str(
            write(
                setup,
                out,
                epsilon=precision,
                progress=(lambda part: echo(f"suffice: {part}", err=True)) if terminal else None,
                **{name: value for name, value in given.items() if value is not None},
            )
        )
    )
