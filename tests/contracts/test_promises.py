"""What a plan promises in words is what the record behind it bounds."""

from __future__ import annotations

import numpy as np
import pytest

import suffice as sf
from suffice.bounds import Constants, GradientDissimilarity, Quantity, find
from suffice.bounds.all_for_all_plan import ONE, TWO
from suffice.planning.client_plan import LABELS
from suffice.planning.guaranteed.fixed_weights import AFFINE, OPTIMAL, UNIFORM, all_for_all_of_components
from suffice.planning.step_size_schedules import HITTING
from suffice.planning.tables.plans import plan_table

REACHED = {
    AFFINE: Quantity.EXCESS,
    UNIFORM: Quantity.EXCESS,
    OPTIMAL: Quantity.OUTPUT_EXCESS,
    ONE: Quantity.MEAN_EXCESS,
    TWO: Quantity.MEAN_OUTPUT_EXCESS,
    HITTING: Quantity.HITTING_TIME,
}
"""What the statement of each record says of its last model, or of the mean of its second stage's."""


def constants(clients=1, **changes):
    pairs = GradientDissimilarity(b2=np.zeros((clients, clients)), c=np.zeros((clients, clients)))
    given = {"mu": 1.0, "beta": 200.0, "sigma2": 0.03, "excess": 3e-4} | changes
    arrays = {name: np.full(clients, value) for name, value in given.items()}
    return Constants(**arrays, heterogeneity=pairs, strongly_convex=True)


@pytest.mark.parametrize("key", REACHED)
def test_a_record_that_a_plan_names_says_what_it_promises(key):
    record, level = find(key), "T" if key == HITTING else "eps"
    assert (record.reaches or record.quantity) is REACHED[key]
    assert (record.reaches is None) == (record.quantity is not Quantity.ROUNDS)
    assert f" <= {level}" in record.promise(level)
    assert record.promise(level).replace(f" <= {level}", "") == REACHED[key].expression


@pytest.mark.parametrize("sigma2", [0.03, 1e-9])
def test_every_promise_of_a_plan_is_that_of_its_theorem(sigma2):
    given = constants(3, sigma2=sigma2)
    rows = sf.plan(given, 3e-5).rows
    assert {one.fixed_weights["theorem"] for row in rows for one in (row.schedules, row.local)} <= set(REACHED)
    for row in rows:
        for one in (row.schedules, row.local):
            said = find(one.fixed_weights["theorem"]).promise("epsilon")
            assert one.fixed_weights["promise"] == said
            assert one.promise == (said if one.fixed else "E[tau], stopped")
    together = all_for_all_of_components(given, 3e-5)
    assert together["promise"] == find(together["theorem"]).promise("epsilon") + "; from a common start"
    printed = " ".join(plan_table(rows, everybody=[together]).lines)
    assert find(rows[0].schedules.fixed["theorem"]).promise("eps") in printed.replace("epsilon", "eps")
    assert find(together["theorem"]).promise("epsilon") in printed
    assert "E[e_T] <=" not in printed or {UNIFORM, AFFINE} & {row.schedules.theorem for row in rows}


@pytest.mark.parametrize(
    ("label", "key"),
    [
        ("constant", "adaptive/theorem-2-constant"),
        ("horizon", "adaptive/theorem-2-constant"),
        ("decreasing", "adaptive/theorem-2-decreasing"),
        ("hitting", HITTING),
    ],
)
def test_a_label_begins_with_the_quantity_of_its_record(label, key):
    assert LABELS[label].startswith(f"{find(key).quantity.expression} <= ")


def test_the_label_of_fixed_weights_leaves_the_quantity_to_the_record():
    assert "`promise`" in LABELS["fixed_weights"]
    assert "E[" not in LABELS["fixed_weights"]
