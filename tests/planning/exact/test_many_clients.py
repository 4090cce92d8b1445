"""Plans of many clients against the search client by client."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from suffice.planning.exact.plan import exact_plans
from suffice.planning.plan_row import unguaranteed_rows
from suffice.planning.precision import Precision
from suffice.simulate.moments.gradient_moments import moments_of_rows
from suffice.simulate.moments.gram_model import GramModel


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
            assert one.eta < one.step_limit
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


def test_times_of_many_clients_are_found_in_parts_and_are_the_same(monkeypatch):
    rng = np.random.default_rng(8)
    model = GramModel.from_minimisers(
        rng.normal(size=(60, 3)), np.zeros((60, 3)), np.full(60, 0.2), np.full(60, 0.1), np.arange(60)
    )
    V = 0.3 * rng.uniform(size=(60, 40, 60)) / 60
    epsilon = np.full(60, 1.5)
    monkeypatch.setattr("suffice.simulate.moments.gram_model.NUMBERS", 1e12)
    large, together = peak(lambda: model.times(V, epsilon, 1000))
    monkeypatch.setattr("suffice.simulate.moments.gram_model.NUMBERS", 5e4)
    small, in_parts = peak(lambda: model.times(V, epsilon, 1000))
    np.testing.assert_array_equal(in_parts, together)
    assert np.isfinite(together).any()
    assert small < large / 10


@pytest.mark.parametrize("clients", [200, 400])
def test_rows_keep_one_matrix_of_pairs_and_not_one_each(clients):
    one = Precision.parse(0.1, clients=clients)
    most, rows = peak(lambda: unguaranteed_rows([f"s{i}" for i in range(clients)], one, "unknown"))
    assert all(row.weights[row.client] == 1 for row in rows)
    assert most < 8e-6 * 6 * clients**2 + 2
