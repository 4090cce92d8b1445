"""The list is what it says: true bounds are true and false ones false, by second moments written out in NumPy."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose

from suffice.bounds import PARAMETERS

from .instances import bound, draw, within
from .listing import COUNTEREXAMPLES, FALSE, RECORDS, TRUE
from .reference import expected_excess


def test_sixty_are_true_and_two_false_ones_are_made_from_each():
    assert (len(TRUE), len(FALSE)) == (60, 120)
    assert len({entry.name for entry in RECORDS}) == 180
    assert set(COUNTEREXAMPLES) == {entry.name for entry in FALSE}
    for right in TRUE:
        assert right.source
        wrong = [entry for entry in FALSE if entry.of == right.name]
        assert len(wrong) == 2
        assert all(entry.bound is not right.bound or entry.limit is not right.limit for entry in wrong)


@pytest.mark.parametrize("record", FALSE, ids=lambda entry: entry.name)
def test_a_false_bound_is_below_the_truth_at_its_counterexample(record):
    instance = dict(COUNTEREXAMPLES[record.name])
    truth, claimed = instance.pop("truth"), instance.pop("bound")
    assert within(record, instance)
    assert (np.array(instance["h"]) > 0).all()
    assert_allclose(expected_excess(record.case, instance), truth, rtol=1e-10)  # T <= 1e4 roundings of 1e-16
    assert_allclose(bound(record, instance), claimed, rtol=1e-10)
    assert truth > claimed * (1 + 1e-4)


# The list is frozen: its truth on many instances is a campaign, on a few a check that this file reads it right.
@pytest.mark.parametrize("instances", [8, pytest.param(50, marks=pytest.mark.slow)])
@pytest.mark.parametrize("record", TRUE, ids=lambda entry: entry.name)
def test_a_true_bound_is_nowhere_below_the_truth(record, instances):
    rng, tried = np.random.default_rng(11), 0
    for attempt in range(400):
        instance = draw(record, rng, wide=attempt % 2 == 0, longest=60)
        if instance is None:
            continue
        tried += 1
        start = expected_excess(record.case, instance | {"T": 0})
        # cancellation in the maps leaves 1e-16 of what there was at the start
        assert expected_excess(record.case, instance) <= bound(record, instance) * (1 + 1e-10) + 1e-14 * start, instance
        if tried == instances:
            return
    pytest.fail(f"{tried} instances meet the conditions")


def test_bounds_take_known_scalars_by_keyword():
    for entry in RECORDS:
        for function in (entry.bound, entry.limit):
            assert {p.kind for p in inspect.signature(function).parameters.values()} == {inspect.Parameter.KEYWORD_ONLY}
            assert set(inspect.signature(function).parameters) <= set(PARAMETERS)
