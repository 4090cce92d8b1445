"""What every erratum keeps: a place, a corrected statement, and two numbers that differ on an instance."""

from __future__ import annotations

import math
from typing import get_args

import pytest

from suffice.bounds import DEFINITIONS, THEOREMS
from suffice.verification.claims import all_claims
from suffice.verification.errata import ERRATA
from suffice.verification.errata.erratum import Kind

CORRECTED = {record.key for record in (*THEOREMS, *DEFINITIONS) if record.edition == "corrected"}


def test_ids_are_unique():
    assert len({entry.id for entry in ERRATA}) == len(ERRATA)


def test_every_printed_statement_that_a_claim_refutes_has_its_erratum():
    refuted = {claim.theorem.key for claim in all_claims() if claim.theorem.edition == "printed"}
    assert len(refuted) >= 22
    assert refuted <= {entry.key for entry in ERRATA}


@pytest.mark.parametrize("entry", ERRATA, ids=lambda entry: entry.id)
def test_its_two_numbers_differ_on_an_instance_that_it_describes(entry):
    assert entry.kind in get_args(Kind)
    assert entry.key is None or entry.key in CORRECTED
    assert entry.claim != entry.truth
    assert all(0 < len(text) <= 200 for text in (entry.paper, entry.location, entry.claim, entry.truth))
    row = entry.to_dict()
    assert row["id"] == entry.id
    assert "quantity" in row["inputs"]
    printed, measured = row["printed"], row["measured"]
    assert type(printed) is type(measured) is float
    assert math.isfinite(printed)
    assert math.isfinite(measured)
    assert abs(printed - measured) > 0.05 * max(abs(printed), abs(measured))
