"""The paper that these records cite."""

from __future__ import annotations

from ...papers import OWN
from ...theorem import Source

_LETTERS = {"beta": "L", "T": "K", "size": "C", "b": "b_{ij}"}
ALL_FOR_ALL = {"e0": "F^0"}
"""All-for-all writes F^0 for the mean of the agents' e_0."""


def source(locator: str, **symbols: str) -> Source:
    """A place in Even et al. (2022)."""
    return Source(paper=OWN["sample-optimal"].citation, locator=locator, symbols=_LETTERS | symbols)
