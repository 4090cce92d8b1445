"""Errata of the Scafflix paper and its released code."""

from __future__ import annotations

from suffice.bounds.papers import OWN

from ..erratum import declared, withdraw
from . import released, statements

ERRATA = declared(statements, released)
WITHDRAWN = (
    withdraw(
        OWN["scafflix"],
        "assumption-3-footnote",
        location="Assumption 3",
        claim="A_i >= L_i^2",
        truth="The 2 is the mark of a footnote, which has A_i >= L_i, so that nothing is wrong.",
    ),
)
