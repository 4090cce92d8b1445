"""The command line. Exit codes: 0 done, 1 a check failed, 2 bad input."""

from __future__ import annotations

from .app import main as main
