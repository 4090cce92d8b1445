"""Constants with gaps: what they are filled with is a difference of numbers of their size."""

from __future__ import annotations

import numpy as np
import pytest
from populations import draw, table

import suffice as sf

TRUTH = np.array([[1.0, 2.0], [1.1, 1.9], [0.9, 2.2]])


@pytest.mark.parametrize("value", [3.3, 0.1, 1e9 + 0.3, 1e-9 / 3, -7e20])
@pytest.mark.parametrize("gaps", [False, True])
def test_a_constant_has_no_coefficient_whatever_its_digits(value, gaps):
    """Gaps make differences of squares of the column, of which rounding leaves 1e-8 of its size."""
    made = table(draw(3, TRUTH, 30))
    fit = sf.fit(made | {"same": [None if gaps and at % 4 == 1 else value for at in range(90)]})
    assert [model.coefficients["same"] for model in fit] == [0, 0, 0]
    assert any("same in all rows" in note for note in fit.left_out)


def test_sites_constants_with_gaps_are_still_told_apart():
    made = table(draw(3, TRUTH, 30))
    beds = {"s0": 500.1, "s1": 733.3, "s2": 41.7}
    fit = sf.fit(made | {"beds": [None if at % 4 == 1 else beds[site] for at, site in enumerate(made["client"])]})
    assert not any("same in all rows" in note for note in fit.left_out)
    assert fit["s0"].coefficients["beds"] != 0
