"""Noise that grows with the gradient: unequal variances, and the steps of the experiments."""

from __future__ import annotations

import numpy as np
import pytest
from records import bound_of  # tests/helpers

from suffice.bounds import ConditionError

bound = bound_of("adaptive")


def test_unequal_variances_exceed_four_over_phi_of_one():
    a, r = np.array([1.0, 100.0]), np.array([1.0, 0.1])
    alpha = a * r / (a * r * r).sum()
    realised = (alpha**2 * (1 + np.sqrt(1 - r)) ** 2).sum()
    assert realised == pytest.approx(95.2, abs=0.1)
    assert realised <= bound("multiplicative-total", noise_factor=1.0, peak=1.0, advantage=100.0)


@pytest.mark.parametrize(
    ("eta", "d", "n", "factor"),
    [(1 / 16, 10, 1, 0.9375), (1 / 16, 10, 20, 0.774), (1 / 4, 2, 1, 1.0), (1 / 8, 10, 1, 1.25)],
)
def test_the_steps_of_the_experiments_shrink_or_not_in_mean_square(eta, d, n, factor):
    values = {"eta": eta, "h": 1.0, "d": d, "batch": n, "e0": 1.0, "label_variance": 0.0, "T": 1}
    assert bound("least-squares-rate", enforce=False, **values) == pytest.approx(factor, abs=5e-4)
    if factor >= 1:  # the printed steps 1/(2 beta) at d = 2 and 1/(4 beta) at d = 10
        with pytest.raises(ConditionError, match="step size"):
            bound("least-squares-rate", **values)
