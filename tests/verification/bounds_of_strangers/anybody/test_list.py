"""The list is what it says: true bounds are true and false ones false, by rules written again in NumPy."""

from __future__ import annotations

import pytest
from numpy.testing import assert_allclose

from .instances import allowed, bound, instances, setting
from .listing import COUNTEREXAMPLES, FALSE, RECORDS, TRUE
from .reference import truth


def test_forty_are_true_and_two_false_ones_are_made_from_each():
    assert (len(TRUE), len(FALSE)) == (40, 80)
    assert len({entry.name for entry in RECORDS}) == 120
    assert set(COUNTEREXAMPLES) == {entry.name for entry in FALSE}
    for right in TRUE:
        assert right.source
        wrong = [entry for entry in FALSE if entry.of == right.name]
        assert len(wrong) == 2
        assert all(entry.bound is not right.bound or entry.limit is not right.limit for entry in wrong)


def _drawn(record) -> bool:
    return bool(COUNTEREXAMPLES[record.name]["values"]["sigma2"]) or record.case.rule == "one of two"


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(entry, id=entry.name, marks=[pytest.mark.slow] * (at % 5 > 0 or _drawn(entry)))
        for at, entry in enumerate(FALSE)
    ],
)
def test_a_false_bound_is_below_the_truth_at_its_counterexample(record):
    entry = COUNTEREXAMPLES[record.name]
    given = setting(record, entry["values"])
    assert allowed(record, given.arguments)
    measured, error = truth(record.case, given, seed=2)
    # the same numbers where nothing is drawn, of T <= 30 roundings; the same paths elsewhere
    assert_allclose(measured, entry["truth"], rtol=1e-9)
    assert_allclose(bound(record, given), entry["bound"], rtol=1e-9)
    if record.case.direction == "upper":
        assert measured - error > entry["bound"] + 1e-4 * abs(entry["bound"])
    else:
        assert measured + error < entry["bound"] * (1 - 1e-4)


def assert_true(record, count: int) -> None:
    """On sharp, extreme and random instances; six standard errors are allowed, and what 30 steps round."""
    tried = list(instances(record, count, seed=9))
    assert len(tried) >= count
    for values, given in tried:
        claimed, (measured, error) = bound(record, given), truth(record.case, given, seed=4)
        slack = error + 1e-10 * abs(claimed) + 1e-14
        if record.case.direction == "upper":
            assert measured <= claimed + slack, values
        else:
            assert measured >= claimed - slack, values


@pytest.mark.slow
@pytest.mark.parametrize("record", TRUE, ids=lambda entry: entry.name)
def test_a_true_bound_is_nowhere_below_the_truth(record):
    assert_true(record, 12)
