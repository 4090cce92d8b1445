"""The paper that these records cite, and two elementary functions that only they need."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...elementary import _library
from ...theorem import Source

_LETTERS = {"beta": "L", "T": "K", "size": "C", "b": "b_{ij}"}
ALL_FOR_ALL = {"e0": "F^0"}
"""All-for-all writes F^0 for the mean of the agents' e_0."""


def source(locator: str, **symbols: str) -> Source:
    """A place in Even et al. (2022)."""
    return Source(paper="Even, Massoulie, Scaman (2022)", locator=locator, symbols=_LETTERS | symbols)


def decay(x: Any) -> Any:
    """exp(-x), rounded up and never 0; x >= 0 carries at most eight roundings."""
    library = _library(x)
    if library is not None:
        return library.exp(-x)
    return np.maximum(np.exp(-np.asarray(x, dtype=float) * (1 - 2.0**-50)), np.finfo(float).tiny)[()]


def log1p(x: Any) -> Any:
    """ln(1 + x)."""
    library = _library(x)
    return np.log1p(x) if library is None else library.log(1 + x)
