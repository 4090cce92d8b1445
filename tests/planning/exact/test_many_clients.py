"""Plans of many clients against the search client by client."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from suffice.planning.exact.plan import exact_plans
from suffice.planning.plan_row import unguaranteed_rows
from suffice.planning.precision import precisions
from suffice.simulate.moments.gradient_moments import moments_of_rows


@pytest.fixture(scope="module")
def groups():
    """Ten clients in two groups."""
    rng = np.random.default_rng(6)
    centre = rng.normal(size=(2, 4))
    X = [rng.normal(size=(40, 4)) for _ in range(10)]
    y = [x @ (centre[k % 2] + 0.05 * rng.normal(size=4)) + rng.normal(size=40) for k, x in enumerate(X)]
    return moments_of_rows(list(zip(X, y)), start=np.zeros((10, 4)))


def test_many_are_planned_nearly_as_fast_as_few_and_exactly(groups, monkeypatch):
    epsilon = 0.1 * groups.excess
    few = exact_plans(groups, epsilon)
    monkeypatch.setattr("suffice.planning.exact.plan.WORK", 0.0)
    many = exact_plans(groups, epsilon)
    for i, ((together, alone), (best, lone)) in enumerate(zip(many, few)):
        for one in (together, alone):
            curve = one.curve(one.iterations)
            assert curve[-1] <= one.epsilon < curve[-2]
            assert one.eta < one.long_run.step_limit
        assert together.iterations <= alone.iterations
        assert np.flatnonzero(alone.weights).tolist() == [i]
        assert best.iterations <= together.iterations <= max(best.iterations + 1, 1.2 * best.iterations)
        assert lone.iterations <= alone.iterations <= max(lone.iterations + 2, 1.5 * lone.iterations)
    assert sum(together.iterations < alone.iterations for together, alone in many) >= 8


def peak(call):
    """What it allocates at most through NumPy [MB], and what it returns."""
    tracemalloc.start()
    found = call()
    most = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return most, found


@pytest.mark.parametrize("clients", [200, 400])
def test_rows_keep_one_matrix_of_pairs_and_not_one_each(clients):
    (one,) = precisions([0.1], np.ones(clients))
    most, rows = peak(lambda: unguaranteed_rows([f"s{i}" for i in range(clients)], one, "unknown"))
    assert all(row.sufficient.weights[row.client] == 1 for row in rows)
    assert most < 8e-6 * 6 * clients**2 + 2
