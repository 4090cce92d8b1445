"""The command `suffice report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .app import app
from .console import echo
from .data_options import Drop, Site, Split, Target


@app.command()
def report(
    setup: Annotated[str, typer.Argument(help="A table, a folder, sklearn:NAME or a setup file (TOML).")],
    out: Annotated[Path, typer.Option(help="The HTML file to write.")] = Path("report.html"),
    epsilon: Annotated[
        str | None, typer.Option(help="Precision of the plan, as suffice plan takes it (default: what rows can tell).")
    ] = None,
    client: Site = None,
    target: Target = None,
    drop: Drop = None,
    split: Split = None,
) -> None:
    """Write a self-contained HTML report: data, models, plan, plots, and how reliable each number is."""
    import sys

    from suffice.figures.report import report as write
    from suffice.planning.precision import NOISE
    from suffice.support.errors import InputError
    from suffice.support.parse import parse_number

    if out.suffix.lower() not in (".html", ".htm"):
        raise InputError("out", str(out), "name a .html file")
    named = epsilon is None or epsilon.strip().endswith("%") or epsilon.strip() == NOISE
    precision = epsilon if named else parse_number("epsilon", epsilon)
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
