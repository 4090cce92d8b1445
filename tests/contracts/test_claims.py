"""What every claim keeps: a record with a bound, families that measure numbers, sharp instances that count."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.bounds import THEOREMS
from suffice.verification.claims import all_claims, unchecked, verify

CLAIMS = {f"{claim.theorem.key} {claim.theorem.edition}": claim for claim in all_claims()}


def test_every_corrected_record_that_gives_a_number_has_one_claim():
    assert len(CLAIMS) == len(all_claims())
    assert [record.key for record in unchecked() if record.edition == "corrected" and record.bound is not None] == []
    assert {claim.theorem.key for claim in CLAIMS.values()} <= {record.key for record in THEOREMS}


@pytest.mark.parametrize("name", CLAIMS)
def test_its_instances_are_measured(name):
    claim = CLAIMS[name]
    theorem = claim.theorem
    assert theorem.bound is not None
    assert claim.families or claim.exact is not None
    for family in claim.families:
        values = family.draw(4, seed=5)
        assert set(values) == set(family.domains)
        batches = [("drawn", values)] if family.sharp is None else [("drawn", values), ("sharp", family.sharp())]
        for kind, batch in batches:
            evidence = family.evidence(batch)
            assert evidence.engine
            assert evidence.label
            assert evidence.agrees()
            counted = evidence.counted(theorem)  # refuses NaN
            assert {parameter.name for parameter in theorem.parameters} <= set(evidence.arguments)
            assert all(np.shape(value) == counted.shape for value in evidence.arguments.values())
            assert kind == "drawn" or counted.any() or not theorem.guarantee


def test_a_superseded_record_is_checked_only_where_its_own_key_is_given():
    checked = {verdict.theorem.key for verdict in verify(["sample-optimal/corollary-*"], edition="corrected")}
    assert checked == {f"sample-optimal/corollary-{part}-sharp" for part in ("1", "1-general", "2")}
    (verdict,) = verify(["Sample-optimal corollary 1"], edition="corrected")
    assert verdict.theorem.superseded_by is not None
    assert verdict.theorem.key not in {record.key for record in unchecked(["sample-optimal"])}
