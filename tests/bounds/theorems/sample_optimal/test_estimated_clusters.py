"""Section 6 of the sample-optimality paper: samples and rounds are both rounded up, and what hides constants."""

from __future__ import annotations

import numpy as np
import pytest
from records import bound_of  # tests/helpers

from suffice.bounds import find

bound = bound_of("sample-optimal")

KEY = "sample-optimal/"


def test_theorem_4_covers_samples_and_rounds_that_are_both_rounded_up():
    model = {"N": 4, "proxy_trace": 1.0, "nu2": 1.0, "moment_gap": 6.0}
    problem = {"mu": 1.0, "beta": 1.0, "eps": 0.5, "e0": 1.0, "sigma2": 1e-9, "size": 2}
    apart = bound("theorem-5-samples", failure=0.5, **model), bound("corollary-2", **problem)
    assert sum(apart) < 3.93 < 5 == sum(np.ceil(apart)) <= bound("theorem-4", b_max=0.5, **problem, **model)


@pytest.mark.parametrize("key", ["theorem-1", "theorem-2-rounds-threshold", "theorem-4", "theorem-5", "corollary-2"])
def test_what_hides_constants_cannot_be_evaluated(key):
    theorem = find(KEY + key, "printed")
    assert theorem.bound is None
    assert theorem.order_only
    assert theorem.fault
