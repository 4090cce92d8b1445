"""The three scenarios of CoBo's Figure 1."""

from __future__ import annotations

import numpy as np

from suffice.figures import figure
from suffice.figures.cobo_1 import MINIMISERS


def test_far_models_connect_and_the_others_do_not():
    drawn = figure("cobo-1")
    assert {name: point["weight"][0] for name, point in drawn.data.items()} == {"A": 1.0, "B": 0.0, "C": 0.0}


def test_agreement_is_positive_exactly_outside_the_circle():
    radius = np.linalg.norm(MINIMISERS[1] - MINIMISERS[0]) / 2
    drawn = figure("cobo-1")
    for name in "ABC":
        point = drawn.data[name]
        middle = np.array([point["x"].mean(), point["y"].mean()])
        away = np.linalg.norm(middle - MINIMISERS.mean(0))
        # Thales: (z - mu_1).(z - mu_2) = |z - mu|^2 - radius^2
        np.testing.assert_allclose(point["inner_product"][0], away**2 - radius**2, rtol=1e-12)
