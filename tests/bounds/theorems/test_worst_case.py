"""Definitions of the exact worst cases."""

from __future__ import annotations

import numpy as np
from records import definition_of  # tests/helpers

definition = definition_of("worst-case")


def test_definitions_are_the_sums_they_say():
    r, weights, sigma2 = np.array([1.0, 0.75, 0.0]), np.array([1.0, 2.0, 4.0]), np.array([2.0, 0.5, 1.0])
    assert definition("pull")(weights=weights, similarity=r) == 1 + 2 * 0.5
    assert definition("agreement")(similarity=r, sigma2=sigma2) == 1 / 2 + 0.25 / 0.5
