"""The command `suffice figure`."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from suffice.support.progress import progress

from .app import app
from .arguments import argument, option, texts
from .console import echo, listing

OUT = Path("out")


@app.command()
def figure(
    name: Annotated[str | None, argument("The figure to draw, or all. Without a name the figures are listed.")] = None,
    edition: Annotated[
        str | None, option("Edition: stated (the paper's text, default) or published (what the released code did).")
    ] = None,
    out: Annotated[Path, option("Folder into which NAME.pdf, .png, .csv and .json are written.")] = OUT,
    data: Annotated[
        Path | None, option("Folder that holds the data files (heart disease, LIBSVM; default: $SUFFICE_DATA).")
    ] = None,
    seeds: Annotated[str | None, option("Number of runs, or a list of seeds such as 127,496,1729.")] = None,
    option: Annotated[
        list[str] | None,
        option(
            "A parameter of the figure as NAME=VALUE (clients=50, agents=10,100). Repeat the option for "
            "several; `help` lists them."
        ),
    ] = None,
) -> None:
    """Draw a figure and write the data behind every curve."""
    from suffice.figures import EDITIONS, makers
    from suffice.support.errors import InputError
    from suffice.support.files import make_folder
    from suffice.support.numbers import as_choice

    if option == ["help"] and name in makers():
        return listing({known: entry.words for known, entry in makers()[name].options.items()})
    flags = [f"{flag}={value}" for flag, value in (("data", data), ("seeds", seeds)) if value is not None]
    if name in (None, "all") and option:
        raise InputError("option", ", ".join(option), "name the one figure to which the option belongs")
    if name is None:
        if flags or edition is not None:
            raise InputError("figure", "missing", "name the figure to which the options belong")
        shown = {known: f"{maker.about} [{', '.join(maker.options)}]" for known, maker in makers().items()}
        listing({known: line.removesuffix(" []") for known, line in shown.items()})
        return echo("The names in brackets are set by --data, --seeds and --option NAME=VALUE.")
    chosen = as_choice("edition", edition or EDITIONS[0], EDITIONS)
    given = _values(name, [*flags, *(option or [])])
    fresh = not out.exists()
    make_folder(out, "out")
    try:
        _draw_all(name, out, chosen, given)
    finally:
        with suppress(OSError):  # a new folder goes again if nothing was written into it
            if fresh:
                out.rmdir()


def _draw_all(name: str, out: Path, edition: str, given: dict[str, Any]) -> None:
    """Draw one figure, or all that can be drawn; say what was written."""
    from suffice.figures import check_folder, makers
    from suffice.figures.catalogue import figure as draw
    from suffice.support.errors import InputError

    names = list(makers()) if name == "all" else [name]
    drawn = 0
    for at, entry in enumerate(names, 1):
        # of all figures, each takes the options that it has
        options = given if name != "all" else {key: given[key] for key in given if key in makers()[entry].options}
        try:
            check_folder(out, entry, edition)  # before what may take minutes
            with progress(entry if len(names) == 1 else f"{at}/{len(names)} {entry}") as report:
                picture = draw(entry, progress=report, edition=edition, **options)
        except InputError as error:
            if name != "all":
                raise
            typer.echo(f"{entry} left out: {error}", err=True)  # no data at hand, or no such edition
            continue
        drawn += 1
        for path in picture.save(out):
            echo(str(path))
        echo(f"{picture.title}. {makers()[entry].differs}")
    if not drawn:
        raise InputError("figure", name, "no figure could be drawn, for the reasons above")


def _values(name: str, pairs: list[str]) -> dict[str, Any]:
    """NAME=VALUE pairs as figures take them: numbers, words, or several separated by commas."""
    from suffice.figures import makers
    from suffice.support.parse import parse_number

    def value(text: str) -> int | float | str:
        if "str" in kind:
            return text.strip()
        number = parse_number(flag, text)
        return round(number) if number % 1 == 0 else number

    known = {option: entry for maker in makers().values() for option, entry in maker.options.items()}
    known |= makers()[name].options if name in makers() else {}
    found: dict[str, Any] = {}
    for flag, text in texts("option", pairs, "clients=50").items():
        several, kind = (known[flag].several, known[flag].kind) if flag in known else (False, "str")
        values = tuple(value(word) for word in (text.split(",") if several else [text]))
        found[flag] = values if several and (flag != "seeds" or len(values) > 1) else values[0]  # so many runs
    return found
