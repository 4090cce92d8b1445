"""What `check` says of the list: a bound that is true is never violated, and hardly any that is false is valid."""

from __future__ import annotations

import pytest

from suffice.verification import Outcome, check

from .listing import FALSE, TRUE

CHEAP = ("sign-stays/no-floor", "one-of-three/no-spread")
"""Refuted by an instance without noise, and by exact moments."""


def verdict_of(record, **options):
    case = record.case
    return check(
        record.bound, conditions=record.limit, algorithm=case.algorithm, family=case.family(record.steps),
        quantity=case.quantity, direction=case.direction, delta=case.delta, **options,
    )  # fmt: skip


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("record", [entry for entry in FALSE if entry.name in CHEAP], ids=lambda entry: entry.name)
def test_some_false_bounds_are_violated_at_once(record):
    assert verdict_of(record).outcome is Outcome.VIOLATED


@pytest.mark.slow
@pytest.mark.parametrize("record", TRUE, ids=lambda entry: entry.name)
def test_no_true_bound_is_violated(record):
    verdict = verdict_of(record)
    assert verdict.instances > 0
    assert verdict.outcome is not Outcome.VIOLATED, str(verdict)


@pytest.mark.slow
@pytest.mark.parametrize("record", FALSE, ids=lambda entry: entry.name)
def test_no_false_bound_is_valid(record):
    assert not verdict_of(record).valid
