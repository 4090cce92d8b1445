"""The paper that these records cite."""

from __future__ import annotations

from ...papers import OWN
from ...theorem import Source


def source(locator: str, **symbols: str) -> Source:
    """A place in Philippenko et al. (2025), with the letters of this statement where they differ."""
    return Source(paper=OWN["adaptive"].citation, locator=locator, symbols=symbols)
