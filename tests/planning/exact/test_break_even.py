"""Precisions at which peers stop helping."""

from __future__ import annotations

import numpy as np

from suffice.planning.exact.break_even import exact_break_even, helps
from suffice.planning.exact.plan import exact_plans
from suffice.simulate.moments.gradient_moments import moments_of_quadratics


def test_peers_of_the_same_optimum_always_help_and_others_down_to_a_precision():
    """Scalar clients: two alike, and two whose optima are a fifth apart."""
    optimum = np.array([[0.0], [0.0], [5.2], [5.0]])
    moments = moments_of_quadratics(
        np.ones((4, 1, 1)), optimum, start=optimum - 1, covariance=np.array([0.3, 0.3, 0.02, 1e-6])[:, None, None]
    )
    plans = [pair[0] for pair in exact_plans(moments, 0.05 * moments.excess)]
    found = exact_break_even(moments, list("abcd"), plans)
    for one in found[:2]:
        assert one.stopped is None
        assert one.helped == one.tried
    assert found[2].stopped is None or found[2].helped == 2 * found[2].stopped
    for i, one in enumerate(found):
        assert one.doubled is not None
        assert one.doubled <= one.iterations == plans[i].iterations
    # at the smallest precisions a step of .2 % of the limit is best, which the search alone must find too
    assert found[0].tried is not None
    assert found[0].tried < 1e-3
    level = found[0].helped
    assert level is not None
    assert helps(*exact_plans(moments, np.full(4, level))[0])


def test_peers_that_are_far_away_help_nowhere():
    moments = moments_of_quadratics(
        np.ones((2, 1, 1)), np.array([[0.0], [1e3]]), start=np.array([[1.0], [999.0]]), covariance=np.ones((2, 1, 1))
    )
    for one in exact_break_even(moments, "ab", [pair[0] for pair in exact_plans(moments, 0.5 * moments.excess)]):
        assert (one.helped, one.stopped) == (None, None)
        assert one.tried is not None
        assert one.tried <= 2.0**-8
