"""These records are stated by this project itself."""

from __future__ import annotations

from ...papers import OWN
from ...theorem import Source


def source(locator: str) -> Source:
    """A result of this project."""
    return Source(paper=OWN["worst-case"].citation, locator=locator)
