"""Of many clients some have a plan without a matrix, and the summary is of these."""

from __future__ import annotations

import numpy as np

import suffice as sf
from suffice.planning.exact.plan import SAMPLED


def test_of_many_clients_some_have_a_plain_plan_and_the_median_is_of_them():
    rng = np.random.default_rng(0)
    slope, scale = rng.normal(size=3), np.array([1, 2, 4])
    X = [scale * rng.normal(size=(30, 3)) for _ in range(24)]
    y = [x @ (slope + 0.1 * rng.normal(size=3)) + rng.normal(size=30) for x in X]
    plan = sf.plan(sf.from_arrays(X, y), "30%")
    some = [row.plain for row in plan if row.plain is not None]
    assert len(some) == SAMPLED < len(plan)
    table = plan.table()
    assert table.rows[0][list(table.columns).index("no matrix")] == f"{np.median([one.iterations for one in some]):.4g}"
    assert sum(row.to_dict()["local"]["plain"] is not None for row in plan) == SAMPLED
