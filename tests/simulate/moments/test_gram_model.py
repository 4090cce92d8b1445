"""The model against its own recursion step by step, and its derivatives."""

from __future__ import annotations

import numpy as np

from suffice.simulate.moments.gram_model import GramModel

N, D = 5, 3
GOALS = np.array([1, 2, 7, 20, 50])


def models():
    rng = np.random.default_rng(0)
    optimum, start = rng.normal(size=(2, N, D))
    growth, level = rng.uniform(1, 3, N), rng.uniform(0, 1, N)
    return GramModel.from_minimisers(optimum, start, growth, level)


def test_the_sums_are_those_of_the_recursion_step_by_step_and_derivatives_their_differences():
    V, h = 0.03 * np.random.default_rng(1).uniform(size=(N, N)), 1e-6
    for one, v, goal in zip(models(), V, GOALS.tolist()):
        m, s = one.begin, 0.0
        for t in range(51):
            if t:
                np.testing.assert_allclose(one.derivatives(v, t)[0], m @ m + s, rtol=1e-10)
            noise = 4 * v**2 * (one.growth * ((m - one.gaps) ** 2).sum(1) + one.level)
            s = ((1 - 2 * v.sum()) ** 2 + (4 * v**2 * one.growth).sum()) * s + noise.sum()
            m = m - 2 * v @ (m - one.gaps)
        ends = [[one.derivatives(v + sign * h * e, goal)[0] for sign in (1, -1)] for e in np.eye(N)]
        np.testing.assert_allclose(one.derivatives(v, goal)[1], np.diff(ends)[:, 0] / (-2 * h), rtol=1e-6, atol=1e-7)
        at = one.limits(v) * v  # neither grows nor falls
        np.testing.assert_allclose((1 - 2 * at.sum()) ** 2 + 4 * at**2 @ one.growth, 1, rtol=1e-8)
        assert one.stable(0.99 * at)
        assert not one.stable(1.01 * at)
