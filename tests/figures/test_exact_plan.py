"""The picture of exact plans: curves, weights, and text that can be read."""

from __future__ import annotations

import matplotlib.text
import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas

import suffice as sf
from suffice.figures.exact_plan import MOST_PANELS, draw
from suffice.figures.style import style


@pytest.fixture(scope="module")
def plan():
    rng = np.random.default_rng(1)
    A = np.tile(np.eye(2), (14, 1, 1))
    problem = sf.Quadratics.of(A, 0.1 * rng.normal(size=(14, 2)), sigma2=np.full(14, 0.5), start=np.ones(2))
    return sf.plan(problem, ["10%", 0.5])


def test_a_panel_for_each_client_that_gains_most_with_the_curves_of_its_plan(plan):
    figure = plan.plot()
    panels = figure.setup["panels"]
    assert len(panels) == MOST_PANELS < 14
    shown = {panel["name"] for panel in panels}
    gains = {row.name: row.exact_speedup for row in plan.precisions["10%"]}
    assert min(gains[name] for name in shown) >= max(gain for name, gain in gains.items() if name not in shown)
    for row in plan.precisions["10%"]:
        if row.name in shown:
            mine = {how: figure.data[f"10% | {row.name} | {how}"] for how in ("together", "alone")}
            at = mine["together"]["iteration"] == row.exact.iterations
            np.testing.assert_allclose(mine["together"]["excess"][at], row.exact.excess, rtol=1e-12)
            np.testing.assert_allclose(mine["alone"]["excess"][0], row.exact.start, rtol=1e-9)
    assert plan.plot(precision=0.5).setup["precision"] == 0.5
    with pytest.raises(sf.InputError, match="precision"):
        plan.plot(precision=0.7)


def test_no_text_is_smaller_than_seven_points(plan):
    with style():
        canvas = Canvas()
        draw(plan.plot(), canvas)
        canvas.canvas.draw()
        sizes = [text.get_fontsize() for text in canvas.findobj(matplotlib.text.Text) if text.get_text()]
    assert len(sizes) > 40
    assert min(sizes) >= 7
