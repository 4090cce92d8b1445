"""Commands that draw: demo, figure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .app import app
from .console import progress

if TYPE_CHECKING:
    pass


@app.command()
def demo(out: Annotated[Path, typer.Option(help="Where the figure goes.")] = Path("out")) -> None:
    """The main job in under a minute: Figure 1, a plan for eight clients, verdicts, errata."""
    from .demo import run_demo

    if not run_demo(out):
        raise typer.Exit(1)


@app.command()
def figure(
    name: Annotated[str, typer.Argument(help="A figure's name, or all.")],
    edition: Annotated[str, typer.Option(help="stated or published.")] = "stated",
    out: Annotated[Path, typer.Option(help="Folder for NAME.pdf, .png, .csv and .json.")] = Path("out"),
    reuse: Annotated[bool, typer.Option("--reuse", help="Draw again from the CSV and JSON in the folder.")] = False,
) -> None:
    """Draw a figure of the papers, with the data behind every curve."""
    from bounds import InputError
    from figures import FIGURES, redraw
    from figures import figure as draw

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("out", str(out), f"{(error.strerror or 'no folder').lower()}; name a folder") from None
    for entry in FIGURES if name == "all" else (name,):
        try:
            with progress(entry) as report:
                made = redraw(entry, out) if reuse else draw(entry, edition=edition, progress=report)
        except InputError as error:
            if name != "all":
                raise
            typer.echo(f"{entry} left out: {error}", err=True)  # no data at hand, or no such edition
            continue
        for path in made.save(out):
            typer.echo(str(path))
