"""True and false bounds from elsewhere, by moments and rules written anew in NumPy, and what `check` says of them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose

from suffice.bounds import PARAMETERS
from suffice.verification import Outcome, check

from . import cases
from .anybody import cases as anybody_cases
from .anybody.instances import ROUNDING, instances, scalars, setting
from .anybody.reference import truth
from .instances import draw, within
from .reference import expected_excess
from .table import Formula, listed

QUADRATICS, ANYBODY = listed("quadratics", cases.CASES), listed("anybody", anybody_cases.CASES)
"""Bounds on quadratics, whose truth is exact; and those of any algorithm, problem and quantity."""
ALL = [*QUADRATICS, *ANYBODY]
CHEAP = ("sign-stays/no-floor", "one-of-three/no-spread")
"""Refuted by an instance without noise, and by exact moments."""


def every(records, true, *, slow=lambda at, record: False):
    chosen = [record for record in records if record.true is true]
    return pytest.mark.parametrize(
        "record",
        [pytest.param(each, id=each.name, marks=[pytest.mark.slow] * slow(at, each)) for at, each in enumerate(chosen)],
    )


# --- the lists ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("records", "true"), [(QUADRATICS, 60), (ANYBODY, 40)], ids=["quadratics", "anybody"])
def test_two_false_bounds_are_made_from_each_true_one(records, true):
    assert len({record.name for record in records}) == len(records) == 3 * true
    for right in (record for record in records if record.true):
        assert right.source
        wrong = [record for record in records if record.of == right.name]
        assert len(wrong) == 2
        assert all(each.bound is not right.bound or each.limit is not right.limit for each in wrong)


def test_bounds_take_known_scalars_and_their_text_is_not_run():
    for record in ALL:
        known = {*PARAMETERS, *(() if record in QUADRATICS else anybody_cases.SPREAD)}
        assert {*record.bound.__signature__.parameters, *record.limit.__signature__.parameters} <= known
    for text in ("().__class__", "print(1)", "[x for x in (1,)]", "(lambda: 1)()"):
        with pytest.raises(KeyError):
            Formula(text)()


@every(QUADRATICS, False)
def test_a_false_bound_on_quadratics_is_below_the_truth_at_its_counterexample(record):
    instance = dict(record.counterexample)
    known, claimed = instance.pop("truth"), instance.pop("bound")
    assert within(record, instance)
    assert (np.array(instance["h"]) > 0).all()
    assert_allclose(expected_excess(record.case, instance), known, rtol=1e-10)  # T <= 1e4 roundings of 1e-16
    assert_allclose(record.bound(**cases.scalars(instance)), claimed, rtol=1e-10)
    assert known > claimed * (1 + 1e-4)


def _drawn(at, record):
    return at % 5 > 0 or bool(record.counterexample["values"]["sigma2"]) or record.case.rule == "one of two"


@every(ANYBODY, False, slow=_drawn)
def test_a_false_bound_is_below_the_truth_at_its_counterexample(record):
    known, given = record.counterexample, setting(record, record.counterexample["values"])
    assert record.allowed(scalars(record, given), ROUNDING)
    measured, error = truth(record.case, given, seed=2)
    # the same numbers where nothing is drawn, of T <= 30 roundings; the same paths elsewhere
    assert_allclose(measured, known["truth"], rtol=1e-9)
    assert_allclose(record.bound(**scalars(record, given)), known["bound"], rtol=1e-9)
    if record.case.direction == "upper":
        assert measured - error > known["bound"] + 1e-4 * abs(known["bound"])
    else:
        assert measured + error < known["bound"] * (1 - 1e-4)


# The list is frozen: its truth on many instances is a campaign, on a few a check that this file reads it right.
@pytest.mark.parametrize("count", [8, pytest.param(50, marks=pytest.mark.slow)])
@every(QUADRATICS, True)
def test_a_true_bound_on_quadratics_is_nowhere_below_the_truth(record, count):
    rng, tried = np.random.default_rng(11), 0
    for attempt in range(400):
        instance = draw(record, rng, wide=attempt % 2 == 0, longest=60)
        if instance is None:
            continue
        tried += 1
        start = expected_excess(record.case, instance | {"T": 0})
        claimed = record.bound(**cases.scalars(instance))
        # cancellation in the maps leaves 1e-16 of what there was at the start
        assert expected_excess(record.case, instance) <= claimed * (1 + 1e-10) + 1e-14 * start, instance
        if tried == count:
            return
    pytest.fail(f"{tried} instances meet the conditions")


@pytest.mark.slow
@every(ANYBODY, True)
def test_a_true_bound_is_nowhere_below_the_truth(record):
    """On sharp, extreme and random instances; six standard errors are allowed, and what 30 steps round."""
    tried = list(instances(record, 12, seed=9))
    assert len(tried) >= 12
    for values, given in tried:
        claimed, (measured, error) = record.bound(**scalars(record, given)), truth(record.case, given, seed=4)
        slack = error + 1e-10 * abs(claimed) + 1e-14
        if record.case.direction == "upper":
            assert measured <= claimed + slack, values
        else:
            assert measured >= claimed - slack, values


# --- what `check` says: nothing true is violated, and hardly anything false is valid --------------------------------

ROOTS = range(10)
MOST = 12
"""False bounds on quadratics called valid, of 1200 quick runs."""
VALID: Counter[str] = Counter()
"""By the name of a false bound: at how many roots it was called valid."""


def verdict_of(record, **options):
    case = record.case
    return check(
        record.bound, conditions=record.limit, algorithm=case.algorithm, family=case.family(record.steps),
        quantity=case.quantity, direction=case.direction, delta=case.delta, **options,
    )  # fmt: skip


def times_valid(record):
    if record.name not in VALID:
        VALID[record.name] = sum(bool(verdict_of(record, root=root).valid) for root in ROOTS)
    return VALID[record.name]


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("record", [each for each in ANYBODY if each.name in CHEAP], ids=lambda each: each.name)
def test_some_false_bounds_are_violated_at_once(record):
    assert verdict_of(record).outcome is Outcome.VIOLATED


@pytest.mark.slow
@every(ALL, True)
def test_no_true_bound_is_violated(record):
    for root in ROOTS if record in QUADRATICS else [0]:
        verdict = verdict_of(record, root=root)
        assert verdict.instances > 0
        assert verdict.outcome is not Outcome.VIOLATED, str(verdict)


@pytest.mark.slow
@every(QUADRATICS, False)
def test_no_false_bound_on_quadratics_is_valid_twice(record):
    assert times_valid(record) <= 1


@pytest.mark.slow
def test_few_false_bounds_on_quadratics_are_valid():
    """After those above, whose counts are kept: in one process (`-n 0`), or else they are run again."""
    assert sum(times_valid(record) for record in QUADRATICS if not record.true) <= MOST, VALID.most_common(MOST)


@pytest.mark.slow
@every(ANYBODY, False)
def test_no_false_bound_is_valid(record):
    assert not verdict_of(record).valid


@pytest.mark.slow
@pytest.mark.parametrize("record", QUADRATICS, ids=lambda record: record.name)
def test_full_verdicts(record):
    verdict = verdict_of(record, effort="full")
    if record.true:
        assert verdict.outcome is not Outcome.VIOLATED, str(verdict)
    else:
        assert not verdict.valid, str(verdict)
