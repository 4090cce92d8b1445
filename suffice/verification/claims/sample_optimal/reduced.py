"""The scalars that the theorems take, from vectors, by the library's own definitions: these are checked along."""

from __future__ import annotations

import numpy as np

from suffice.bounds import DEFINITIONS


def reduced(key: str, **arrays: np.ndarray) -> np.ndarray:
    """The definition sample-optimal/`key` of a batch of arrays."""
    (definition,) = (entry for entry in DEFINITIONS if entry.key == f"sample-optimal/{key}")
    return np.asarray(definition.reduce(**arrays))
