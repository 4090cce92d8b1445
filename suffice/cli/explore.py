"""The command `suffice explore`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

import typer

from .app import app
from .completion import theorem_keys
from .console import PATIENCE, echo, progress


@app.command()
def explore(
    key: Annotated[
        str | None, typer.Argument(help="A theorem or an erratum to open at.", autocompletion=theorem_keys)
    ] = None,
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
    start = "" if key is None else f"#{urlencode(_place(key))}"
    with progress("exact values", patience=PATIENCE) as report:
        written = write(out, start=start, progress=report)
    echo(str(written))
    if not no_open:
        webbrowser.open(f"{written.absolute().as_uri()}{start}")


def _place(key: str) -> dict[str, str]:
    """What the address of the page names: an erratum by its id, or a record; where a part of a key names several, the
    first that is printed and can be evaluated."""
    from suffice.bounds import find
    from suffice.bounds.theorems import rows
    from suffice.verification.errata import ERRATA

    if any(entry.id == key for entry in ERRATA):
        return {"erratum": key}
    found = rows(key)
    record = next((one for one in found if one.edition == "printed" and one.bound), None) or (found or [find(key)])[0]
    return {"key": record.key, "edition": record.edition}
