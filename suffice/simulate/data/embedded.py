"""Data sets that scikit-learn carries."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.support.errors import InputError

from .table import Table

EMBEDDED = ("breast_cancer", "diabetes", "digits", "iris", "wine")
PREFIX = "sklearn:"


def embedded(name: str) -> Table:
    """A data set that comes with scikit-learn: breast_cancer, diabetes, digits, iris or wine. Raises `InputError`."""
    import sklearn.datasets

    if name not in EMBEDDED:
        raise InputError("path", f"{PREFIX}{name}", f"the embedded data sets are {', '.join(EMBEDDED)}")
    bunch: Any = getattr(sklearn.datasets, f"load_{name}")()
    columns = tuple(str(column) for column in bunch.feature_names)
    return Table(name="", X=bunch.data, y=np.asarray(bunch.target, dtype=float), columns=columns)
