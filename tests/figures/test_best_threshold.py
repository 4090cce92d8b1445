"""Best threshold and variances: order of the criteria and limits."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.bounds import Binary, sufficient_variance
from suffice.figures import figure
from suffice.figures.best_threshold import _similarities

CLIENTS = 20


@pytest.fixture(scope="module")
def variance():
    return {name: curve["variance"] for name, curve in figure("best-threshold").data.items()}


def test_no_binary_threshold_beats_the_best_nor_the_continuous_criterion(variance):
    best = variance["binary, best lambda"]
    assert (best <= variance["binary, lambda = 1/2"] * (1 + 1e-12)).all()
    assert (variance["binary, tight"] <= best * (1 + 1e-12)).all()
    assert (variance["continuous"] <= best * (1 + 1e-12)).all()
    # continuous weights are those of least variance: psi = x phi is largest for phi = x
    assert (variance["continuous"] <= variance["sharp"] * (1 + 1e-12)).all()


def test_best_threshold_is_the_best_of_a_grid():
    curve = figure("best-threshold").data["binary, best lambda"]
    similarity = _similarities(curve["epsilon"][::40], np.geomspace(0.01, 1, CLIENTS - 1))
    assert len(similarity) >= 5
    for rho, found in zip(similarity, curve["variance"][::40]):
        grid = [
            sufficient_variance(Binary(threshold=t), similarity=rho, sigma2=np.ones(CLIENTS))
            for t in np.linspace(0.01, 1, 400)
        ]
        assert found <= min(grid) * (1 + 1e-12)


def test_alone_when_precise_and_all_together_when_coarse(variance):
    for name in ("binary, best lambda", "binary, tight", "continuous", "sharp"):
        assert variance[name][0] == 1
        np.testing.assert_allclose(variance[name][-1], 1 / CLIENTS, rtol=0.1)
        assert (np.diff(variance[name]) <= 1e-12).all() or name == "binary, tight"
