"""The `suffice` command: its subcommands stand in the modules beside, thin over the Python interface.

The entry point, `suffice.cli.main`, loads the module of the subcommand alone."""

from __future__ import annotations

import os
import re
import sys
import warnings
from typing import Annotated, Any, NoReturn

import typer

app = typer.Typer(
    add_completion=True,
    pretty_exceptions_enable=False,
    help="Theory for collaborative federated learning: check theorems, plan who should collaborate, "
    "fit a model for each client, redraw the papers' figures.",
)
EXAMPLES = """\
Four things to try:

  suffice demo
      a figure, a plan for eight groups of patients, verdicts: about a minute
  suffice plan clients.csv --client hospital --target y --epsilon 10%
      who should collaborate with whom, at which step size, and how much faster
  suffice fit clients.csv --client hospital --target y
      a model for each client that borrows from the others where that helps
  suffice theorem adaptive/theorem-2-constant
      a theorem: its formula, conditions and verdict

suffice --help lists the commands."""
TYPES = {"<list[str]>": "<text>", "<str>": "<text>", "<int>": "<number>", "<bool>": ""}
"""The words of help for types of values; an option that may be repeated says so in its text."""
Json = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]


def _version(wanted: bool) -> None:
    if wanted:
        from suffice.support.versions import versions

        typer.echo(" ".join(f"{name} {found}" for name, found in versions().items()))
        raise typer.Exit


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print versions.")
    ] = False,
) -> None:
    """Options before the subcommand; without one, what to try."""
    if context.invoked_subcommand is None:
        typer.echo(EXAMPLES)


def main(*, plain: bool = False) -> NoReturn:
    """Run the command: a user's mistake is one line on stderr and exit code 2, never a traceback. The list of commands
    is framed, or `plain`."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")  # a client's name may not fit the terminal's encoding
    # a line for the user, without the file and the line of the library
    vars(warnings)["formatwarning"] = lambda message, *_: f"suffice: note: {' '.join(str(message).split())}\n"
    try:
        command: Any = typer.main.get_command(app)
        for option in (option for each in command.commands.values() for option in each.params):
            kind = option.display_type(None)
            option.display_type = lambda _, kind=kind: TYPES.get(kind, kind)
        if plain:
            command.rich_markup_mode = None
            for each in command.commands.values():
                each.short_help = " ".join(each.help.split())  # a long one is cut off, a short one is not
        code = command(standalone_mode=False)
    except typer.Exit as stop:
        code = stop.exit_code
    except (typer.Abort, KeyboardInterrupt):
        sys.exit(130)
    except BrokenPipeError:  # whoever reads, such as `head`, has seen enough; rich ends alike
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _refuse(f"{where}{error.strerror or error}")
    except Exception as error:
        from suffice.support.errors import SufficeError

        if isinstance(error, SufficeError):
            remedy = getattr(error, "remedy", "")
            _refuse(str(error).removesuffix(remedy) + _as_options(remedy))
        complaint = getattr(error, "format_message", None)  # typer's own, about the arguments
        if complaint is None:
            raise
        _refuse(" ".join(complaint().split()) + " (suffice --help)")
    sys.exit(code if isinstance(code, int) else 0)


NAMES = "client|target|drop|split|site|positive|loss|standardise|regularisation"
OPTION = re.compile(rf"\b(by|use|as|or) ({NAMES})( = )?(?=[\s,;.:)]|$)")


def _as_options(message: str) -> str:
    """Remedies name arguments (by client, use loss multinomial), which here are options (by --client); in a setup file
    they are keys of that name."""
    if any(word.lower().endswith(".toml") for word in sys.argv):
        return message
    return OPTION.sub(lambda found: f"{found[1]} --{found[2]}{' ' if found[3] else ''}", message)


def _refuse(message: str) -> NoReturn:
    from suffice.support.text import printable

    message = printable(message)
    typer.echo(f"suffice: {message if len(message) <= 600 else message[:600] + '...'}", err=True)
    sys.exit(2)
