"""The command line. Exit codes: 0 done, 1 a check failed, 2 bad input."""

from __future__ import annotations

from . import campaign, demo, doctor, errata, figure, fit, plan, predict, report, simulate, theorem, verify
from .app import main as main

__all__ = [
    "campaign",
    "demo",
    "doctor",
    "errata",
    "figure",
    "fit",
    "main",
    "plan",
    "predict",
    "report",
    "simulate",
    "theorem",
    "verify",
]
