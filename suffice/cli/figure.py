"""The command `suffice figure`."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from suffice.support.progress import progress

from .app import app
from .arguments import texts
from .completion import figure_names, one_of
from .console import echo, listing

OUT = Path("out")
FLAGS = ("data", "seeds")
"""Options of figures that the command has by name."""


@app.command()
def figure(
    name: Annotated[
        str | None,
        typer.Argument(
            help="The figure to draw, or all. Without a name the figures are listed.", autocompletion=figure_names
        ),
    ] = None,
    edition: Annotated[
        str | None,
        typer.Option(
            help="Edition: stated (the paper's text, default) or published (what the released code did).",
            autocompletion=one_of("stated", "published"),
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder into which NAME.pdf, .png, .csv and .json are written.")] = OUT,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder that holds the data files (heart disease, LIBSVM; default: $SUFFICE_DATA)."),
    ] = None,
    seeds: Annotated[str | None, typer.Option(help="Number of runs, or a list of seeds such as 127,496,1729.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            help="A parameter of the figure as NAME=VALUE (n=50, draws=50, agents=10,100). Repeat the option for "
            "several; `help` lists them."
        ),
    ] = None,
    reuse: Annotated[
        bool, typer.Option("--reuse", help="Draw again from the CSV and JSON in the folder, without computing.")
    ] = False,
) -> None:
    """Draw a figure and write the data behind every curve."""
    from suffice.figures import EDITIONS, makers, takes
    from suffice.support.errors import InputError

    given: dict[str, Any] = {} if data is None else {"data": str(data)}
    given |= {} if seeds is None else {"seeds": parse_seeds(seeds)}
    if option == ["help"] and name in makers():
        listing({known: entry.words for known, entry in makers()[name].options.items()})
        return
    if option:
        if name is None or name == "all":
            raise InputError("option", ", ".join(option), "name the one figure to which the option belongs")
        given |= _own(name, option, given)
    said = ({} if edition is None else {"edition": edition}) | given
    if name is None:
        for flag, value in said.items():
            raise InputError(flag, str(value), "name the figure to which the option belongs")
        if reuse:
            raise InputError("reuse", True, "name the figure to which the option belongs")
        return _list_figures()
    if edition is not None and edition not in EDITIONS:
        raise InputError("edition", edition, f"use {' or '.join(EDITIONS)}")
    for flag, value in said.items():
        if reuse:
            raise InputError(flag, str(value), "--reuse computes nothing anew; drop --reuse or this option")
        if name in makers() and flag in given and not takes(name, flag):
            raise InputError(flag, value, _ways(name))
    with _folder(out):
        _draw_all(name, out, edition, given, reuse=reuse)


@contextmanager
def _folder(out: Path) -> Generator[None]:
    """The folder; a new one goes again if nothing was written into it."""
    from suffice.support.files import make_folder

    fresh = not os.path.exists(out)
    make_folder(out, "out")
    try:
        yield
    finally:
        if fresh and not any(out.iterdir()):
            out.rmdir()


def _list_figures() -> None:
    from suffice.figures import makers

    shown = {known: f"{maker.about} [{', '.join(maker.options)}]" for known, maker in makers().items()}
    listing({known: line.removesuffix(" []") for known, line in shown.items()})
    echo("The names in brackets are set by --data, --seeds and --option NAME=VALUE.")


def _draw_all(name: str, out: Path, edition: str | None, given: dict[str, Any], *, reuse: bool) -> None:
    """Draw one figure, or all that can be drawn; say what was written."""
    from suffice.figures import EDITIONS, check_folder, makers, redraw, takes
    from suffice.figures.catalogue import figure as draw
    from suffice.support.errors import InputError

    edited = {} if edition is None else {"edition": edition}
    names = list(makers()) if name == "all" else [name]
    drawn = 0
    for at, entry in enumerate(names, 1):
        # of all figures, each takes the options that it has
        options = given if name != "all" else {key: value for key, value in given.items() if takes(entry, key)}
        try:
            if not reuse:
                check_folder(out, entry, edition or EDITIONS[0])  # before what may take minutes
            with progress(entry if len(names) == 1 else f"{at}/{len(names)} {entry}") as report:
                picture = redraw(entry, out) if reuse else draw(entry, progress=report, **edited, **options)
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


def _ways(name: str) -> str:
    """The options of a figure as they are typed."""
    from suffice.figures import makers

    options = makers()[name].options
    flags = [f"--{option}" for option in options if option in FLAGS]
    own = [f"--option {option}=..." for option in options if option not in FLAGS]
    return f"{name} takes {', '.join(flags + own)}" if options else f"{name} takes no options; drop it"


def _own(name: str, pairs: list[str], given: dict[str, Any]) -> dict[str, Any]:
    """NAME=VALUE pairs as the figure's function takes them: numbers, words, or several separated by commas."""
    from suffice.figures import makers
    from suffice.support.errors import InputError

    if name not in makers():
        return {}  # refused later, with the nearest name
    maker = makers()[name]
    found: dict[str, Any] = {}
    for asked, text in texts("option", pairs, "n=50").items():
        flag = maker.option(asked)
        if flag not in maker.options:
            raise InputError(asked, text, maker.nearest(asked) + _ways(name))
        if flag in given or flag in found:
            raise InputError(asked, text, "given twice; give it once")
        if flag == "seeds":
            found[flag] = parse_seeds(text)
            continue
        one = maker.options[flag]
        values = [_value(asked, word.strip(), one.kind) for word in text.split(",")]
        if len(values) > 1 and not one.several:
            raise InputError(asked, text, "give one")
        found[flag] = tuple(values) if one.several else values[0]
    return found


def _value(flag: str, text: str, kind: str) -> int | float | str:
    from suffice.support.errors import InputError
    from suffice.support.parse import parse_number

    if "str" in kind:
        return text
    if "int" not in kind:
        return parse_number(flag, text)
    try:
        value = parse_number(flag, text)
        if value != round(value):
            raise ValueError
    except (InputError, ValueError, OverflowError):
        raise InputError(flag, text, "give a whole number") from None
    return round(value)


def parse_seeds(text: str) -> int | tuple[int, ...]:
    """How many, or which when there is a comma."""
    from suffice.support.errors import InputError

    try:
        first, *others = (int(word) for word in text.split(","))
    except ValueError:
        raise InputError("seeds", text, "give a number of runs, or a list such as 127,496,1729") from None
    return (first, *others) if others else first
