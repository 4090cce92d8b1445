"""True and false bounds from elsewhere, by moments and rules written anew in NumPy, and what `check` says of them."""

from __future__ import annotations

from collections import Counter
from inspect import signature

import pytest
from numpy.testing import assert_allclose

from suffice.bounds import PARAMETERS
from suffice.verification import Outcome, check

from .cases import CASES, SPREAD
from .instances import instances
from .table import listed

RECORDS = listed(CASES)
CHEAP = ("sign-stays/no-floor", "one-of-three/no-spread")
"""Refuted by an instance without noise, and by exact moments."""


def every(true, *, slow=lambda at, record: False):
    chosen = [record for record in RECORDS if record.true is true]
    return pytest.mark.parametrize(
        "record",
        [pytest.param(each, id=each.name, marks=[pytest.mark.slow] * slow(at, each)) for at, each in enumerate(chosen)],
    )


# --- the list -------------------------------------------------------------------------------------------------------


def test_two_false_bounds_are_made_from_each_true_one():
    assert len({record.name for record in RECORDS}) == len(RECORDS) == 300
    assert sum(record.case.exact for record in RECORDS) == 180
    for right in (record for record in RECORDS if record.true):
        assert right.source
        wrong = [record for record in RECORDS if record.of == right.name]
        assert len(wrong) == 2
        assert all(each.bound is not right.bound or each.limit is not right.limit for each in wrong)


def test_bounds_take_known_scalars():
    for record in RECORDS:
        known = {*PARAMETERS, *(() if record.case.exact else SPREAD)}
        assert {*signature(record.bound).parameters, *signature(record.limit).parameters} <= known


def _drawn(at, record):
    noisy = record.case.exact or record.counterexample["values"]["sigma2"] or record.case.rule == "one of two"
    return not record.case.exact and (at % 5 > 0 or bool(noisy))


@every(False, slow=_drawn)
def test_a_false_bound_is_below_the_truth_at_its_counterexample(record):
    case, found = record.case, record.counterexample
    given = case.setting(found["values"], record.steps)
    assert case.contains(found["values"])
    assert record.allowed(given.arguments)
    measured, error = case.truth(found["values"], given, seed=2)
    assert_allclose(measured, found["truth"], rtol=case.agreement)
    assert_allclose(record.value(record.bound, given.arguments), found["bound"], rtol=case.agreement)
    if case.direction == "upper":
        assert measured - error > found["bound"] + 1e-4 * abs(found["bound"])
    else:
        assert measured + error < found["bound"] * (1 - 1e-4)


# The list is frozen: its truth on many instances is a campaign, on a few a check that this file reads it right.
MANY = [
    pytest.param(record, count, id=f"{record.name}-{count}", marks=[pytest.mark.slow] * (count > 8))
    for record in RECORDS
    for count in ((8, 50) if record.case.exact else (12,))
    if record.true
]


@pytest.mark.share(4)
@pytest.mark.parametrize(("record", "count"), MANY)
def test_a_true_bound_is_nowhere_below_the_truth(record, count):
    """On sharp, extreme and random instances."""
    tried = list(instances(record, count, seed=11))
    assert len(tried) >= count
    for values, given in tried:
        claimed = record.value(record.bound, given.arguments)
        measured, error = record.case.truth(values, given, seed=4)
        slack = error + 1e-10 * abs(claimed)
        if record.case.direction == "upper":
            assert measured <= claimed + slack, values
        else:
            assert measured >= claimed - slack, values


# --- what `check` says: nothing true is violated, and hardly anything false is valid --------------------------------

ROOTS = range(10)
MOST = 12
"""False bounds on quadratics called valid, of 1200 quick runs."""
ISOTROPIC = "noise-by-dimension"
"""It counts on noise that is alike in all directions."""
VALID: Counter[str] = Counter()
"""By the name of a false bound: at how many roots it was called valid."""


def verdict_of(record, **options):
    case = record.case
    return check(
        record.bound, conditions=record.limit, algorithm=case.algorithm, family=case.family(record.steps),
        quantity=case.quantity, direction=case.direction, delta=case.delta,
        assumptions={"isotropic"} if record.name.startswith(ISOTROPIC) else (), **options,
    )  # fmt: skip


def times_valid(record):
    roots = ROOTS if record.case.exact else ROOTS[:1]
    if record.name not in VALID:
        VALID[record.name] = sum(bool(verdict_of(record, root=root).valid) for root in roots)
    return VALID[record.name]


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("record", [each for each in RECORDS if each.name in CHEAP], ids=lambda each: each.name)
def test_some_false_bounds_are_violated_at_once(record):
    assert verdict_of(record).outcome is Outcome.VIOLATED


@pytest.mark.slow
@every(True)
def test_no_true_bound_is_violated(record):
    for root in ROOTS if record.case.exact else ROOTS[:1]:
        verdict = verdict_of(record, root=root)
        assert verdict.instances > 0
        assert verdict.outcome is not Outcome.VIOLATED, str(verdict)


@pytest.mark.slow
@every(False)
def test_no_false_bound_is_valid_twice_and_none_that_paths_measure_is_once(record):
    assert times_valid(record) <= record.case.exact


@pytest.mark.slow
def test_few_false_bounds_on_quadratics_are_valid():
    """After those above, whose counts are kept: in one process (`-n 0`), or else they are run again."""
    false = [record for record in RECORDS if record.case.exact and not record.true]
    assert sum(times_valid(record) for record in false) <= MOST, VALID.most_common(MOST)


@pytest.mark.slow
@pytest.mark.parametrize("record", [each for each in RECORDS if each.case.exact], ids=lambda record: record.name)
def test_full_verdicts(record):
    verdict = verdict_of(record, effort="full")
    if record.true:
        assert verdict.outcome is not Outcome.VIOLATED, str(verdict)
    else:
        assert not verdict.valid, str(verdict)
