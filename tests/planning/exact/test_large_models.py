"""Plans by rows against those by second moments, and in `suffice.plan` where coefficients are many."""

from __future__ import annotations

import numpy as np
import pytest

import suffice as sf
from suffice.planning.exact.plan import BY_ROWS, exact_plans
from suffice.simulate.moments.by_rows import GradientRows
from suffice.simulate.moments.gradient_moments import moments_of_rows


def groups(d, n, clients=6):
    rng = np.random.default_rng(6)
    centre = rng.normal(size=(2, d))
    X = [rng.normal(size=(n, d)) for _ in range(clients)]
    return [(x, x @ (centre[k % 2] + 0.05 * rng.normal(size=d)) + rng.normal(size=n)) for k, x in enumerate(X)]


def test_times_are_exact_and_near_those_of_the_full_search():
    blocks, start = groups(4, 40), np.zeros((6, 4))
    moments = moments_of_rows(blocks, start=start)
    epsilon = 0.1 * moments.excess * [1, 1, 1, 1, 20, 1e-15]
    found, best = (exact_plans(one, epsilon) for one in (GradientRows.of(blocks, start=start), moments))
    for i, ((together, alone), (fast, lone)) in enumerate(zip(found[:4], best)):
        for one in (together, alone):
            curve = one.curve(one.iterations)
            assert curve[-1] <= one.epsilon < curve[-2]
            np.testing.assert_allclose(curve[[0, -1]], [one.start, one.excess], rtol=1e-12)
            assert one.eta < one.step_limit
            assert one.note == BY_ROWS
            assert one.floor is None
        assert np.flatnonzero(alone.weights).tolist() == [i]
        assert fast.iterations <= together.iterations <= max(fast.iterations + 2, 1.5 * fast.iterations)
        assert lone.iterations <= alone.iterations <= 2 * lone.iterations
    assert sum(together.iterations < alone.iterations for together, alone in found[:4]) >= 3
    assert found[4][0].iterations == 0
    assert "below rounding" in found[5][0].note


def test_more_than_forty_coefficients_are_planned_by_rows():
    blocks = groups(45, 120, clients=4)
    problem = sf.from_arrays(*map(list, zip(*blocks)), standardise="none", intercept=False)
    assert problem.gradient_moments() is None
    plan = sf.plan(problem, "10%")
    assert all(row.exact.iterations <= row.exact_local.iterations < 10_000 for row in plan)
    assert all(BY_ROWS in row.warnings and row.schedules is None for row in plan)
    assert max(map(len, str(plan).splitlines())) <= 80
    measured = plan.simulate(seeds=512)
    for one in measured:
        assert abs(one.together.excess - one.together.exact) < 5 * one.together.excess_se
    with pytest.raises(sf.InputError, match=r"^memory for rows of 4 clients with 45 coefficients"):
        sf.plan(problem, "10%", max_memory=1e5)
