"""The paper that these records cite."""

from __future__ import annotations

from ...papers import OWN
from ...theorem import Source

_LETTERS = {"beta": "L", "e0": r"\Delta"}


def source(locator: str, **letters: str) -> Source:
    """A place in Hashemi et al. (2024); `letters` are this place's own beside the paper's L and Delta."""
    return Source(paper=OWN["cobo"].citation, locator=locator, symbols=_LETTERS | letters)
