"""Observables against numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.bounds import Quantity
from suffice.simulate.observables import OF_PATHS

PATHS = np.array([
    [3.0, 2.0, 0.5, 4.0],  # tau = 2, then lifted by noise
    [3.0, 1.0, 1.0, 1.0],  # equal to eps is still running: tau > 3
    [0.5, 9.0, 9.0, 9.0],  # tau = 0
    [3.0, 2.0, 2.0, 0.25],  # tau = 3 = T: running at T - 1
])  # fmt: skip


@pytest.mark.parametrize(
    ("quantity", "values"),
    [
        (Quantity.EXCESS, [4.0, 1.0, 9.0, 0.25]),
        (Quantity.EXCESS_WHILE_RUNNING, [0.0, 1.0, 0.0, 0.25]),
        (Quantity.STILL_RUNNING, [0.0, 1.0, 0.0, 0.0]),
        (Quantity.STOPPED_EXCESS, [0.5, 1.0, 0.5, 0.25]),
        (Quantity.HITTING_TIME, [2.0, 3.0, 0.0, 3.0]),
    ],
)
def test_observables_of_four_paths(quantity, values):
    np.testing.assert_array_equal(OF_PATHS[quantity](PATHS, 1.0), values)
