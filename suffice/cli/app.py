"""The `suffice` command: its subcommands stand in the modules beside, thin over the Python interface."""

from __future__ import annotations

import os
import sys
from typing import Annotated, NoReturn

import typer

from suffice.bounds import SufficeError, printable

app = typer.Typer(
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    help="Is the theorem true, what should I run, and what does it look like: "
    "bounds, plans, verdicts and figures for collaborative federated learning.",
)
Json = Annotated[bool, typer.Option("--json", help="Machine output on stdout.")]


def _version(wanted: bool) -> None:
    if wanted:
        import platform
        from importlib.metadata import version

        names = ("suffice", "numpy", "scipy", "sympy", "torch", "matplotlib")
        typer.echo(" ".join([f"{name} {version(name)}" for name in names] + [f"python {platform.python_version()}"]))
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print versions.")
    ] = False,
) -> None:
    """Options before the subcommand."""


def main() -> NoReturn:
    """Entry point: a user's mistake is one line on stderr and exit code 2, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")  # a client's name may not fit the terminal's encoding
    try:
        code = app(standalone_mode=False)
    except SufficeError as error:
        _refuse(str(error))
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
        complaint = getattr(error, "format_message", None)  # typer's own, about the arguments
        if complaint is None:
            raise
        words = complaint().split()
        if not words:  # no command at all: the help has been shown
            sys.exit(2)
        _refuse(" ".join(words) + " (suffice --help)")
    sys.exit(code if isinstance(code, int) else 0)


def _refuse(message: str) -> NoReturn:
    message = printable(message)
    typer.echo(f"suffice: {message if len(message) <= 600 else message[:600] + '...'}", err=True)
    sys.exit(2)
