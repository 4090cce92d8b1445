"""The paper that these records cite, and its letters."""

from __future__ import annotations

from ...papers import OWN
from ...theorem import Source


def source(locator: str) -> Source:
    """A place in Yi, Condat, Richtarik (2023), which prints n for the number of clients and L_i, gamma_i."""
    return Source(
        paper=OWN["scafflix"].citation,
        locator=locator,
        symbols={"N": "n", "beta": "L_i", "batch": "m", "sigma2": r"\sigma_i^2"},
    )
