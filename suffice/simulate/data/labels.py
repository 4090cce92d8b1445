"""Two classes, however they are labelled, as 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.support.errors import InputError
from suffice.support.numbers import as_numbers

LABELS = 12
"""A message names at most so many labels."""


def two_classes(y: Sequence[Any], positive: Sequence[Any], labels: Sequence[str]) -> list[np.ndarray]:
    """Every client's classes as 0 and 1: `positive` are 1; without it the larger of the two values of all clients."""
    arrays = [np.asarray(values) for values in y]
    for at, (label, array) in enumerate(zip(labels, arrays)):
        if array.dtype.kind != "U":
            arrays[at] = as_numbers(f"y of client {label}", y[at], ("n",))
        elif array.ndim != 1:
            raise InputError(f"y of client {label}", f"array of shape {array.shape}", "give shape (n)")
    if len({array.dtype.kind for array in arrays}) > 1:
        raise InputError("labels", "numbers and texts", "give one kind to all clients")
    found = np.unique(np.concatenate(arrays)).tolist()
    if absent := [value for value in positive if value not in found]:
        raise InputError("positive", absent[0], f"not a label; labels: {', '.join(map(str, found[:LABELS]))}")
    if not len(positive) and len(found) == 1 and found[0] not in (-1, 0, 1):
        raise InputError("labels", found[0], "one class alone; give two")
    if not len(positive) and len(found) > 2:
        remedy = "the logistic loss needs two; say which are class 1 with positive (--positive LABEL)"
        raise InputError("labels", f"{len(found)} classes", remedy)
    chosen = list(positive) if len(positive) else found[1:] if len(found) == 2 else [1]  # all have the same class
    return [np.isin(array, chosen).astype(float) for array in arrays]


def check_both_classes(targets: Sequence[np.ndarray], written: Sequence[Any], labels: Sequence[str]) -> None:
    """Refuse a client of one class, with the label as it is written; without regularisation it has no minimiser."""
    for label, values, texts in zip(labels, targets, written):
        if (values == values[0]).all():
            remedy = "only one class, so no minimiser; merge clients, or use regularisation 0.1, for example"
            found = np.unique(np.asarray(texts)).tolist()
            raise InputError(f"labels of client {label}", found[0] if len(found) == 1 else found[:LABELS], remedy)
