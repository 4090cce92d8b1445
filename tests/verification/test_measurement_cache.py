"""What is kept while claims are checked."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_array_equal

from suffice.verification.evidence import Evidence
from suffice.verification.measurement_cache import MOST, cached, caching, once_each


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


def test_an_instance_that_comes_again_is_measured_once_and_says_the_same():
    asked = []

    def measure(values):
        asked.extend(values["a"].tolist())
        total = values["a"] + values["v"].sum(1)
        given = {"e0": total, "T": np.ones(len(total))}
        return Evidence(
            engine="one", measured=total, arguments=given, hypothesis=total > 2, values=values, dropped=total > 5
        )

    once = once_each(measure)
    for a in ([1.0, 2, 1], [3.0, 2, 2, 1], [4.0], [1.0, 1]):
        values = {"a": np.array(a), "v": np.array(a)[:, None] * [1, 2]}
        found, plain = once(values), measure(values)
        del asked[-len(a) :]
        assert_array_equal(found.measured, plain.measured)
        assert_array_equal(found.hypothesis, plain.hypothesis)
        assert_array_equal(found.dropped, plain.dropped)
        assert_array_equal(found.arguments["e0"], plain.arguments["e0"])
        assert_array_equal(found.values["v"], values["v"])
        assert len(found.rounding) == len(a)
    assert sorted(asked) == [1, 2, 3, 4]
    once({"a": np.array([1.0]), "v": np.array([[1.0, 3.0]])})  # another instance
    assert len(asked) == 5
