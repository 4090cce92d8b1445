"""CoBo's learned weights: clusters found."""

from __future__ import annotations

import re

import numpy as np
import pytest

from suffice.figures import figure
from suffice.figures.cobo_5 import _message

CLUSTERS, SIZE = 4, 4
CLIENTS = CLUSTERS * SIZE


@pytest.fixture(scope="module")
def drawn():
    return figure("cobo-5", seeds=2, iterations=500, noises=(0.0,))


def test_everybody_starts_connected_and_the_clusters_are_found(drawn):
    accuracy = drawn.data["0 | constant | all | all"]["right"]
    connected = SIZE - 1, CLIENTS - 1  # right pairs when all weights are 1
    np.testing.assert_allclose(accuracy[0], connected[0] / connected[1], rtol=1e-12)
    assert accuracy[-1] == 1


def test_sampling_with_one_over_t_hardly_moves(drawn):
    # the chances 1/t of 500 iterations sum to 7 updates a pair; 1/N gives 31
    assert drawn.data["0 | mixed | all | all"]["right"][-1] < 0.5


def test_the_headline_says_how_both_samplings_end(drawn):
    """In tenths of a percent, rounded down: neither is said of the other."""
    message = _message(drawn)
    for sampling in ("constant", "mixed"):
        share = 100 * drawn.data[f"0 | {sampling} | all | all"]["right"][-1]
        (shown,) = re.findall(rf"{sampling}(?: sampling)?: ([0-9.]+) %", message)
        assert float(shown) <= share < float(shown) + 0.1
