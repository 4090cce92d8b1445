"""Figure 1: exact jumps, both editions, and what is not written over."""

from __future__ import annotations

import numpy as np
import pytest

from suffice import InputError
from suffice.figures import figure
from suffice.figures.adaptive_1 import DRAW
from suffice.figures.figure import SEPARATOR
from suffice.simulate import Randomness, Stream

CLIENTS, FEATURES = 20, 10
SPREADS = ("0.001", "0.01", "0.1", "1")


@pytest.fixture(scope="module")
def stated():
    return figure("adaptive-1", edition="stated")


@pytest.fixture(scope="module")
def published():
    return figure("adaptive-1", edition="published")


def one(drawn, spread):
    return drawn.data[SEPARATOR.join((spread, DRAW))]["epsilon"]


def test_stated_clusters_are_smaller_by_exactly_the_forgotten_factor(stated, published):
    # b^2 is 4 |xi_i - xi_k|^2, the code has 2: entries are twice as late, up to the code's estimate of mu = 2
    for curve in SPREADS:
        ratio = one(stated, curve)[1:] / one(published, curve)[1:]
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-12)
        assert 2 * 0.9 < ratio[0] < 2


def test_jumps_of_the_seeded_draw_are_the_squared_distances(stated):
    import torch

    xi = Randomness(seeds=torch.arange(1)).normal(iteration=0, stream=Stream.DATA, clients=CLIENTS, features=FEATURES)
    distance2 = np.sort(((xi[0] - xi[0, 0]) ** 2).sum(-1).numpy())
    # R = |theta - theta_i|^2: |grad gap|^2 = 4 v^2 |xi_i - xi_k|^2 <= 2 mu eps = 4 eps
    np.testing.assert_allclose(one(stated, "0.1"), 0.01 * distance2, rtol=1e-12)


def test_a_folder_with_the_other_edition_is_refused(stated, published, tmp_path):
    saved = published.save(tmp_path / "new folder")
    kept = {path: path.read_bytes() for path in saved}
    with pytest.raises(InputError, match="holds adaptive-1 as published"):
        stated.save(saved[0].parent)
    assert {path: path.read_bytes() for path in kept} == kept


def test_every_spread_ends_with_all_clients_inside_the_picture(stated):
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas()
    stated.draw(stated, canvas)
    (axes,) = canvas.axes
    assert axes.get_xlim()[1] >= max(curve["epsilon"].max() for curve in stated.data.values())
    thick = [line for line in axes.lines if line.get_linewidth() == 2]
    assert [line.get_ydata()[-1] for line in thick] == [CLIENTS] * len(SPREADS)
