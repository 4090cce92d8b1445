"""Rounds of All-for-one against the precision, beside the lower bound."""

from __future__ import annotations

import numpy as np

from suffice.figures import figure
from suffice.figures.figure import SEPARATOR


def test_best_weights_stay_near_the_lower_bound_whatever_kappa_and_equal_weights_pay_it():
    made = figure("sample-optimal-rounds", agents=50)
    ratios = {}
    for kappa in ("1", "100"):
        curves = {
            name: made.data[SEPARATOR.join((kappa, name))] for name in ("lower bound", "best weights", "equal weights")
        }
        least, best, equal = (curves[name]["rounds"] for name in curves)
        assert (least <= best).all()
        assert (np.diff(least) <= 0).all()
        ratios[kappa] = best / least, equal / best
    noisy = slice(0, 20)  # where the noise takes most rounds
    assert ratios["1"][0][noisy].max() < 11
    assert ratios["100"][0][noisy].max() < 13
    assert ratios["100"][1][noisy].min() > 100
    assert ratios["1"][1][noisy].min() > 1
