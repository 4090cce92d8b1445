"""The command line. Exit codes: 0 done, 1 a check failed, 2 bad input."""

from __future__ import annotations

from . import campaign, demo, errata, figure, plan, simulate, theorem, verify
from .app import main as main

__all__ = ["campaign", "demo", "errata", "figure", "main", "plan", "simulate", "theorem", "verify"]
