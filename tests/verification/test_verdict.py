"""A verdict consists of few parts, and what people asked of it they find still."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import fields, replace
from typing import cast

import pytest

from suffice.bounds import Theorem
from suffice.verification import Outcome, Verdict
from suffice.verification.check import record
from suffice.verification.evidence_summary import EvidenceSummary
from suffice.verification.findings import Variants


def doubled(*, e0):
    return 2 * e0


def test_no_part_has_more_than_twelve_fields_and_each_of_them_is_an_attribute_of_the_verdict():
    verdict = Verdict.inconclusive(record(doubled), "nothing was tried")
    assert len(fields(Verdict)) <= 12
    for part in (verdict.evidence, verdict.variants):
        names = [each.name for each in fields(part)]
        assert 0 < len(names) <= 12
        for name in names:
            mark = object()
            object.__setattr__(part, name, mark)
            assert getattr(verdict, name) is mark
    for name in ("instances", "outcome"):
        with pytest.raises(AttributeError):
            setattr(verdict, name, 3)


def test_a_copy_of_a_verdict_is_equal_and_differs_where_a_part_differs():
    seen = EvidenceSummary(instances=3, worst_ratio=0.5, worst_bound=2.0, worst_instance={"e0": 1.0})
    verdict = Verdict(
        theorem=cast(Theorem, None),
        outcome=Outcome.VALID,
        evidence=seen,
        variants=Variants(mutants=4, survivor_ratios=(math.inf,)),
    )
    again = deepcopy(verdict)
    assert again == verdict
    assert again != replace(verdict, evidence=replace(seen, instances=4))
    assert (again.instances, again.worst_ratio, again.instance, again.refuted) == (3, 0.5, {"e0": 1.0}, 3)
