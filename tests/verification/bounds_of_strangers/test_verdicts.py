"""What `check` says of the list: nothing true is violated at any of ten roots, and hardly anything false is valid."""

from __future__ import annotations

from collections import Counter

import pytest

from suffice.verification import Outcome, check

from .listing import FALSE, RECORDS, TRUE

ROOTS = range(10)
MOST = 12
"""False bounds called valid, of 1200 quick runs."""
VALID: Counter[str] = Counter()
"""By the name of a false bound: at how many roots it was called valid."""
LOOKED_AT: set[str] = set()


def verdict_of(record, **options):
    return check(
        record.bound,
        conditions=record.limit,
        algorithm=record.case.algorithm,
        family=record.case.family(record.steps),
        **options,
    )


@pytest.mark.slow
@pytest.mark.parametrize("record", TRUE, ids=lambda entry: entry.name)
def test_no_true_bound_is_violated(record):
    for root in ROOTS:
        verdict = verdict_of(record, root=root)
        assert verdict.instances > 0
        assert verdict.outcome is not Outcome.VIOLATED, str(verdict)


@pytest.mark.slow
@pytest.mark.parametrize("record", FALSE, ids=lambda entry: entry.name)
def test_no_false_bound_is_valid_twice(record):
    VALID[record.name] = sum(bool(verdict_of(record, root=root).valid) for root in ROOTS)
    LOOKED_AT.add(record.name)
    assert VALID[record.name] <= 1


@pytest.mark.slow
def test_few_false_bounds_are_valid():
    """After those above, which fill the counter: in one process (`-n 0`), or else they are run again."""
    for record in FALSE:
        if record.name not in LOOKED_AT:
            VALID[record.name] = sum(bool(verdict_of(record, root=root).valid) for root in ROOTS)
    assert len(VALID) == len(FALSE)
    assert VALID.total() <= MOST, VALID.most_common(MOST)


@pytest.mark.slow
@pytest.mark.parametrize("record", RECORDS, ids=lambda entry: entry.name)
def test_full_verdicts(record):
    verdict = verdict_of(record, effort="full")
    if record.true:
        assert verdict.outcome is not Outcome.VIOLATED, str(verdict)
    else:
        assert not verdict.valid, str(verdict)
