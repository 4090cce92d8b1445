"""Commands that draw: demo, figure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .app import app
from .console import progress


@app.command()
def demo(out: Annotated[Path, typer.Option(help="Where the figure goes.")] = Path("out")) -> None:
    """The main job in under a minute: Figure 1, a plan for eight clients, verdicts, errata."""
    from .demo import run_demo

    if not run_demo(out):
        raise typer.Exit(1)


@app.command()
def figure(
    name: Annotated[str | None, typer.Argument(help="A figure's name, or all; given none, the names.")] = None,
    edition: Annotated[str, typer.Option(help="stated or published.")] = "stated",
    out: Annotated[Path, typer.Option(help="Folder for NAME.pdf, .png, .csv and .json.")] = Path("out"),
    data: Annotated[
        Path | None, typer.Option(help="Folder of the data files (heart disease, LIBSVM), instead of SUFFICE_DATA.")
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(help="Number of runs, or which as 127,496,1729, for figures that average over some.")
    ] = None,
    reuse: Annotated[bool, typer.Option("--reuse", help="Draw again from the CSV and JSON in the folder.")] = False,
) -> None:
    """Draw a figure of the papers, with the data behind every curve."""
    from bounds import InputError
    from figures import EDITIONS, FIGURES, redraw, takes
    from figures import figure as draw

    if name is None:
        for known in FIGURES:
            typer.echo(known)
        return
    if edition not in EDITIONS:
        raise InputError("edition", edition, f"use {' or '.join(EDITIONS)}")
    given: dict[str, Any] = {
        "data": None if data is None else str(data),
        "seeds": None if seeds is None else parse_seeds(seeds),
    }
    given = {option: value for option, value in given.items() if value is not None}
    for option, value in given.items():
        if reuse:
            raise InputError(option, str(value), "nothing is computed anew with --reuse; drop one of the two")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("out", str(out), f"{(error.strerror or 'no folder').lower()}; name a folder") from None
    names = list(FIGURES) if name == "all" else [name]
    drawn = 0
    for at, entry in enumerate(names, 1):
        # of all figures, each takes the options that it has
        options = given if name != "all" else {key: value for key, value in given.items() if takes(entry, key)}
        try:
            with progress(entry if len(names) == 1 else f"{at}/{len(names)} {entry}") as report:
                made = redraw(entry, out) if reuse else draw(entry, edition=edition, progress=report, **options)
        except InputError as error:
            if name != "all":
                raise
            typer.echo(f"{entry} left out: {error}", err=True)  # no data at hand, or no such edition
            continue
        drawn += 1
        for path in made.save(out):
            typer.echo(str(path))
    if not drawn:
        raise InputError("figure", name, "none could be drawn, for the reasons above")


def parse_seeds(text: str) -> int | tuple[int, ...]:
    """How many, or which when there is a comma."""
    from bounds import InputError

    try:
        first, *others = (int(word) for word in text.split(","))
    except ValueError:
        raise InputError("seeds", text, "give how many, or which as 127,496,1729") from None
    return (first, *others) if others else first
