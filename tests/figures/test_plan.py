"""The picture of a plan: curves, weights, and text that can be read."""

from __future__ import annotations

import matplotlib.text
import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas

import suffice as sf
from suffice.figures.plan import MOST_PANELS, draw
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


@pytest.fixture(scope="module")
def guaranteed():
    pairs = sf.GradientDissimilarity(b2=1e-4 * (1 - np.eye(3)), c=np.zeros((3, 3)))
    given = {"mu": 1.0, "beta": 2.0, "sigma2": 1.0, "heterogeneity": pairs}
    return {excess: sf.plan(sf.Constants(**given, excess=excess), [0.1, 0.3]) for excess in (None, 1.0)}


def test_plans_of_constants_are_drawn_by_the_bounds_of_their_hitting_schedules(guaranteed):
    plan = guaranteed[1.0]
    figure = plan.plot(precision=0.3)
    assert figure.setup["kind"] == "guaranteed"
    for row, panel in zip(plan.precisions[0.3], figure.setup["panels"]):
        assert (panel["iterations"], panel["weights"]) == (row.schedules.hitting["expected_iterations"], [*row.weights])
        given = {"mu": 1.0, "beta": 2.0, "e0": 1.0, "T": 7}
        for how, part, q, s2 in (
            ("together", row.schedules, row.step_ratio, row.sufficient_variance),
            ("alone", row.local, 1.0, row.local_variance),
        ):
            curve = figure.data[f"0.3 | {row.name} | {how}"]
            expected = sf.evaluate("adaptive/theorem-2-constant", **given, q=q, s2=s2, eta=part.hitting["eta"])
            np.testing.assert_allclose(curve["bound"][curve["iteration"] == 7], expected, rtol=1e-12)
    nothing = guaranteed[None].plot()
    assert (nothing.data, len(nothing.setup["panels"])) == ({}, 3)
    words = [text.get_text() for text in nothing.canvas().findobj(matplotlib.text.Text)]
    assert words.count("no initial excess given") == 3
    assert not [text for text in words if "never" in text]


@pytest.mark.parametrize("which", ["exact", None, 1.0])
def test_no_text_is_smaller_than_seven_points(which, plan, guaranteed):
    drawn = (plan if which == "exact" else guaranteed[which]).plot()
    with style():
        canvas = Canvas()
        draw(drawn, canvas)
        canvas.canvas.draw()
        sizes = [text.get_fontsize() for text in canvas.findobj(matplotlib.text.Text) if text.get_text()]
    assert len(sizes) > 20
    assert min(sizes) >= 7
