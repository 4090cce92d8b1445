"""The command `suffice explore`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .app import app
from .console import echo


@app.command()
def explore(
    key: Annotated[str | None, typer.Argument(help="A theorem or an erratum to open at.")] = None,
    out: Annotated[Path, typer.Option(help="File to write.")] = Path("explore.html"),
    no_open: Annotated[bool, typer.Option("--no-open", help="Write the page without opening it.")] = False,
) -> None:
    """Write one HTML page with every bound to move, its conditions, its errata and the truth, and open it."""
    import webbrowser

    from suffice.explorer import explore as write
    from suffice.support.errors import InputError

    if out.suffix.lower() not in (".html", ".htm"):
        raise InputError("out", str(out), "name a .html file")
    if not out.absolute().parent.is_dir():
        raise InputError("out", str(out), "its folder does not exist; name another")
    written = write(out, key)
    echo(str(written))
    if not no_open:
        webbrowser.open(written.absolute().as_uri())
