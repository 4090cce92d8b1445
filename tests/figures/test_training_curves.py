"""The picture of a training keeps curves by client, and orders who learns together side by side."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from suffice.figures.training_curves import training_curves_figure

CURVES = [["client", "iteration", "training loss", "test loss"]]
CURVES += [[name, t, 1 / (1 + t), value * t] for value, name in enumerate("abcd") for t in (0, 10)]


def test_clients_who_learn_together_are_neighbours():
    weights = np.array([[0.5, 0, 0.5, 0], [0, 0.5, 0, 0.5], [0.5, 0, 0.5, 0], [0, 0.5, 0, 0.5]])
    figure = training_curves_figure(CURVES, weights, "scouts")
    assert {frozenset(figure.setup["order"][:2]), frozenset(figure.setup["order"][2:])} == {
        frozenset((0, 2)),
        frozenset((1, 3)),
    }
    assert_allclose(figure.data["c"]["test loss"], [0, 20])
    assert len(figure.canvas().axes) == 3  # the last one is the scale of colours


def test_without_weights_the_curves_are_alone():
    figure = training_curves_figure(CURVES, None, "local")
    (axes,) = figure.canvas().axes
    assert len(axes.lines) == 5
    assert_allclose(axes.lines[-1].get_ydata(), [0, 15])
