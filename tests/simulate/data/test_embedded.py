"""Data sets that scikit-learn carries."""

from __future__ import annotations

import numpy as np
import pytest

import suffice as sf
from suffice.simulate.data.embedded import embedded


@pytest.mark.parametrize(
    ("name", "shape", "classes"),
    [("breast_cancer", (569, 30), 2), ("diabetes", (442, 10), 214), ("digits", (1797, 64), 10),
     ("iris", (150, 4), 3), ("wine", (178, 13), 3)],
)  # fmt: skip
def test_embedded_sets(name, shape, classes):
    table = embedded(name)
    assert table.X.shape == shape
    assert len(np.unique(table.y)) == classes
    assert len(table.columns) == shape[1]
    assert sf.read(f"sklearn:{name}", split="iid:3", standardise="none", regularisation=0.1).clients == 3
