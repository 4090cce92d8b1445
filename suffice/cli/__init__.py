"""The command line. Exit codes: 0 done, 1 a check failed, 2 bad input."""

from __future__ import annotations

import atexit
import gc
import sys
from importlib import import_module
from typing import NoReturn

COMMANDS = (
    *("campaign", "demo", "errata", "explore", "figure", "fit"),
    *("plan", "predict", "simulate", "theorem", "train", "verify"),
)
"""The modules beside, one for each command."""


def load(*names: str) -> None:
    """Make commands known, by default all."""
    for name in names or COMMANDS:
        import_module(f".{name}", __name__)


def main() -> NoReturn:
    """Entry point. Only the command that is given is loaded; the list of all is plain, as frames and colours take
    longer to load than the commands."""
    # Torch and SymPy load half a million objects that stay: to search them for garbage, and again at the end, takes 1 s
    gc.set_threshold(100_000)
    atexit.register(gc.freeze)
    try:  # all imports are below: one that is interrupted leaves no traceback either
        given = sys.argv[1:]
        load(*set(given[:1]) & set(COMMANDS))
        from . import app

        app.main(plain=given == ["--help"])
    except KeyboardInterrupt:
        sys.exit(130)
