"""What is kept while claims are checked."""

from __future__ import annotations

import numpy as np

from suffice.verification.measurement_cache import MOST, cached, caching


def test_what_is_kept_is_made_once_for_equal_numbers_and_only_inside():
    made = []

    @cached
    def double(values, factor=2):
        made.append(factor)
        return values["x"] * factor

    one, other = {"x": np.arange(3.0)}, {"x": np.arange(3)}  # other bytes
    with caching():
        assert double(one) is double({"x": np.arange(3.0)})
        assert [double(other).sum(), double(one, factor=3).sum()] == [6, 9]
        assert made == [2, 2, 3]
        for at in range(MOST):
            double({"x": np.full(1, at)})
        assert len(made) == 3 + MOST
        double(one)  # the oldest had gone
    assert len(made) == 4 + MOST
    double(one)
    assert len(made) == 5 + MOST
