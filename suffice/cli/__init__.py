"""The command line. Exit codes: 0 done, 1 a check failed, 2 bad input."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import NoReturn

from . import app

COMMANDS = (
    *("campaign", "demo", "doctor", "errata", "figure", "fit"),
    *("plan", "predict", "report", "simulate", "theorem", "verify"),
)
"""The modules beside, one for each command."""


def load(*names: str) -> None:
    """Make commands known, by default all."""
    for name in names or COMMANDS:
        import_module(f".{name}", __name__)


def main() -> NoReturn:
    """Entry point. Only the command that is given is loaded; the list of all is plain, as frames and colours take
    longer to load than the commands."""
    given = sys.argv[1:]
    load(*set(given[:1]) & set(COMMANDS))
    app.main(plain=given == ["--help"])
